// <langinfo.h> with the names of glibc's items that musl does not have.
#pragma once
#pragma GCC system_header

#include_next <langinfo.h>

#ifndef __GLIBC__
enum {
  _NL_ADDRESS_POSTAL_FMT = 0x90000,
  _NL_ADDRESS_COUNTRY_NAME,
  _NL_ADDRESS_COUNTRY_POST,
  _NL_ADDRESS_COUNTRY_AB2,
  _NL_ADDRESS_COUNTRY_AB3,
  _NL_ADDRESS_COUNTRY_CAR,
  _NL_ADDRESS_COUNTRY_NUM,
  _NL_ADDRESS_COUNTRY_ISBN,
  _NL_ADDRESS_LANG_NAME,
  _NL_ADDRESS_LANG_AB,
  _NL_ADDRESS_LANG_TERM,
  _NL_ADDRESS_LANG_LIB
};
#endif
