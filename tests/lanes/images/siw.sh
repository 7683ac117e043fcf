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
suite=$1 release=$2 folder=$3

build=$WEFT_GUEST_DIR/siw-$suite
rm -rf "$build"
mkdir -p "$build/tree" "$folder"
cd "$build"
version=${release%%-*}
version=${version%.*}
common=linux-headers-${release%-cloud-amd64}-common
apt_in "$suite" get -qq download "linux-headers-$release" "$common" "linux-kbuild-$version" "linux-source-$version"
source_deb=$(echo linux-source-*.deb)
unpack "$build/tree" linux-headers-*.deb linux-kbuild-*.deb
dpkg-deb --fsys-tarfile "$source_deb" | tar -xO "./usr/src/linux-source-$version.tar.xz" | xz -dc -T0 |
    tar -x --strip-components=4 --wildcards '*/drivers/infiniband/sw/siw/*'
rm ./*.deb
cd siw
sed -i 's/^const bool \(try_gso\|mpa_crc_required\|mpa_crc_strict\|peer_to_peer\);/bool \1;\nmodule_param(\1, bool, 0644);/
        s/^u_char mpa_version = .*;/&\nmodule_param(mpa_version, byte, 0644);/' siw_main.c
sed -i 's/^extern const bool \(try_gso\|mpa_crc_required\|mpa_crc_strict\|peer_to_peer\);/extern bool \1;/' siw.h
sed -i 's/^static __be16 rtr_type = .*/&\nmodule_param(rtr_type, ushort, 0644);/' siw_cm.c
[ "$(cat ./*.c | grep -c module_param)" -eq 6 ] || die "siw's constants are not where they were: see siw.sh"

# Debian's headers name themselves by their installed place.
headers=$build/tree/usr/src/linux-headers-$release
sed -i "s#/usr/src/#$build/tree/usr/src/#" "$headers/Makefile"
make -s -C "$headers" M="$build/siw" CONFIG_RDMA_SIW=m -j"$(nproc)" modules >"$build/log" 2>&1 ||
    { tail -n 20 "$build/log" >&2; die "siw does not build"; }
cp siw.ko "$folder/"
cd / && rm -rf "$build"
