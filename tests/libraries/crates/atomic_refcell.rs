use atomic_refcell::AtomicRefCell;
use std::thread;

#[test]
fn atomic_refcell() {
    static CELL: AtomicRefCell<u32> = AtomicRefCell::new(0);
    let adds = thread::spawn(|| CELL.try_borrow_mut().map(|mut value| *value += 1).is_ok());
    let added = CELL.try_borrow_mut().map(|mut value| *value += 1).is_ok();
    let both = adds.join().unwrap() && added;
    assert_eq!(*CELL.borrow() == 2, both);
}
