// What the compiler's headers make of instructions: _mm_mfence, _mm_lfence, _mm_sfence.
#include "weakspot.h"

WEAKSPOT_LIBRARY void weakspot_mfence(void) { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
WEAKSPOT_LIBRARY void weakspot_lfence(void) { __atomic_signal_fence(__ATOMIC_SEQ_CST); }
WEAKSPOT_LIBRARY void weakspot_sfence(void) { __atomic_signal_fence(__ATOMIC_SEQ_CST); }
