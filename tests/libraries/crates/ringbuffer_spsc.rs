use std::thread;

#[test]
fn passes() {
    let (mut tx, mut rx) = ringbuffer_spsc::ringbuffer::<u32>(2);
    let thread = thread::spawn(move || {
        tx.push(42);
    });
    if let Some(v) = rx.pull() {
        assert_eq!(v, 42);
    }
    thread.join().unwrap();
}
