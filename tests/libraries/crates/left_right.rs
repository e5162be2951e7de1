use left_right::Absorb;
use std::thread;

struct Set(u32);
impl Absorb<Set> for u32 {
    fn absorb_first(&mut self, set: &mut Set, _: &Self) {
        *self = set.0;
    }
    fn sync_with(&mut self, first: &Self) {
        *self = *first;
    }
}

#[test]
fn left_right() {
    let (mut write, read) = left_right::new::<u32, Set>();
    let reads = thread::spawn(move || assert!(read.enter().map_or(0, |value| *value) < 2));
    write.append(Set(1));
    write.publish();
    reads.join().unwrap();
}
