#!/bin/bash
# Installs the rivals that the benchmarks measure against. Nothing else needs them.
set -eu
bin=$1
if command -v apt-get >/dev/null 2>&1; then
  if [ "$(id -u)" = 0 ]; then as_root=(); elif sudo -n true 2>/dev/null; then as_root=(sudo -n); else as_root=(echo "run once: sudo"); fi
  "${as_root[@]}" apt-get install -y --no-install-recommends openmpi-bin libopenmpi-dev wrk
fi
"$bin/python" -m pip install --quiet 'mpi4py>=4,<5'
# The proxies bring dependencies of their own: kept apart, at the versions that were measured.
"$bin/python" tests/bench/gateway.py --install
