// Signals, of which none arrives.
#include "weakspot.h"
#include <signal.h>

WEAKSPOT_LIBRARY int sigaction(int signal, const struct sigaction *restrict action, struct sigaction *restrict old) {
  if (old)
    weakspot_unsupported("the former action for a signal is not modelled");
  return 0;
}
