// Included before every Verilator source: takes over its printing, so that messages reach the test.
#pragma once
#if defined(__GNUC__)
__attribute__((format(printf, 1, 2)))
#endif
int rtl_sim_printf(const char* format, ...);
