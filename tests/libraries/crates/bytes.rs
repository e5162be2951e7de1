use bytes::Bytes;
use std::thread;

#[test]
fn bytes() {
    let one = Bytes::from(vec![1, 2]);
    let other = one.clone();
    let reads = thread::spawn(move || assert_eq!(other[1], 2));
    drop(one);
    reads.join().unwrap();
}
