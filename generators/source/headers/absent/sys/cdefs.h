// musl has no <sys/cdefs.h>: what programs, <sys/queue.h> and <execinfo.h> use of it.
#pragma once
#pragma GCC system_header
#ifdef __cplusplus
#define __BEGIN_DECLS extern "C" {
#define __END_DECLS }
#else
#define __BEGIN_DECLS
#define __END_DECLS
#endif
#define __THROW
#define __nonnull(parameters)
#define __P(args) args
#define __CONCAT(x, y) x##y
#define __STRING(x) #x
