#include <weakspot/kernel_tree.h>
struct dev_printk_info { char unused; };
#define __aligned(size) __attribute__((aligned(size)))
#include "../kernel/printk/printk_ringbuffer.c"

DEFINE_PRINTKRB(ring, 1, 4);

static void *reader(void *unused)
{
    struct prb_desc desc;
    u32 caller;
    unsigned long id = DESC_ID(atomic_long_read(&ring.desc_ring.descs[0].state_var));
    if (desc_read(&ring.desc_ring, id, &desc, NULL, &caller) == desc_finalized)
        BUG_ON(caller != 1);
    return NULL;
}

int main(void)
{
    pthread_t one;
    struct prb_reserved_entry entry;
    struct printk_record record;
    prb_rec_init_wr(&record, 1);
    prb_reserve(&entry, &ring, &record);
    record.info->text_len = 1;
    pthread_create(&one, NULL, reader, NULL);
    record.info->caller_id = 1;
    _prb_commit(&entry, desc_finalized);
    pthread_join(one, NULL);
}
