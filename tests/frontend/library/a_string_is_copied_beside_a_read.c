// Violated: race
#include <pthread.h>
#include <string.h>
static char name[16];
static void *run(void *text) {
  strcpy(name, text);
  return 0;
}
int main(void) {
  pthread_t thread;
  pthread_create(&thread, 0, run, "abc");
  if (!strcmp(name, "abc")) name[3] = '!';
  pthread_join(thread, 0);
}
