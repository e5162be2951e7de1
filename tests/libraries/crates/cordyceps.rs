use cordyceps::{mpsc_queue::Links, Linked, MpscQueue};
use std::{pin::Pin, ptr::addr_of_mut, ptr::NonNull, sync::Arc, thread};

struct Entry(Links<Entry>, u32);

unsafe impl Linked<Links<Entry>> for Entry {
    type Handle = Pin<Box<Entry>>;
    fn into_ptr(entry: Pin<Box<Entry>>) -> NonNull<Entry> {
        unsafe { NonNull::from(Box::leak(Pin::into_inner_unchecked(entry))) }
    }
    unsafe fn from_ptr(at: NonNull<Entry>) -> Pin<Box<Entry>> {
        Pin::new_unchecked(Box::from_raw(at.as_ptr()))
    }
    unsafe fn links(at: NonNull<Entry>) -> NonNull<Links<Entry>> {
        NonNull::new_unchecked(addr_of_mut!((*at.as_ptr()).0))
    }
}

#[test]
fn cordyceps() {
    let stub = Box::pin(Entry(Links::new(), 0));
    let queue = Arc::new(MpscQueue::<Entry>::new_with_stub(stub));
    let other = queue.clone();
    let thread = thread::spawn(move || other.enqueue(Box::pin(Entry(Links::new(), 42))));
    if let Some(entry) = queue.dequeue() {
        assert_eq!(entry.1, 42);
    }
    thread.join().unwrap();
}
