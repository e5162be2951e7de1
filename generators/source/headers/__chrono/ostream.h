// Nothing: times are not printed.
#pragma once
#pragma GCC system_header
