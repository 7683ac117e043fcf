#!/usr/bin/env bash
# Installs what the build needs and is missing: with root by apt-get, else it prints what to install and stops.
# `setup.sh demo` looks for what the simulator takes and no more, and installs nothing without asking.
set -euo pipefail
declare -A provider=([verilator]=verilator [g++]=g++ [make]=make)
[ "${1:-}" = demo ] || provider[tshark]=tshark
if [ "$(id -u)" -eq 0 ] && [ "${1:-}" != demo ]; then # tests with the kernel's own stack
    provider[ping]=iputils-ping
    provider[ip]=iproute2
    provider[nft]=nftables
fi
missing=()
for tool in "${!provider[@]}"; do
    [ "$tool" = verilator ] && [ -n "${VERILATOR:-}" ] && continue
    PATH=$PATH:/usr/sbin:/sbin command -v "$tool" >/dev/null || missing+=("${provider[$tool]}")
done
[ -e /usr/include/zlib.h ] || missing+=(zlib1g-dev) # waves
[ "${1:-}" = demo ] || [ -e /usr/include/lwip/lwip/init.h ] || missing+=(liblwip-dev) # a TCP to test against
if [ "${1:-}" = python ]; then                      # lint, synthesis and proofs
    python3 -c 'import venv, ensurepip' 2>/dev/null || missing+=(python3-venv)
    command -v tclsh >/dev/null || missing+=(tcl) # build scripts rehearsed
fi
if [ "${1:-}" = cost ]; then                        # instructions counted
    command -v valgrind >/dev/null || missing+=(valgrind)
fi
if [ "${1:-}" = fast ]; then                        # models made for their profile
    command -v clang++-19 >/dev/null || missing+=(clang-19)
    command -v llvm-profdata-19 >/dev/null || missing+=(llvm-19)
    [ -e /usr/lib/llvm-19/lib/libbolt_rt_instr.a ] || missing+=(bolt-19 libbolt-19-dev)
    compgen -G '/usr/lib/llvm-19/lib/clang/19/lib/*/libclang_rt.profile*' >/dev/null || missing+=(libclang-rt-19-dev)
fi
if [ "${1:-}" = guest ]; then # the guests of the VFIO and the peer lane
    declare -A guest=([lz4]=lz4 [xz]=xz-utils [zstd]=zstd [gcc]=gcc [depmod]=kmod [mke2fs]=e2fsprogs)
    for tool in "${!guest[@]}"; do
        PATH=$PATH:/usr/sbin:/sbin command -v "$tool" >/dev/null || missing+=("${guest[$tool]}")
    done
    [ -e /usr/share/keyrings/debian-archive-keyring.gpg ] || missing+=(debian-archive-keyring)
    # The mirrors are those that apt knows; a system whose lists were never fetched knows none.
    if [ "$(id -u)" -eq 0 ] && [ -z "$(apt-get indextargets --format '$(LABEL)' 'Created-By: Packages' | grep -x Debian)" ]; then
        apt-get update -qq
    fi
fi
if ! command -v cargo >/dev/null; then
    echo "Weft needs Rust 1.85 or newer (cargo on the PATH): see https://rustup.rs" >&2
    exit 1
fi
[ ${#missing[@]} -eq 0 ] && exit 0
if [ "$(id -u)" -ne 0 ]; then
    echo "These Debian packages are missing: ${missing[*]}" >&2
    echo "As root:  apt-get install --no-install-recommends ${missing[*]}" >&2
    exit 1
fi
if [ "${1:-}" = demo ]; then
    answer=
    [ -t 0 ] && read -r -p "Install ${missing[*]} by apt-get? [y/N] " answer
    if [ "$answer" != y ]; then
        echo "These Debian packages are missing: ${missing[*]}" >&2
        echo "apt-get install --no-install-recommends ${missing[*]}" >&2
        exit 1
    fi
fi
echo "installing: ${missing[*]}"
apt-get update -qq
DEBIAN_FRONTEND=noninteractive apt-get install -o DPkg::Lock::Timeout=300 -y -qq --no-install-recommends "${missing[@]}" >/dev/null
