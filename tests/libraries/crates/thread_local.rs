use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::{sync::Arc, thread};
use thread_local::ThreadLocal;

#[test]
fn thread_local() {
    let values = Arc::new(ThreadLocal::with_capacity(0));
    let other = values.clone();
    let adds = thread::spawn(move || {
        other.get_or(|| AtomicU32::new(1));
    });
    for value in values.iter() {
        assert_eq!(value.load(Relaxed), 1);
    }
    adds.join().unwrap();
}
