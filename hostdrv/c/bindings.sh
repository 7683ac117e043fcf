#!/usr/bin/env bash
# Makes src/bindings.rs from the headers of Debian's rdma-core, with Debian's bindgen; `--check` only says whether it is what it would make.
# Nothing is installed: packages are unpacked below target/.
set -euo pipefail
cd "$(dirname "$0")"
root=../../target/c-programs
./unpack.sh libibverbs-dev librdmacm-dev bindgen libclang1-14 libllvm14 libclang-common-14-dev
export LD_LIBRARY_PATH=$root/usr/lib/x86_64-linux-gnu:$root/usr/lib/llvm-14/lib LIBCLANG_PATH=$root/usr/lib/llvm-14/lib

types='verbs_context|ibv_(device|context|device_attr_ex|port_attr|gid|gid_entry|pd|mr|mw|mw_bind|cq|cq_ex|cq_init_attr_ex|cq_init_attr_mask|srq_init_attr_mask|xrcd_init_attr_mask|modify_cq_attr|comp_channel|qp|qp_ex|qp_attr'
types+='|qp_init_attr|qp_init_attr_ex|qp_init_attr_mask|srq|srq_init_attr|srq_attr_mask|srq_init_attr_ex|send_wr|recv_wr|sge|wc|async_event|xrcd|xrcd_init_attr|[a-z_]*flags|wc_opcode|fork_status|qp_attr_mask|qp_open_attr_mask)'
types+='|_compat_ibv_port_attr|rdma_(cm_id|cm_event|event_channel|conn_param|addrinfo)'
# What Weft does not have is a name and a size.
opaque='ibv_(flow|counter|wq|rwq|dm|alloc_dm|ops_wr|td|parent_domain|rx_hash|esp|wc_tm_info|modify_qp_rate|qp_rate)[a-z_]*|verbs_ex_private|ibv_counters'
ours='pub use libc::{pthread_cond_t, pthread_mutex_t, size_t, socklen_t, timespec};'
elsewhere='timespec|pthread_(mutex|cond)_t|__pthread.*|size_t|socklen_t|__atomic.*'
made=$(mktemp)
trap 'rm -f "$made"' EXIT
$root/usr/bin/bindgen src/headers.h --rust-target 1.47 --allowlist-type "($types)" --allowlist-var '(RAI_.*|IBV_SYSFS.*)' --opaque-type "($opaque)" --blocklist-type "($elsewhere)" \
  --no-doc-comments --use-core --no-layout-tests --no-derive-debug --default-enum-style consts --no-prepend-enum-name \
  --ctypes-prefix libc --raw-line "$ours" -- -I$root/usr/include -isystem $root/usr/lib/llvm-14/lib/clang/14.0.6/include | rustfmt --edition 2021 > "$made"
if [ "${1:-}" = --check ]; then
  diff -u src/bindings.rs "$made" && echo "src/bindings.rs is what the headers make"
else
  cp "$made" src/bindings.rs
  ./layouts.py
  rustfmt --edition 2021 tests/layouts/table.rs
fi
