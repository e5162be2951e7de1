use std::future::Future;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::task::{Context, Waker};
use std::{pin::pin, thread};
use tokio::sync::Notify;

#[test]
fn tokio_notify() {
    static SET: AtomicBool = AtomicBool::new(false);
    static NOTIFY: Notify = Notify::const_new();
    let notifies = thread::spawn(|| {
        SET.store(true, Relaxed);
        NOTIFY.notify_one();
    });
    let ready = pin!(NOTIFY.notified()).poll(&mut Context::from_waker(Waker::noop())).is_ready();
    assert!(!ready || SET.load(Relaxed));
    notifies.join().unwrap();
}
