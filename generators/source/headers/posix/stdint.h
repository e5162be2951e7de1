// <stdint.h> with the width of a word, which glibc's defines.
#pragma once
#pragma GCC system_header

#include_next <stdint.h>

#ifndef __WORDSIZE
#define __WORDSIZE 64
#endif
