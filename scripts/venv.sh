#!/usr/bin/env bash
# Makes .venv with Assent and what its development needs, or with the extra that is named (`venv.sh server`).
# Run by `make`; PYTHON names another interpreter.
set -euo pipefail
cd "$(dirname "$0")/.."

fits() { "$1" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; }

python=""
for each in ${PYTHON:-python3 python3.14 python3.13 python3.12 python3.11}; do
  if command -v "$each" >/dev/null && fits "$each"; then python=$each && break; fi
done
if [ -z "$python" ]; then
  echo "Assent needs Python 3.11 or newer, and found ${PYTHON:-none}." >&2
  echo "Install one (Debian, Ubuntu: sudo apt-get install python3 python3-venv), or name it: make test PYTHON=/path/to/python3" >&2
  exit 1
fi
if ! "$python" -c 'import ensurepip, venv' 2>/dev/null; then
  echo "$python cannot make virtual environments." >&2
  echo "Debian, Ubuntu: sudo apt-get install python3-venv" >&2
  exit 1
fi

if ! { [ -x .venv/bin/python ] && fits .venv/bin/python; }; then
  echo "making .venv with $("$python" --version)"
  "$python" -m venv --clear .venv
fi
.venv/bin/python -m pip install --quiet --disable-pip-version-check -e ".[${1:-dev}]"
# Folders of compiled modules that come later would make the file out of date that hooks load their modules from.
.venv/bin/python -m compileall -q src/assent
if [ "${1:-dev}" = dev ]; then touch .venv/.ready; fi
