use arcstr::ArcStr;
use std::thread;

#[test]
fn arcstr() {
    let text = ArcStr::from(String::from("hello"));
    let shared = text.clone();
    let thread = thread::spawn(move || assert_eq!(shared.as_bytes()[0], b'h'));
    drop(text);
    thread.join().unwrap();
}
