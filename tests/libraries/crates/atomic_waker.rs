use atomic_waker::AtomicWaker;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::Relaxed};
use std::task::{Wake, Waker};
use std::{sync::Arc, thread};

static SET: AtomicBool = AtomicBool::new(false);
static WAKER: AtomicWaker = AtomicWaker::new();

#[derive(Default)]
struct Count(AtomicU32);
impl Wake for Count {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Relaxed);
    }
}

#[test]
fn atomic_waker() {
    let count = Arc::new(Count::default());
    let wakes = thread::spawn(|| {
        SET.store(true, Relaxed);
        WAKER.wake();
    });
    WAKER.register(&Waker::from(count.clone()));
    let seen = SET.load(Relaxed);
    wakes.join().unwrap();
    assert!(seen || count.0.load(Relaxed) > 0, "a wake-up is lost");
}
