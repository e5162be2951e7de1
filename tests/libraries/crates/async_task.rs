use std::thread;

#[test]
fn async_task() {
    let (runnable, task) = async_task::spawn(async { 1 }, |_| ());
    let runs = thread::spawn(move || runnable.run());
    drop(task);
    runs.join().unwrap();
}
