use spin::Once;
use std::thread;

#[test]
fn spin_once() {
    static ONCE: Once<Box<u32>> = Once::new();
    let fails = thread::spawn(|| ONCE.try_call_once(|| Err(())).map(|value| **value));
    assert_eq!(**ONCE.call_once(|| Box::new(1)), 1);
    assert!(matches!(fails.join().unwrap(), Ok(1) | Err(())));
    assert_eq!(**ONCE.get().unwrap(), 1);
}
