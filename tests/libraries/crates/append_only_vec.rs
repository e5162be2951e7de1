use std::{sync::Arc, thread};

#[test]
fn append_only_vec() {
    let vec = Arc::new(append_only_vec::AppendOnlyVec::new());
    let other = vec.clone();
    let thread = thread::spawn(move || {
        other.push(1);
    });
    vec.push(1);
    for v in vec.iter() {
        assert_eq!(*v, 1);
    }
    thread.join().unwrap();
    assert_eq!(vec.len(), 2);
}
