#!/bin/sh
# Makes the Python environment of lint.py and synth.py under target/ (or in $1).
set -eu
here=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)
venv=${1:-$here/../../target/syn-venv}
[ -x "$venv/bin/python" ] || python3 -m venv "$venv"
"$venv/bin/pip" install --quiet --disable-pip-version-check -r "$here/requirements.txt"
echo "$venv/bin/python"
