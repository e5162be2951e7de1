// For library functions that are written in C. A program that calls one of them, and does not define
// it, is linked with the file that does. Each of the functions is marked WEAKSPOT_LIBRARY.
#pragma once

#define WEAKSPOT_LIBRARY __attribute__((weak))

// What the engine provides.

// A value below `count`: all of them are explored.
unsigned weakspot_choose(unsigned count);
// 0, or, at most once per call in the source and thread, 1: both are explored.
unsigned weakspot_seldom(void);
// What the program assumes does not hold: the execution is not one of its executions.
void weakspot_discard(void);
// Ends the program: a synchronisation object is misused.
_Noreturn void weakspot_misuse(const char *message);
// Ends the exploration: what the program does is not supported.
_Noreturn void weakspot_unsupported(const char *message);

// A function whose name begins with weakspot_thread_exit_ runs when a thread ends, unless main
// returns, in the order of the names.
#define WEAKSPOT_THREAD_EXIT(name) __attribute__((used)) void weakspot_thread_exit_##name(void)
