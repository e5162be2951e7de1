use std::thread;

#[test]
fn evmap() {
    let (mut writer, reader) = unsafe { evmap::new_assert_stable::<u8, u8>() };
    let thread = thread::spawn(move || {
        if let Some(value) = reader.get_one(&1) {
            assert_eq!(*value, 42);
        }
    });
    writer.insert(1, 42);
    writer.publish();
    thread.join().unwrap();
}
