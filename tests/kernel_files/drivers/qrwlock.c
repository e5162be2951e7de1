#include <weakspot/kernel_tree.h>
#include <asm-generic/qrwlock.h>
#undef in_interrupt
#define in_interrupt() 1
#include "../kernel/locking/qrwlock.c"

// a reader is there already
static struct qrwlock lock = {.cnts = ATOMIC_INIT(_QR_BIAS)};
static int data;

static void *reader(void *unused)
{
    queued_read_unlock(&lock);
    queued_read_lock(&lock);
    WRITE_ONCE(data, 1);
    WRITE_ONCE(data, 0);
    queued_read_unlock(&lock);
    return NULL;
}

int main(void)
{
    pthread_t one;
    pthread_create(&one, NULL, reader, NULL);
    queued_write_lock_slowpath(&lock);
    BUG_ON(READ_ONCE(data));
    // queued_write_unlock() stores one byte of the word, which is not supported
    atomic_sub_return_release(_QW_LOCKED, &lock.cnts);
    pthread_join(one, NULL);
}
