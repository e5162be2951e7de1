// For library functions that are written in C. A program that calls one of them, and does not define
// it, is linked with the file that does. Each of the functions is marked WEAKSPOT_LIBRARY.
#pragma once

#define WEAKSPOT_LIBRARY __attribute__((weak))

// What the engine provides.

// As aligned_alloc, with zeros where that is asked for, and free, for what does not use those of a
// program that defines its own.
void *weakspot_allocate(unsigned long alignment, unsigned long size, int zeroed);
void weakspot_free(void *object);

// The two sorts of asymmetric fences.
void weakspot_light_fence(void);
void weakspot_heavy_fence(void);

// A value below `count`: all of them are explored.
unsigned weakspot_choose(unsigned count);
// 0, or, at most once per call in the source and thread, 1: both are explored.
unsigned weakspot_seldom(void);
unsigned weakspot_stands_still(void); // a clock: as seldom
// What the program assumes does not hold: the execution is not one of its executions.
void weakspot_discard(void);
// Waits for a condition variable, with its mutex, for some time; returns 0 or an error number.
int weakspot_wait_for(void *condition, void *mutex);
// Locks a mutex if it is free, and returns 0; else the number of the error that a lock with a time
// limit has.
int weakspot_timedlock(void *mutex);
// Sleeping at an address, with a mask. A thread enters itself, compares the word, and sleeps until another has
// woken it, or stops, which returns whether nobody has. Where whether it is woken is not asked,
// entering returns 0, and the thread continues at once. The second argument says what it is in
// reports: 0 a futex, 1 an atomic object.
unsigned weakspot_begin_sleep(const volatile void *address, unsigned mask);
void weakspot_sleep(const volatile void *address, int atomic);
unsigned weakspot_end_sleep(const volatile void *address);
// Wakes so many of the threads that sleep there with a mask that has one of these bits; returns how
// many.
unsigned long weakspot_wake(const volatile void *address, unsigned count, unsigned mask);
// The threads that sleep there, for a requeue: where they are still these, it wakes so many and moves
// so many of the others to another address, in one step; returns how many.
unsigned long weakspot_sleepers(const volatile void *address);
unsigned long weakspot_requeue(const volatile void *address, unsigned wakes, unsigned moves,
                               const volatile void *other, unsigned long sleepers);
// Ends the program: a synchronisation object is misused.
_Noreturn void weakspot_misuse(const char *message);
// Ends the exploration: what the program does is not supported.
_Noreturn void weakspot_unsupported(const char *message);

// A number that the program is given from outside; 0 if it is given none. The first, number 0, is 1
// where the program is to show what the specification of its operations allows.
long weakspot_parameter(unsigned number);
// A call of an operation begins here, if that is later than where the thread's last one returned.
void weakspot_called(unsigned number);
// The call with this number has returned; `call` is how it is written, with % for each argument, and =
// at the end if the result is one of the operation's.
void weakspot_returned(unsigned number, const char *call, long result, ...);

// A function whose name begins with weakspot_thread_exit_ runs when a thread ends, unless main
// returns, in the order of the names.
#define WEAKSPOT_THREAD_EXIT(name) __attribute__((used)) void weakspot_thread_exit_##name(void)
