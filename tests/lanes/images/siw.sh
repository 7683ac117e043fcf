#!/usr/bin/env bash
# Builds siw, Linux's soft-iWARP, which Debian's kernels leave out: siw.sh SUITE RELEASE FOLDER.
#
# What siw's authors made constants become module parameters that can be set while it is loaded; the defaults are the
# constants' values, so an untouched module is stock siw. Nothing else is changed. Parameters:
#   peer_to_peer mpa_crc_required mpa_crc_strict try_gso (0/1), mpa_version (1/2),
#   rtr_type: 64 a Read, 128 a Write, 192 both (RFC 6581's bits D and C, in network order as siw keeps them).
set -euo pipefail
# shellcheck source=debian.sh
. "$(dirname "$0")/debian.sh"
# shellcheck source=modules.sh
. "$here/modules.sh"
suite=$1 release=$2 folder=$3

build=$WEFT_GUEST_DIR/build-siw
module_tree "$build" "$suite" "$release" '*/drivers/infiniband/sw/siw/*'
siw=$build/drivers/infiniband/sw/siw
sed -i 's/^const bool \(try_gso\|mpa_crc_required\|mpa_crc_strict\|peer_to_peer\);/bool \1;\nmodule_param(\1, bool, 0644);/
        s/^u_char mpa_version = .*;/&\nmodule_param(mpa_version, byte, 0644);/' "$siw/siw_main.c"
sed -i 's/^extern const bool \(try_gso\|mpa_crc_required\|mpa_crc_strict\|peer_to_peer\);/extern bool \1;/' "$siw/siw.h"
sed -i 's/^static __be16 rtr_type = .*/&\nmodule_param(rtr_type, ushort, 0644);/' "$siw/siw_cm.c"
[ "$(cat "$siw"/*.c | grep -c module_param)" -eq 6 ] || die "siw's constants are not where they were: see siw.sh"
make_modules "$siw" CONFIG_RDMA_SIW=m
mkdir -p "$folder"
cp "$siw/siw.ko" "$folder/"
cd / && rm -rf "$build"
