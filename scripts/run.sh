#!/bin/bash
# With a display: the window on a virtual cluster. Without one: the same journey through the command line.
set -eu
bin=$1 out=$2
if [ -n "${DISPLAY:-}${WAYLAND_DISPLAY:-}" ] && [ -z "${CI:-}" ]; then
  exec "$bin/stellwerk" window --virtual 8
fi
mkdir -p "$out"
echo "No display: the journey runs through the command line; its report goes to ./$out/"
"$bin/stellwerk" setup --virtual 2 --topology pair --yes --self-test --json "$out/setup.json" --report "$out/report.html"
# Pictures of every page. They end by themselves; a computer too slow for that keeps those it has.
timeout 120 "$bin/stellwerk" shots "$out/shots" --nodes 3 --topology ring --theme dark --patience 3 ||
  echo "Not every page was drawn within 120 s; those that were are in ./$out/shots/"
echo "Done. See ./$out/report.html, ./$out/setup.json and ./$out/shots/"
