#!/bin/sh
# Says in one line what is wrong with the Python that would make the virtual environment.
python=${1:-python3}
command -v "$python" >/dev/null 2>&1 || { echo "$python is not installed. Install Python 3.11 or newer: apt-get install python3 python3-venv" >&2; exit 1; }
"$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' || {
  echo "$python is $("$python" -V 2>&1); Stellwerk needs Python 3.11 or newer. Name another one: make PYTHON=python3.12 run" >&2; exit 1; }
"$python" -c 'import venv, ensurepip' 2>/dev/null || {
  echo "$python cannot make virtual environments. Install its venv module: apt-get install python3-venv" >&2; exit 1; }
