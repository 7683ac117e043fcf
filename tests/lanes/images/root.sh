#!/usr/bin/env bash
# The guests' root, target/guest/root.img: Debian 12 with the RDMA tools, unpacked and never configured; started by
# the script `init`, which hands over to the agent on the disk of the host's files.
set -euo pipefail
# shellcheck source=debian.sh
. "$(dirname "$0")/debian.sh"
fresh root "$(cat "$here/init")" && exit 0

apt_suite bookworm
tree=$WEFT_GUEST_DIR/root
unpack_with_dependencies bookworm "$tree" \
    base-passwd bash dash busybox coreutils util-linux kmod pciutils grep sed mount procps \
    iproute2 iputils-ping iputils-arping netcat-openbsd ethtool tcpdump \
    rdma-core ibverbs-utils ibverbs-providers rdmacm-utils perftest \
    libgcc-s1 libstdc++6 zlib1g
cd "$tree"
mkdir -p proc sys dev tmp run host root mnt etc lib/modules
cp usr/share/base-passwd/passwd.master etc/passwd
cp usr/share/base-passwd/group.master etc/group
echo "127.0.0.1 localhost" >etc/hosts
ln -sf /proc/mounts etc/mtab
[ -e bin/sh ] || ln -s dash bin/sh
install -m 755 "$here/init" init
# busybox for the names that no package above provides (awk, vi, ...).
for name in awk vi less wget hexdump xxd; do
    [ -e "usr/bin/$name" ] || ln -s /bin/busybox "usr/bin/$name"
done
rm -rf usr/share/{doc,man,locale,info,i18n,bash-completion,perl,zoneinfo} usr/lib/x86_64-linux-gnu/{gconv,perl*}
cd "$WEFT_GUEST_DIR"
size=$(($(du -sm "$tree" | cut -f1) * 5 / 4 + 32))
# A partition table, so that a kernel without initramfs can find its root by number (PARTUUID=57454654-01): the order in
# which newer kernels name the disks is not fixed. One partition, type 0x83, from sector 2048 to the end.
little_endian() { printf '%08x' "$1" | sed 's/\(..\)\(..\)\(..\)\(..\)/\\x\4\\x\3\\x\2\\x\1/'; }
rm -f root.img
truncate -s "$((size + 1))M" root.img
write_at() { printf "$2" | dd of=root.img bs=1 seek="$1" conv=notrunc status=none; }
write_at 440 '\x54\x46\x45\x57'
write_at 446 "\x00\x00\x02\x00\x83\xff\xff\xff$(little_endian 2048)$(little_endian $((size * 2048)))"
write_at 510 '\x55\xaa'
mke2fs -q -F -t ext4 -O ^has_journal -m 0 -E root_owner=0:0,offset=1048576 -d "$tree" root.img "${size}M" >/dev/null
rm -rf "$tree"
say "root: Debian 12, ${size} MB"
done_with root "$(cat "$here/init")"
