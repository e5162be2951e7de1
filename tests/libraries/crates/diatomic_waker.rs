use diatomic_waker::WakeSink;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::{future::Future, pin::pin, sync::Arc, task, thread};
struct Unparks(thread::Thread);
impl task::Wake for Unparks {
    fn wake(self: Arc<Self>) { self.0.unpark(); }
}
#[test]
fn diatomic_waker() {
    let ready = Arc::new(AtomicBool::new(false));
    let other = ready.clone();
    let mut sink = WakeSink::new();
    let source = sink.source();
    let sets = thread::spawn(move || { other.store(true, Relaxed); source.notify(); });
    let waker = Arc::new(Unparks(thread::current())).into();
    let mut context = task::Context::from_waker(&waker);
    let mut future = pin!(sink.wait_until(|| ready.load(Relaxed).then_some(())));
    while future.as_mut().poll(&mut context).is_pending() { thread::park(); }
    sets.join().unwrap();
}
