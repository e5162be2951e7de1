#include <weakspot/kernel_tree.h>
