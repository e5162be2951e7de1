use async_lock::Mutex;
use std::thread;

#[test]
fn async_lock() {
    static COUNT: Mutex<u32> = Mutex::new(0);
    let adds = || COUNT.try_lock().map(|mut value| *value += 1).is_some();
    let other = thread::spawn(adds);
    let added = adds();
    assert!(other.join().unwrap() || added);
}
