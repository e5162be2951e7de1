use std::thread;

#[test]
fn mutex() {
    static COUNT: spin::Mutex<u32> = spin::Mutex::new(0);
    let adds = thread::spawn(|| *COUNT.lock() += 1);
    *COUNT.lock() += 1;
    adds.join().unwrap();
    assert_eq!(*COUNT.lock(), 2);
}

#[test]
fn once() {
    static CELL: spin::Once<u32> = spin::Once::new();
    let sets = thread::spawn(|| *CELL.call_once(|| 1));
    assert_eq!(*CELL.call_once(|| 1), 1);
    sets.join().unwrap();
}
