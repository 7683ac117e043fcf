#!/usr/bin/env bash
# Builds iommufd, and VFIO with what belongs to it, which Debian's kernels leave out: iommufd.sh SUITE RELEASE FOLDER.
#
# The source is Debian's and unchanged; three options are switched on: CONFIG_IOMMUFD, CONFIG_VFIO_DEVICE_CDEV and
# CONFIG_VFIO_NOIOMMU. All of VFIO is built again, because its structures depend on them.
set -euo pipefail
# shellcheck source=debian.sh
. "$(dirname "$0")/debian.sh"
# shellcheck source=modules.sh
. "$here/modules.sh"
suite=$1 release=$2 folder=$3

build=$WEFT_GUEST_DIR/build-iommufd
module_tree "$build" "$suite" "$release" '*/drivers/vfio/*' '*/drivers/iommu/*.h' '*/drivers/iommu/iommufd/*' \
    '*/lib/interval_tree.c'
for option in IOMMUFD=m VFIO_DEVICE_CDEV=y VFIO_NOIOMMU=y; do
    echo "CONFIG_$option" >>"$headers/include/config/auto.conf"
done
cat >>"$headers/include/generated/autoconf.h" <<'OPTIONS'
#define CONFIG_IOMMUFD_MODULE 1
#define CONFIG_VFIO_DEVICE_CDEV 1
#define CONFIG_VFIO_NOIOMMU 1
OPTIONS
# A part of lib/interval_tree.c that only iommufd uses, and that is therefore not in Debian's vmlinux.
iommufd=$build/drivers/iommu/iommufd
{
    echo '#include <linux/interval_tree.h>'
    sed -n '/^#ifdef CONFIG_INTERVAL_TREE_SPAN_ITER/,/^#endif/p' "$build/lib/interval_tree.c" | grep -vE '^#|^EXPORT'
} >"$iommufd/span_iter.c"
echo 'iommufd-y += span_iter.o' >>"$iommufd/Makefile"
echo 'obj-m += iommu/iommufd/ vfio/' >"$build/drivers/Makefile"
make_modules "$build/drivers"
mkdir -p "$folder"
find "$build/drivers" -name '*.ko' -exec cp -t "$folder/" {} +
cd / && rm -rf "$build"
