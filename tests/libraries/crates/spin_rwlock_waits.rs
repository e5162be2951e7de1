use std::thread;

#[test]
fn spin_rwlock_waits() {
    static COUNT: spin::RwLock<u32> = spin::RwLock::new(0);
    let adds = thread::spawn(|| *COUNT.write() += 1);
    let read = *COUNT.read();
    adds.join().unwrap();
    assert!(read <= 1 && *COUNT.read() == 1);
}
