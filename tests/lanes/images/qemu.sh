#!/usr/bin/env bash
# QEMU with the vfio-user-pci device (Debian: trixie-backports), unpacked in target/guest/qemu
# with its own C library beside it; run by `qemu/run`.
set -euo pipefail
# shellcheck source=debian.sh
. "$(dirname "$0")/debian.sh"
fresh qemu && exit 0

apt_suite trixie
unpack_with_dependencies trixie "$WEFT_GUEST_DIR/qemu" -t trixie-backports qemu-system-x86
cd "$WEFT_GUEST_DIR/qemu"
cat >run <<'RUN'
#!/bin/sh
# Runs this QEMU with the libraries that it was built for, whatever this system has.
root=$(cd "$(dirname "$0")" && pwd)
lib=$root/usr/lib/x86_64-linux-gnu
export QEMU_MODULE_DIR="$lib/qemu"
exec "$lib/ld-linux-x86-64.so.2" --library-path "$lib" \
    "$root/usr/bin/qemu-system-x86_64" -L "$root/usr/share/qemu" -L "$root/usr/share/seabios" "$@"
RUN
chmod +x run
./run -device help | grep -q vfio-user-pci || die "this QEMU has no vfio-user-pci: $(./run --version | head -n1)"
say "$(./run --version | head -n1)"
done_with qemu
