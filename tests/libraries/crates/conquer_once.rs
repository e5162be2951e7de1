use conquer_once::OnceCell;
use std::thread;

#[test]
fn conquer_once() {
    static CELL: OnceCell<u32> = OnceCell::uninit();
    let sets = thread::spawn(|| *CELL.get_or_init(|| 1));
    assert_eq!(*CELL.get_or_init(|| 1), 1);
    sets.join().unwrap();
}
