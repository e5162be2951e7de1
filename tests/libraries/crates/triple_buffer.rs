use std::thread;
use triple_buffer::triple_buffer;

#[test]
fn triple_buffer_() {
    let (mut input, mut output) = triple_buffer(&0);
    let writes = thread::spawn(move || {
        input.write(1);
        input.write(2);
    });
    let first = *output.read();
    assert!(first <= *output.read());
    writes.join().unwrap();
}
