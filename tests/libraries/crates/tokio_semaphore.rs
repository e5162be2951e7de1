use std::thread;
use tokio::sync::Semaphore;

#[test]
fn tokio_semaphore() {
    static FREE: Semaphore = Semaphore::const_new(1);
    static mut DATA: u32 = 0;
    let adds = || {
        if let Ok(_permit) = FREE.try_acquire() {
            unsafe { DATA += 1 };
        }
    };
    let other = thread::spawn(adds);
    adds();
    other.join().unwrap();
}
