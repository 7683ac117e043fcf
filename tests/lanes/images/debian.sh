# shellcheck shell=bash
# Sourced by the other scripts here: signed Debian packages of any suite, without touching this machine's own packages.
#
# A suite gets its own apt state in $WEFT_GUEST_DIR/apt-SUITE. Mirrors are those that the system's apt configuration
# names (its proxies, pins and retries hold too); the archive's keys come from debian-archive-keyring. Packages are
# downloaded with everything they depend on and unpacked, never installed: no maintainer script runs, no root is needed.

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
WEFT_GUEST_DIR=${WEFT_GUEST_DIR:-$(cd "$here/../../.." && pwd)/target/guest}
mkdir -p "$WEFT_GUEST_DIR"

say() { printf 'guest: %s\n' "$*" >&2; }
die() {
    say "error: $*"
    exit 1
}

# A step is done once for each content of its scripts and arguments: fresh NAME SALT... says whether there is nothing to do.
stamp_of() { cat "$here/debian.sh" "$here/$(basename "$0")" | cat - <(printf '%s\n' "$@") | sha256sum | cut -c1-16; }
fresh() { [ "$(cat "$WEFT_GUEST_DIR/$1.stamp" 2>/dev/null)" = "$(stamp_of "$@")" ]; }
done_with() { stamp_of "$@" >"$WEFT_GUEST_DIR/$1.stamp"; }

# mirror LABEL: the address of the archive with this label, as this system's apt knows it.
mirror() {
    local found
    found=$(apt-get indextargets --format '$(LABEL)|$(REPO_URI)' 'Created-By: Packages' |
        sed -n "s/^$1|//p" | head -n1)
    [ -n "$found" ] || die "this system's apt names no archive '$1': add one (sources.list) and run apt-get update"
    printf '%s' "$found"
}

# apt_suite SUITE: an apt state for a suite of Debian, with its updates; renewed at most once an hour.
apt_suite() {
    local suite=$1 keyring=/usr/share/keyrings/debian-archive-keyring.gpg state=$WEFT_GUEST_DIR/apt-$1 main security
    [ -n "$(find "$state/updated" -mmin -60 2>/dev/null)" ] && return
    [ -e "$keyring" ] || die "no $keyring: install debian-archive-keyring"
    main=$(mirror Debian)
    security=$(mirror Debian-Security)
    mkdir -p "$state"/{lists,cache,parts}
    : >"$state/status"
    cat >"$state/sources.list" <<SOURCES
deb [signed-by=$keyring] $main $suite main
deb [signed-by=$keyring] $main $suite-backports main
deb [signed-by=$keyring] $security $suite-security main
SOURCES
    apt_in "$suite" get -qq update
    touch "$state/updated"
}

# apt_in SUITE get|cache ARG...: an apt command in a suite's state.
apt_in() {
    local state=$WEFT_GUEST_DIR/apt-$1 command=apt-$2
    shift 2
    "$command" -o Dir::State="$state" -o Dir::State::status="$state/status" -o Dir::Cache="$state/cache" \
        -o Dir::Cache::pkgcache= -o Dir::Cache::srcpkgcache= \
        -o Dir::Etc::sourcelist="$state/sources.list" -o Dir::Etc::sourceparts="$state/parts" \
        -o Dir::Etc::preferencesparts="$state/parts" -o APT::Architecture=amd64 -o APT::Install-Recommends=false \
        -o Acquire::Retries=5 -o Acquire::Languages=none -o Debug::NoLocking=true \
        -o APT::Sandbox::User=root -o APT::Get::List-Cleanup=false "$@"
}

# unpack_with_dependencies SUITE FOLDER APT-PACKAGE...: the packages and all that they depend on, unpacked.
unpack_with_dependencies() {
    local suite=$1 folder=$2 debs
    shift 2
    debs=$WEFT_GUEST_DIR/apt-$suite/debs-$(basename "$folder")
    rm -rf "$debs" "$folder"
    mkdir -p "$debs/partial" "$folder"
    apt_in "$suite" get -o Dir::Cache::archives="$debs" -qq -y --download-only install "$@"
    unpack "$folder" "$debs"/*.deb
    rm -rf "$debs"
}

# unpack FOLDER DEB...: on all cores.
unpack() {
    local folder=$1
    shift
    printf '%s\0' "$@" | xargs -0 -n1 -P"$(nproc)" sh -c \
        'dpkg-deb --fsys-tarfile "$1" | tar -x -C "$0" --keep-directory-symlink --no-same-owner' "$folder"
}
