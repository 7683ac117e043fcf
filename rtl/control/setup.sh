#!/bin/sh
# Installs Ibex, the control processor's core, under target/ (or in $1), and prints where its sources are.
set -eu
here=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)
venv=${1:-$here/../../target/ibex-venv}
[ -x "$venv/bin/python" ] || python3 -m venv "$venv"
"$venv/bin/pip" install --quiet --disable-pip-version-check -r "$here/requirements.txt"
"$venv/bin/python" -c 'import pythondata_cpu_ibex; print(pythondata_cpu_ibex.data_location)'
