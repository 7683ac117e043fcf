#!/usr/bin/env bash
# Builds the firmware crates for riscv32imc-unknown-none-elf, so that the engine stays free of an operating system, and the firmware of the
# card's control processor (`card`: that alone).
# With a rustup that has the target this is one cargo command. Elsewhere (a machine that reaches Debian's packages but
# not Rust's own distribution server) Debian's rustc-web brings a compiler with its library sources; it conflicts with
# Debian's rustc, so it is unpacked beside the system, never installed.
set -euo pipefail
cd "$(dirname "$0")/.."
target=riscv32imc-unknown-none-elf
packages=(-p weft-layout -p weft-queues -p weft-wire -p weft-tcp -p weft-engine)
only=${1:-all}
measure="$PWD/firmware/image/measure.py"
export CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-$PWD/target}/riscv"

# The engine alone, linked, for speed and for size: how large it is, and how much stack each of its calls takes.
image() {
    local level
    export RUSTC_BOOTSTRAP=1 RUSTFLAGS="-Z emit-stack-sizes -Z unstable-options -C symbol-mangling-version=legacy" CARGO_PROFILE_RELEASE_LTO=fat CARGO_PROFILE_RELEASE_CODEGEN_UNITS=1
    for level in 3 s; do
        CARGO_PROFILE_RELEASE_OPT_LEVEL=$level CARGO_TARGET_DIR="$CARGO_TARGET_DIR/image-$level" \
            cargo build -q --release "$@" --target "$target" -p weft-firmware-image
        echo "optimised for $([ $level = s ] && echo size || echo speed):"
        python3 "$measure" "$CARGO_TARGET_DIR/image-$level/$target/release/weft-firmware-image"
    done
}

# The firmware of the card's processor, without the engine and with it: $CARGO_TARGET_DIR/card and card-engine, $target/release/weft-firmware-card.
card() {
    local CARGO_PROFILE_RELEASE_OPT_LEVEL=s
    export CARGO_PROFILE_RELEASE_OPT_LEVEL
    CARGO_TARGET_DIR="$CARGO_TARGET_DIR/card" cargo build -q --release "$@" --target "$target" -p weft-firmware-card
    CARGO_PROFILE_RELEASE_LTO=fat CARGO_PROFILE_RELEASE_CODEGEN_UNITS=1 CARGO_TARGET_DIR="$CARGO_TARGET_DIR/card-engine" \
        cargo build -q --release "$@" --target "$target" -p weft-firmware-card --features engine
    [ "$only" != card ] || return 0
    echo "the card's firmware, without the engine and with it:"
    python3 "$measure" --size "$CARGO_TARGET_DIR/card/$target/release/weft-firmware-card"
    python3 "$measure" --size "$CARGO_TARGET_DIR/card-engine/$target/release/weft-firmware-card"
}

if rustup target add "$target" >/dev/null 2>&1; then
    card
    [ "$only" != card ] || exit 0
    cargo build --release --target "$target" "${packages[@]}"
    image
    exit
fi

kit="$CARGO_TARGET_DIR/rustc-web"
if [ ! -x "$kit/rustc" ]; then
    command -v apt-get >/dev/null || { echo "neither 'rustup target add $target' nor apt-get works here" >&2; exit 1; }
    [ "$(id -u)" -ne 0 ] || apt-get update -qq
    mkdir -p "$kit/debs" && cd "$kit/debs"
    needs() { apt-cache depends "$1" | sed -n "s/.*Depends: \($2\)\$/\1/p" | sort -u; }
    stdlib=$(needs libstd-rust-web-dev 'libstd-rust-web-[0-9.]*')
    llvm=$(needs "$stdlib" 'libllvm[0-9a-z.-]*')
    apt-get download -q rustc-web rust-web-src libstd-rust-web-dev "$stdlib" "$llvm"
    for deb in ./*.deb; do dpkg -x "$deb" "$kit/root"; done
    rm -rf "$kit/debs" && cd - >/dev/null
    lib="$kit/root/usr/lib/x86_64-linux-gnu"
    cat > "$kit/rustc" <<WRAP
#!/bin/sh
LD_LIBRARY_PATH="$lib:$kit/root/usr/lib:\$(echo "$kit"/root/usr/lib/llvm-*/lib)" exec "$kit/root/usr/bin/rustc" --sysroot "$kit/root/usr" "\$@"
WRAP
    chmod +x "$kit/rustc"
fi
lld="$(rustc --print sysroot)/lib/rustlib/$(rustc -vV | sed -n 's/^host: //p')/bin"
export PATH="$lld:$PATH" RUSTC="$kit/rustc" RUSTC_BOOTSTRAP=1
"$RUSTC" --version
card -Z build-std=core,alloc
[ "$only" != card ] || exit 0
cargo build --release -Z build-std=core,alloc --target "$target" "${packages[@]}"
image -Z build-std=core,alloc
