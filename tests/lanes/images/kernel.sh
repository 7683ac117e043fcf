#!/usr/bin/env bash
# A Debian cloud kernel for the guests: kernel.sh bookworm (6.1) or trixie (6.12).
# target/guest/kernel-SUITE: vmlinux, config, release, modules.ext4 (what /lib/modules holds; on bookworm with siw).
#
# The kernel is booted uncompressed through its PVH entry: under emulation, unpacking it would take longer than booting.
set -euo pipefail
# shellcheck source=debian.sh
. "$(dirname "$0")/debian.sh"
suite=$1
name=kernel-$suite
fresh "$name" "$(cat "$here/siw.sh")" && exit 0

folder=$WEFT_GUEST_DIR/$name
rm -rf "$folder"
mkdir -p "$folder/tree"
apt_suite "$suite"
image=$(apt_in "$suite" cache depends linux-image-cloud-amd64 | sed -n 's/^ *Depends: \(linux-image-[0-9].*\)/\1/p')
[ -n "$image" ] || die "no kernel named by linux-image-cloud-amd64 in $suite"
(cd "$folder" && apt_in "$suite" get -qq download "$image")
unpack "$folder/tree" "$folder"/*.deb
rm "$folder"/*.deb

# The payload of a bzImage (Documentation/arch/x86/boot.rst): setup_sects at 0x1f1, payload offset and length at 0x248;
# the kernel's build appends four bytes, the unpacked length.
bzimage=$(echo "$folder"/tree/boot/vmlinuz-*)
number() { od -An -t "u$3" -j "$2" -N "$3" "$1" | tr -d ' '; }
start=$((($(number "$bzimage" $((0x1f1)) 1) + 1) * 512 + $(number "$bzimage" $((0x248)) 4)))
length=$(($(number "$bzimage" $((0x24c)) 4) - 4))
case $(od -An -t x1 -j "$start" -N 4 "$bzimage" | tr -d ' ') in
02214c18) unpacker=lz4 ;;
28b52ffd) unpacker=zstd ;;
fd377a58) unpacker=xz ;;
*) die "$bzimage: packed in a way this script does not know" ;;
esac
head -c $((start + length)) "$bzimage" | tail -c "$length" | "$unpacker" -dc >"$folder/vmlinux"

release=${bzimage##*/vmlinuz-}
echo "$release" >"$folder/release"
cp "$folder/tree/boot/config-$release" "$folder/config"
modules=$folder/tree/usr/lib/modules
[ -d "$modules" ] || modules=$folder/tree/lib/modules
if [ "$suite" = bookworm ]; then
    "$here/siw.sh" "$suite" "$release" "$modules/$release/extra"
fi
depmod -b "${modules%/lib/modules}" "$release"
size=$(($(du -sm "$modules" | cut -f1) * 5 / 4 + 16))
mke2fs -q -t ext4 -O ^has_journal -m 0 -d "$modules" "$folder/modules.ext4" "${size}M" >/dev/null
rm -rf "$folder/tree"
say "Linux $release"
done_with "$name" "$(cat "$here/siw.sh")"
