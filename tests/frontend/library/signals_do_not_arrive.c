// Safe
#define _GNU_SOURCE
#include <assert.h>
#include <signal.h>
#include <sys/prctl.h>
#include <time.h>
static int handled;
static void handle(int number) { handled = number; }
int main(void) {
  struct sigaction action = {.sa_handler = handle};
  assert(!sigaction(SIGUSR1, &action, 0));
  signal(SIGPIPE, SIG_IGN);
  prctl(PR_SET_NAME, "main");
  prctl(0x53564d41 /* PR_SET_VMA */, 0, &handled, sizeof handled, "handled");
  assert(!handled && difftime(5, 3) == 2);
}
