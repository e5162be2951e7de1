// A configured tree's file of this name.
#include <asm-generic/qspinlock.h>
