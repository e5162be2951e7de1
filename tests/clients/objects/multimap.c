/* One key of the multimap in Lincheck's guide: a value is added to the key's list, here a set of bits.
   With CHECKS_FIRST, as there, a list is looked for and then made, so that one of two lists is lost. */

#include <stdatomic.h>

static atomic_uint list;

void add(int value)
{
#ifdef CHECKS_FIRST
    if (!atomic_load(&list)) {
        atomic_store(&list, 1u << value);
        return;
    }
#endif
    atomic_fetch_or(&list, 1u << value);
}

int get(void) { return (int)atomic_load(&list); }
