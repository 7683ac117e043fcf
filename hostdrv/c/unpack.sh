#!/usr/bin/env bash
# Fetches Debian packages by apt-get and unpacks them to target/c-programs; nothing is installed. A package that is there already is left alone.
set -euo pipefail
cd "$(dirname "$0")/../.."
mkdir -p target/c-programs/packages
cd target/c-programs
missing=()
for package in "$@"; do [ -e "packages/$package" ] || missing+=("$package"); done
[ ${#missing[@]} -eq 0 ] && exit 0
# A system whose lists were never fetched knows no package.
if [ "$(id -u)" -eq 0 ] && ! apt-cache show "${missing[0]}" > /dev/null 2>&1; then apt-get update -qq; fi
fetched=$(mktemp -d)
trap 'rm -rf "$fetched"' EXIT
chmod 755 "$fetched"
(cd "$fetched" && apt-get download -qq "${missing[@]}" 2> log) || { cat "$fetched/log" >&2; exit 1; }
for file in "$fetched"/*.deb; do dpkg -x "$file" .; done
for package in "${missing[@]}"; do touch "packages/$package"; done
