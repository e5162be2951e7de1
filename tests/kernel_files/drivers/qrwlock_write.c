#include <weakspot/kernel_tree.h>
#include <asm-generic/qrwlock.h>
#include "../kernel/locking/qrwlock.c"

// main is a reader
static struct qrwlock lock = {.cnts = ATOMIC_INIT(_QR_BIAS)};
static int data;

static void *writer(void *unused)
{
    queued_write_lock(&lock);
    BUG_ON(data != 1);
    return NULL;
}

int main(void)
{
    pthread_t one;
    pthread_create(&one, NULL, writer, NULL);
    data = 1;
    queued_read_unlock(&lock);
    pthread_join(one, NULL);
}
