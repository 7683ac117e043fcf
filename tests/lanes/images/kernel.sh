#!/usr/bin/env bash
# A Debian 12 cloud kernel for the guests: kernel.sh 6.1 (Debian 12's own, with siw) or 6.12 (with iommufd).
# target/guest/kernel-SERIES: vmlinux, config, release, modules.ext4 (what /lib/modules holds).
#
# The kernel is booted uncompressed through its PVH entry: under emulation, unpacking it would take longer than booting.
set -euo pipefail
# shellcheck source=debian.sh
. "$(dirname "$0")/debian.sh"
series=$1
case $series in
6.1) package=linux-image-cloud-amd64 ours=siw ;;
6.12) package=linux-image-6.12-cloud-amd64 ours=iommufd ;;
*) die "there are 6.1 and 6.12, not '$series'" ;;
esac
name=kernel-$series
stamp=("$name" "$(cat "$here/modules.sh" "$here/$ours.sh")")
fresh "${stamp[@]}" && exit 0

folder=$WEFT_GUEST_DIR/$name
rm -rf "$folder"
mkdir -p "$folder/tree"
apt_suite bookworm
image=$(apt_in bookworm cache depends "$package" | sed -n 's/^ *Depends: \(linux-image-[0-9].*\)/\1/p')
[ -n "$image" ] || die "$package names no kernel"
release=${image#linux-image-}
(cd "$folder" && apt_in bookworm get -qq download "$image")
unpack "$folder/tree" "$folder"/*.deb
rm "$folder"/*.deb

# The payload of a bzImage (Documentation/arch/x86/boot.rst): setup_sects at 0x1f1, payload offset and length at 0x248;
# the kernel's build appends four bytes, the unpacked length.
bzimage=$folder/tree/boot/vmlinuz-$release
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

echo "$release" >"$folder/release"
cp "$folder/tree/boot/config-$release" "$folder/config"
modules=$folder/tree/lib/modules/$release
# What a guest without sound, disks and other people's network cards needs.
(cd "$modules/kernel" && rm -rf sound drivers/{net/ethernet,scsi,nvme/host,media,target,mtd,hid,input,gpu,video,md,staging} \
    fs/{btrfs,xfs,f2fs,ceph,nfs,nfsd,smb,cifs,ocfs2,gfs2,dlm,ubifs,jfs,reiserfs,ntfs,ntfs3,nilfs2,udf,fuse} \
    net/{ceph,netfilter,sctp,tipc,openvswitch,ipv4/netfilter,ipv6/netfilter,bluetooth,mac80211,wireless,sched,rxrpc,batman-adv})
"$here/$ours.sh" bookworm "$release" "$modules/updates"
depmod -b "$folder/tree" "$release"
size=$(($(du -sm "$modules" | cut -f1) * 5 / 4 + 16))
mke2fs -q -t ext4 -O ^has_journal -m 0 -L modules -d "$folder/tree/lib/modules" "$folder/modules.ext4" "${size}M" >/dev/null
rm -rf "$folder/tree"
say "Linux $release with $ours"
done_with "${stamp[@]}"
