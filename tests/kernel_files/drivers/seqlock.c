#include <weakspot/kernel_tree.h>
#include <linux/seqlock.h>

static DEFINE_SEQLOCK(lock);
static int a, b;

static void *writer(void *unused)
{
    write_seqlock(&lock);
    WRITE_ONCE(a, 1);
    WRITE_ONCE(b, 1);
    write_sequnlock(&lock);
    return NULL;
}

static void reader(void)
{
    unsigned seq = read_seqbegin(&lock);
    int first = READ_ONCE(a), second = READ_ONCE(b);
    BUG_ON(!read_seqretry(&lock, seq) && first != second);
}

int main(void)
{
    pthread_t one;
    pthread_create(&one, NULL, writer, NULL);
    reader();
    pthread_join(one, NULL);
}
