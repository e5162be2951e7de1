// <stdlib.h> with the functions and types of glibc that musl does not declare there. Random numbers throw
// nothing, as in glibc: a number and its remainder stand in one block.
#pragma once
#pragma GCC system_header

#ifdef __cplusplus
extern "C" {
__attribute__((nothrow)) int rand(void);
__attribute__((nothrow)) int rand_r(unsigned *);
__attribute__((nothrow)) long random(void);
__attribute__((nothrow)) long lrand48(void);
}
#endif

#include_next <stdlib.h>

#if !defined __GLIBC__ && (defined _GNU_SOURCE || defined _BSD_SOURCE)
#include <sys/types.h>
#ifdef __cplusplus
extern "C" {
#endif
struct random_data {
  int *fptr, *rptr, *state, rand_type, rand_deg, rand_sep, *end_ptr;
};
struct drand48_data {
  unsigned short x[3], old_x[3], c, init;
  unsigned long long a;
};
int random_r(struct random_data *, int *);
int srandom_r(unsigned, struct random_data *);
int initstate_r(unsigned, char *, unsigned long, struct random_data *);
int setstate_r(char *, struct random_data *);
int drand48_r(struct drand48_data *, double *);
int lrand48_r(struct drand48_data *, long *);
int mrand48_r(struct drand48_data *, long *);
int srand48_r(long, struct drand48_data *);
#ifdef __cplusplus
}
#endif
#endif
