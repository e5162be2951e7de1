/* Asymmetric fences: heavy() is membarrier(2), light() restrains the compiler alone. A compiler barrier
   is no light fence to weakspot unless the program says so, as here. */

#define _GNU_SOURCE /* syscall */
#include <assert.h>
#include <linux/membarrier.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

static int membarrier(int command)
{
    return (int)syscall(SYS_membarrier, command, 0, 0);
}

static inline void light(void)
{
#ifdef LIGHT_MISSING
#elif defined WEAKSPOT && !defined COMPILER_BARRIER
    void asymmetric_thread_fence_light(memory_order);
    asymmetric_thread_fence_light(memory_order_seq_cst);
#else
    __asm__ volatile("" ::: "memory");
#endif
}

static inline void heavy(void)
{
#ifdef HEAVY_MISSING
#elif defined HEAVY_IS_LIGHT
    light();
#else
    membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED);
#endif
}

static void prepare(void)
{
#ifndef UNREGISTERED
    membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED);
#endif
}
