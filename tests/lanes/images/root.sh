#!/usr/bin/env bash
# The guests' root, target/guest/root.ext4: Debian 12 with the RDMA tools, unpacked and never configured; started by
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
rm -f root.ext4
mke2fs -q -t ext4 -O ^has_journal -m 0 -E root_owner=0:0 -d "$tree" root.ext4 "${size}M" >/dev/null
rm -rf "$tree"
say "root: Debian 12, ${size} MB"
done_with root "$(cat "$here/init")"
