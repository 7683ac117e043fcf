#!/usr/bin/env bash
# Everything the guest lanes boot, in target/guest: build.sh [6.1] [6.12] (the kernels; 6.1 if none is named).
# Done once; again after these scripts change or `make clean`. Two at once wait for each other.
set -euo pipefail
# shellcheck source=debian.sh
. "$(dirname "$0")/debian.sh"
[ $# -gt 0 ] || set -- 6.1
exec 9>"$WEFT_GUEST_DIR/lock"
flock 9

# step NAME COMMAND...: with its time, told only when it had something to do.
step() {
    local name=$1 from=$EPOCHREALTIME took
    shift
    "$@" || die "$name failed"
    took=$(((${EPOCHREALTIME/./} - ${from/./}) / 1000))
    [ "$took" -lt 200 ] || say "$name: $((took / 1000)).$(printf %03d $((took % 1000))) s"
}
jobs=()
step "QEMU" "$here/qemu.sh" & jobs+=($!)
step "Debian 12's packages" apt_suite bookworm
step "root" "$here/root.sh" & jobs+=($!)
for series; do
    step "Linux $series" "$here/kernel.sh" "$series"
done
for job in "${jobs[@]}"; do wait "$job"; done
