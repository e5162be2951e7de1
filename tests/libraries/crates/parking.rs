use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::{thread, time::Duration};

#[test]
fn parking() {
    static DATA: AtomicU32 = AtomicU32::new(0);
    let (parker, unparker) = parking::pair();
    let wakes = thread::spawn(move || {
        DATA.store(1, Relaxed);
        unparker.unpark();
    });
    if parker.park_timeout(Duration::ZERO) {
        assert_eq!(DATA.load(Relaxed), 1);
    }
    wakes.join().unwrap();
}
