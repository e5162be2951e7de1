use std::future::Future;
use std::{pin::pin, task::Context, thread};

#[test]
fn oneshot_poll() {
    let (sender, receiver) = oneshot::channel::<Box<u32>>();
    let sends = thread::spawn(move || sender.send(Box::new(1)).is_ok());
    {
        let mut context = Context::from_waker(std::task::Waker::noop());
        let receives = pin!(receiver);
        let _ = receives.poll(&mut context);
    }
    sends.join().unwrap();
}
