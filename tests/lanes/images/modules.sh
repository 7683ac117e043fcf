# shellcheck shell=bash
# Sourced by the scripts that build kernel modules, after debian.sh.

# module_tree BUILD SUITE RELEASE PATTERN...: an empty folder BUILD with the kernel's headers and its build tools (in
# $headers), and the files of Debian's source of the same version that the patterns name. Nothing is installed.
module_tree() {
    local build=$1 suite=$2 release=$3 depends version source_deb
    shift 3
    rm -rf "$build"
    mkdir -p "$build/tree"
    cd "$build" || exit
    depends=$(apt_in "$suite" cache depends "linux-headers-$release" |
        sed -n 's/^ *Depends: \(linux-\(headers\|kbuild\)-.*\)/\1/p')
    version=$(cut -d. -f1-2 <<<"$release")
    # shellcheck disable=SC2086  # names of packages, one a word
    apt_in "$suite" get -qq download "linux-headers-$release" $depends "linux-source-$version"
    source_deb=$(echo linux-source-*.deb)
    unpack "$build/tree" linux-headers-*.deb linux-kbuild-*.deb
    dpkg-deb --fsys-tarfile "$source_deb" | tar -xO "./usr/src/linux-source-$version.tar.xz" | xz -dc -T0 |
        tar -x --strip-components=1 --wildcards "$@"
    rm ./*.deb
    headers=$build/tree/usr/src/linux-headers-$release
    # Debian's headers name themselves by their installed place. With vmlinux they would want pahole, for BTF.
    sed -i "s#/usr/src/#$build/tree/usr/src/#" "$headers/Makefile"
    rm -f "$headers/vmlinux"
}

# make_modules FOLDER OPTION...
make_modules() {
    local folder=$1
    shift
    make -s -C "$headers" M="$folder" "$@" -j"$(nproc)" modules >"$folder/log" 2>&1 ||
        { tail -n 20 "$folder/log" >&2; die "the modules of $folder do not build"; }
}
