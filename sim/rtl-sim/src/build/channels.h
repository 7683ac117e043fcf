// The channel structs of rtl_sim::axis, rtl_sim::axi and rtl_sim::axil, field by field.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace rtl_sim {
using u128 = unsigned __int128;

template <size_t N> struct AxisForward {
    uint8_t data[N];
    u128 keep;
    uint64_t user;
    uint32_t id;
    uint32_t dest;
    bool last;
    bool valid;
};
struct AxisBackward {
    bool ready;
};

struct AxiAddress {
    uint64_t addr;
    uint32_t id;
    uint32_t user;
    uint8_t len;
    uint8_t size;
    uint8_t burst;
    uint8_t cache;
    uint8_t prot;
    uint8_t qos;
    bool lock;
    bool valid;
};
template <size_t N> struct AxiWriteData {
    uint8_t data[N];
    u128 strb;
    bool last;
    bool valid;
};
struct AxiWriteResponse {
    uint32_t id;
    uint8_t resp;
    bool valid;
};
template <size_t N> struct AxiReadData {
    uint8_t data[N];
    uint32_t id;
    uint8_t resp;
    bool last;
    bool valid;
};
template <size_t N> struct AxiFromMaster {
    AxiAddress aw;
    AxiWriteData<N> w;
    AxiAddress ar;
    bool b_ready;
    bool r_ready;
};
template <size_t N> struct AxiFromSlave {
    AxiWriteResponse b;
    AxiReadData<N> r;
    bool aw_ready;
    bool w_ready;
    bool ar_ready;
};

struct AxilFromMaster {
    uint64_t aw_addr;
    uint64_t ar_addr;
    uint64_t w_data;
    uint8_t w_strb;
    uint8_t aw_prot;
    uint8_t ar_prot;
    bool aw_valid;
    bool w_valid;
    bool ar_valid;
    bool b_ready;
    bool r_ready;
};
struct AxilFromSlave {
    uint64_t r_data;
    uint8_t b_resp;
    uint8_t r_resp;
    bool aw_ready;
    bool w_ready;
    bool ar_ready;
    bool b_valid;
    bool r_valid;
};

template <typename T> inline T load(const uint8_t* from, size_t bytes) {
    T value = 0;
    std::memcpy(&value, from, bytes);
    return value;
}
template <typename P> inline void wide_in(P& port, const void* from, size_t bytes) {
    std::memcpy(&port[0], from, bytes);
}
template <typename P> inline void wide_out(void* to, const P& port, size_t bytes) {
    std::memcpy(to, &port[0], bytes);
}
template <typename T> inline void scalar_out(uint8_t* to, T port, size_t bytes) {
    std::memcpy(to, &port, bytes);
}
}  // namespace rtl_sim
