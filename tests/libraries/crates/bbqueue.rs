use bbqueue::BBBuffer;
use std::thread;

static BUFFER: BBBuffer<8> = BBBuffer::new();

#[test]
fn bbqueue() {
    let (mut producer, mut consumer) = BUFFER.try_split().unwrap();
    let thread = thread::spawn(move || {
        let mut grant = producer.grant_exact(1).unwrap();
        grant[0] = 42;
        grant.commit(1);
    });
    if let Ok(grant) = consumer.read() {
        assert_eq!(grant[0], 42);
        grant.release(1);
    }
    thread.join().unwrap();
}
