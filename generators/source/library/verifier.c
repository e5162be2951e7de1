// Helpers of verifiers, in the spelling of SV-COMP, GenMC, Nidhugg, Dartagnan and CBMC. Annotations of
// loops need no meaning: the explorer finds out which loops wait.
#include "weakspot.h"
#include <assert.h>
#include <pthread.h>

WEAKSPOT_LIBRARY void __VERIFIER_assume(int condition) {
  if (!condition)
    weakspot_discard();
}
WEAKSPOT_LIBRARY void __CPROVER_assume(_Bool condition) {
  if (!condition)
    weakspot_discard();
}
WEAKSPOT_LIBRARY void assume(int condition) {
  if (!condition)
    weakspot_discard();
}
WEAKSPOT_LIBRARY void assume_abort_if_not(int condition) {
  if (!condition)
    weakspot_discard();
}

WEAKSPOT_LIBRARY void __VERIFIER_assert(int condition) {
  if (!condition)
    __assert_fail("__VERIFIER_assert", "", 0, "");
}
WEAKSPOT_LIBRARY void reach_error(void) { __assert_fail("reach_error is not reached", "", 0, ""); }
WEAKSPOT_LIBRARY void __VERIFIER_error(void) { __assert_fail("__VERIFIER_error is not reached", "", 0, ""); }

// All values of the type are explored where that is possible. For a wider type a program defines
// the function itself, for example as `return weakspot_choose(4);`.
WEAKSPOT_LIBRARY _Bool __VERIFIER_nondet_bool(void) { return weakspot_choose(2); }
WEAKSPOT_LIBRARY _Bool __VERIFIER_nondet__Bool(void) { return weakspot_choose(2); }
WEAKSPOT_LIBRARY char __VERIFIER_nondet_char(void) { return weakspot_choose(256); }
WEAKSPOT_LIBRARY unsigned char __VERIFIER_nondet_uchar(void) { return weakspot_choose(256); }

// Atomic sections exclude one another.
static pthread_mutex_t section = PTHREAD_MUTEX_INITIALIZER;
WEAKSPOT_LIBRARY void __VERIFIER_atomic_begin(void) { pthread_mutex_lock(&section); }
WEAKSPOT_LIBRARY void __VERIFIER_atomic_end(void) { pthread_mutex_unlock(&section); }

// GenMC
WEAKSPOT_LIBRARY void __VERIFIER_loop_begin(void) {}
WEAKSPOT_LIBRARY void __VERIFIER_loop_bound(int bound) {}
WEAKSPOT_LIBRARY void __VERIFIER_spin_start(void) {}
WEAKSPOT_LIBRARY void __VERIFIER_spin_end(int ended) {}
WEAKSPOT_LIBRARY void __VERIFIER_opt_begin(void) {}
