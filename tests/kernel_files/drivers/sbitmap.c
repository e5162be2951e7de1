#include <weakspot/kernel_tree.h>
struct sbitmap_word { unsigned long word, cleared; raw_spinlock_t swap_lock; } map = {.word = 1};
struct sbitmap { struct sbitmap_word *map; };
struct sbitmap_queue { struct sbitmap sb; } queue = {{&map}};
static int data, waits, woken;
#define sbitmap_deferred_clear_bit(bitmap, nr) set_bit(nr, &(bitmap)->map->cleared)
#define sbitmap_queue_wake_up(queue, nr) ({ if (READ_ONCE(waits)) WRITE_ONCE(woken, 1); })
#define sbitmap_update_cpu_hint(bitmap, cpu, nr) ((void)0)
#define find_next_zero_bit(word, depth, hint) (test_bit(0, word) ? (depth) : 0)
#include "../lib/sbitmap.c"

static void *releases(void *unused)
{
    BUG_ON(data); // that of the next owner
    sbitmap_queue_clear(&queue, 0, 0);
    return NULL;
}
int main(void)
{
    pthread_t one;
    pthread_create(&one, NULL, releases, NULL);
    WRITE_ONCE(waits, 1);
    smp_mb(); // that of prepare_to_wait()
    if (sbitmap_find_bit_in_word(&map, 1, 0, false) == 0)
        data = 1;
    else
        smp_cond_load_relaxed(&woken, VAL);
    pthread_join(one, NULL);
}
