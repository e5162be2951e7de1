use once_cell::race::OnceBox;
use std::{sync::Arc, thread};

#[test]
fn once_cell() {
    let cell = Arc::new(OnceBox::new());
    let other = cell.clone();
    let sets = thread::spawn(move || *other.get_or_init(|| Box::new(1)));
    assert_eq!(*cell.get_or_init(|| Box::new(1)), 1);
    sets.join().unwrap();
}
