// The texts of error numbers, as glibc has them in the C locale, of those that functions here and the
// operations of threads give.
#define _GNU_SOURCE
#include "weakspot.h"
#include <errno.h>
#include <string.h>

static char *text_of(int number) {
  switch (number) {
  case 0:
    return "Success";
  case EPERM:
    return "Operation not permitted";
  case ENOENT:
    return "No such file or directory";
  case ESRCH:
    return "No such process";
  case EINTR:
    return "Interrupted system call";
  case EIO:
    return "Input/output error";
  case EAGAIN:
    return "Resource temporarily unavailable";
  case ENOMEM:
    return "Cannot allocate memory";
  case EACCES:
    return "Permission denied";
  case EBUSY:
    return "Device or resource busy";
  case EEXIST:
    return "File exists";
  case EINVAL:
    return "Invalid argument";
  case EDOM:
    return "Numerical argument out of domain";
  case ERANGE:
    return "Numerical result out of range";
  case EDEADLK:
    return "Resource deadlock avoided";
  case ENOSYS:
    return "Function not implemented";
  case EOVERFLOW:
    return "Value too large for defined data type";
  case ETIMEDOUT:
    return "Connection timed out";
  case ECANCELED:
    return "Operation canceled";
  case EOWNERDEAD:
    return "Owner died";
  }
  weakspot_unsupported("the text of this error number is not modelled");
}

WEAKSPOT_LIBRARY char *strerror(int number) { return text_of(number); }

#ifdef __GLIBC__
WEAKSPOT_LIBRARY char *strerror_r(int number, char *buffer, size_t size) {
  (void)buffer;
  (void)size;
  return text_of(number);
}
#else
WEAKSPOT_LIBRARY int strerror_r(int number, char *buffer, size_t size) {
  const char *text = text_of(number);
  size_t length = strlen(text);
  if (length >= size)
    return ERANGE;
  memcpy(buffer, text, length + 1);
  return 0;
}
#endif
