use std::thread;

#[test]
fn spin_rwlock() {
    static COUNT: spin::RwLock<u32> = spin::RwLock::new(0);
    let adds = thread::spawn(|| COUNT.try_write().map(|mut value| *value += 1).is_some());
    let read = COUNT.try_read().map_or(0, |value| *value);
    assert!(adds.join().unwrap() || read == 0);
}
