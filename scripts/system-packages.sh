#!/bin/bash
# Installs the system packages that `make run` or `make test` needs, or prints the one line that does.
set -u
need_run=(libegl1 libgl1 libxkbcommon0 libdbus-1-3 libfontconfig1 libxcb-cursor0 libxkbcommon-x11-0 libxcb-icccm4
          libxcb-image0 libxcb-keysyms1 libxcb-render-util0 libxcb-shape0)
need_test=("${need_run[@]}" gcc libc6-dev netplan.io openssh-client openssh-server iproute2 iputils-ping
           sudo dbus systemd openssl qemu-user libibverbs-dev)
# Sanitiser runs of the C tests need the runtime that comes with gcc; nothing to add.
case ${1:-run} in
  run) need=("${need_run[@]}") ;;
  test) need=("${need_test[@]}") ;;
  *) echo "usage: $0 run|test" >&2; exit 2 ;;
esac
command -v dpkg-query >/dev/null 2>&1 || { echo "This is no Debian or Ubuntu; please see to these packages: ${need[*]}"; exit 0; }
missing=()
for package in "${need[@]}"; do
  # Ubuntu 24.04 renamed some libraries for 64-bit time; either name counts.
  dpkg-query -W -f '${db:Status-Status}\n' "$package" "${package}t64" 2>/dev/null | grep -qx installed || missing+=("$package")
done
[ ${#missing[@]} -eq 0 ] && exit 0
install=(apt-get install -y --no-install-recommends "${missing[@]}")
if [ "$(id -u)" = 0 ]; then as_root=(); elif sudo -n true 2>/dev/null; then as_root=(sudo -n); else
  echo "System packages are missing. Run this line once, then call make again:" >&2
  echo "  sudo ${install[*]}" >&2
  # Tests that cannot run for want of a package say so themselves; the program does not start without its libraries.
  [ "$1" = test ] && exit 0
  exit 1
fi
echo "Installing system packages: ${missing[*]}"
export DEBIAN_FRONTEND=noninteractive
"${as_root[@]}" apt-get update -qq && "${as_root[@]}" "${install[@]}" >/dev/null
