#include "once.h"

static struct once once = ONCE_INIT;

void call_once(void (*function)(void)) { once_call(&once, function); }
