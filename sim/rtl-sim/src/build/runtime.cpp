// What Verilator calls when a design prints or stops.
#include "runtime.h"
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <string>
#include "verilated.h"

namespace {
struct State {
    std::string text;
    unsigned status = 0;
};
thread_local State state;
constexpr size_t LIMIT = 1 << 16;

void stopped(unsigned status, const char* file, int line, const char* message) {
    if (status > state.status) state.status = status;
    if (status > 1) rtl_sim_printf("%s:%d: %s\n", file ? file : "?", line, message);
    Verilated::threadContextp()->gotFinish(true);
}
}  // namespace

int rtl_sim_printf(const char* format, ...) {
    char line[4096];
    va_list args;
    va_start(args, format);
    const int length = vsnprintf(line, sizeof line, format, args);
    va_end(args);
    if (state.text.size() < LIMIT) state.text += line;
    return length;
}

void vl_finish(const char* file, int line, const char*) { stopped(1, file, line, "$finish"); }
void vl_stop(const char* file, int line, const char*) { stopped(2, file, line, "stopped here"); }
void vl_fatal(const char* file, int line, const char*, const char* message) { stopped(3, file, line, message); }

extern "C" unsigned rtl_sim_status() {
    const unsigned status = state.status;
    state.status = 0;
    return status;
}

extern "C" size_t rtl_sim_messages(unsigned char* buffer, size_t capacity) {
    const size_t length = state.text.size() < capacity ? state.text.size() : capacity;
    std::memcpy(buffer, state.text.data(), length);
    state.text.clear();
    return length;
}
