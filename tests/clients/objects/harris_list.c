/* A set as a sorted list: T. Harris, "A pragmatic implementation of non-blocking linked-lists", DISC 2001,
   in the form of M. Michael, "High performance dynamic lock-free hash tables and list-based sets", SPAA
   2002. A node is removed by marking its link, and unlinked afterwards. LIST_LINK_ORDER is the order in
   which a node is linked (release); LIST_UNMARKED unlinks nodes without marking them. */

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifndef LIST_LINK_ORDER
#define LIST_LINK_ORDER memory_order_release
#endif

struct node {
    int key;
    atomic_uintptr_t next; /* the lowest bit is the mark */
};

static struct node nodes[16];
static atomic_int used;
static atomic_uintptr_t first;

static bool change(atomic_uintptr_t *link, uintptr_t from, uintptr_t to, memory_order order)
{
    return atomic_compare_exchange_strong_explicit(link, &from, to, order, memory_order_relaxed);
}

/* The first node whose key is not less, or NULL, and the link that leads to it. */
static struct node *search(int key, atomic_uintptr_t **link)
{
    for (;;) {
        *link = &first;
        uintptr_t word = atomic_load_explicit(*link, memory_order_acquire);
        for (;;) {
            struct node *node = (struct node *)word;
            if (!node)
                return NULL;
            uintptr_t next = atomic_load_explicit(&node->next, memory_order_acquire);
            if (next & 1) {
                if (!change(*link, word, next & ~(uintptr_t)1, memory_order_release))
                    break;
                word = next & ~(uintptr_t)1;
                continue;
            }
            if (node->key >= key)
                return node;
            *link = &node->next;
            word = next;
        }
    }
}

bool insert(int key)
{
    struct node *own = NULL;
    for (;;) {
        atomic_uintptr_t *link;
        struct node *node = search(key, &link);
        if (node && node->key == key)
            return false;
        if (!own)
            own = &nodes[atomic_fetch_add_explicit(&used, 1, memory_order_relaxed)];
        own->key = key;
        atomic_store_explicit(&own->next, (uintptr_t)node, memory_order_relaxed);
        if (change(link, (uintptr_t)node, (uintptr_t)own, LIST_LINK_ORDER))
            return true;
    }
}

bool remove_key(int key)
{
    for (;;) {
        atomic_uintptr_t *link;
        struct node *node = search(key, &link);
        if (!node || node->key != key)
            return false;
        uintptr_t next = atomic_load_explicit(&node->next, memory_order_acquire);
        if (next & 1)
            continue;
#ifndef LIST_UNMARKED
        if (!change(&node->next, next, next | 1, memory_order_release))
            continue;
        change(link, (uintptr_t)node, next, memory_order_release);
        return true;
#else
        if (change(link, (uintptr_t)node, next, memory_order_release))
            return true;
#endif
    }
}

bool contains(int key)
{
    atomic_uintptr_t *link;
    struct node *node = search(key, &link);
    return node && node->key == key;
}
