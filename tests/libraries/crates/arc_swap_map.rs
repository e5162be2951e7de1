use arc_swap::access::{Access, Constant, Map};
use std::{sync::Arc, thread};

#[test]
fn arc_swap_map() {
    let map = Arc::new(Map::new(Constant([1]), |value: &[u32; 1]| &value[0]));
    let other = map.clone();
    let loads = thread::spawn(move || *other.load());
    assert_eq!(*map.load() + loads.join().unwrap(), 2);
}
