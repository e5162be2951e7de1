#include <weakspot/kernel_tree.h>
#include <asm-generic/qrwlock.h>
#include "../kernel/locking/qrwlock.c"

// main is the writer
static struct qrwlock lock = {.cnts = ATOMIC_INIT(_QW_LOCKED)};
static int data;

static void *reader(void *unused)
{
    queued_read_lock(&lock);
    BUG_ON(data != 1);
    queued_read_unlock(&lock);
    return NULL;
}

int main(void)
{
    pthread_t one;
    pthread_create(&one, NULL, reader, NULL);
    data = 1;
    // queued_write_unlock() stores one byte of the word, which is not supported
    atomic_sub_return_release(_QW_LOCKED, &lock.cnts);
    pthread_join(one, NULL);
}
