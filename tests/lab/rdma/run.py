"""Runs the verbs transport over soft-RoCE (rdma_rxe) in an emulated machine: `make test-rdma`.

A kernel with rdma_rxe is needed, and few machines have one loaded. So Debian's kernel package is downloaded and
unpacked (not installed), and QEMU boots it without any acceleration: the host's own files are its root, read-only under
an overlay in memory. In there `guest.py` runs the product with this checkout's Python. Times mean nothing there.

Nothing is left behind: all files lie in one temporary folder. `--kernel FOLDER` takes a kernel package that was
unpacked before.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path

HERE = Path(__file__).resolve().parent
REPOSITORY = HERE.parents[2]
PYTHON = REPOSITORY / ".venv" / "bin" / "python"
LIMIT_S = 1500  # runs took 5 to 11 minutes on two cores that were busy otherwise
NEEDED = {  # what must be there, and the package that brings it
    "qemu-system-x86_64": "qemu-system-x86",
    "busybox": "busybox-static",
    "cpio": "cpio",
    "depmod": "kmod",
    "modprobe": "kmod",
    "rdma": "iproute2",
    "ip": "iproute2",
    "apt-get": "apt",
    "dpkg": "dpkg",
    "/usr/lib/x86_64-linux-gnu/libibverbs.so.1": "libibverbs1",
    "/etc/libibverbs.d/rxe.driver": "ibverbs-providers",
    "/usr/include/infiniband/verbs.h": "libibverbs-dev",
}
# What the initramfs must load before it can mount the host's files; the rest is loaded from there.
MODULES = ("virtio_pci", "9pnet_virtio", "9p", "overlay")
INIT = """#!/bin/busybox sh
/bin/busybox mkdir -p /proc /sys /dev /host /memory /root
/bin/busybox mount -t proc proc /proc
for module in {modules}; do /bin/busybox insmod /modules/$module || echo "cannot load $module"; done
/bin/busybox mount -t 9p -o ro,trans=virtio,version=9p2000.L,msize=524288,cache=loose host /host
/bin/busybox mount -t tmpfs memory /memory
/bin/busybox mkdir /memory/upper /memory/work
/bin/busybox mount -t overlay -o lowerdir=/host,upperdir=/memory/upper,workdir=/memory/work overlay /root
for place in proc sys dev; do /bin/busybox umount -l /root/$place 2>/dev/null; done
/bin/busybox mount -t proc proc /root/proc
/bin/busybox mount -t sysfs sys /root/sys
/bin/busybox mount -t devtmpfs dev /root/dev
/bin/busybox mkdir -p /root/dev/shm
/bin/busybox mount -t tmpfs shm /root/dev/shm
/bin/busybox mount -t tmpfs run /root/run
/bin/busybox mkdir -p /root/lib/modules  # where the kernel's own calls of modprobe look
/bin/busybox ln -s {modules_folder} /root/lib/modules/
export HOME=/run PATH=/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8 OPENBLAS_NUM_THREADS=1 PYTHONDONTWRITEBYTECODE=1
export PYTHONPATH={path}
# Not chroot: the kernel's own calls of modprobe start at the machine's root.
exec /bin/busybox switch_root /root /bin/sh -c '
{python} {guest} {arguments}
echo "rdma lab: exit $?"
busybox poweroff -f'
"""


class Missing(Exception):
    """Something is not there; the text says what to do."""


def check_needs() -> None:
    """Missing with the one command that installs what is not there."""
    if os.uname().machine != "x86_64":
        raise Missing("this lab emulates an x86-64 machine on the files of the host, which must be one too")

    def there(name: str) -> bool:
        return Path(name).exists() if name.startswith("/") else bool(shutil.which(name, path=search))

    search = os.environ.get("PATH", "") + ":/usr/sbin:/sbin"
    lacking = {package: name for name, package in NEEDED.items() if not there(name)}
    if lacking:
        raise Missing(
            f"{', '.join(lacking.values())} not found. Install what is missing, then call make again:\n"
            f"  sudo apt-get install -y --no-install-recommends {' '.join(lacking)}"
        )
    if not PYTHON.exists():
        raise Missing(f"{PYTHON} not found; run make .venv/.test first")


def command(*words: str | Path, cwd: Path | None = None) -> str:
    """Run a tool; Missing with its own words if it fails."""
    environment = {**os.environ, "PATH": os.environ.get("PATH", "") + ":/usr/sbin:/sbin", "LC_ALL": "C"}
    done = subprocess.run(
        [str(word) for word in words], capture_output=True, text=True, check=False, cwd=cwd, env=environment
    )
    if done.returncode:
        raise Missing(
            f"{' '.join(str(word) for word in words)} failed:\n{(done.stderr or done.stdout).strip()[-2000:]}"
        )
    return done.stdout


def fetch_kernel(folder: Path) -> Path:
    """Download the kernel package that the distribution's `linux-image-amd64` stands for, and unpack it."""
    if os.geteuid() == 0:
        command("apt-get", "update", "-qq")
    names = re.findall(r"Depends: (linux-image-\d\S+)", command("apt-cache", "depends", "linux-image-amd64"))
    if not names:
        raise Missing("apt knows no linux-image-amd64; run sudo apt-get update (this lab needs Debian's packages)")
    print(f"downloading {names[0]}", flush=True)
    command("apt-get", "download", "-q", names[0], cwd=folder)
    (package,) = folder.glob("linux-image-*.deb")
    command("dpkg", "-x", package, folder / "kernel")
    package.unlink()
    return folder / "kernel"


def version_of(kernel: Path) -> str:
    """The kernel's version, and its module list made."""
    (modules,) = (kernel / "lib" / "modules").iterdir()
    command("depmod", "-b", kernel, modules.name)
    return modules.name


def with_dependencies(modules: Path, names: tuple[str, ...]) -> Iterator[Path]:
    """The files of modules, each after those that it needs."""
    needs: dict[str, list[str]] = {}
    for line in (modules / "modules.dep").read_text(encoding="utf-8").splitlines():
        file, _, others = line.partition(":")
        needs[file] = others.split()
    by_name = {Path(file).name.split(".")[0].replace("-", "_"): file for file in needs}
    done: set[str] = set()

    def load(file: str) -> Iterator[Path]:
        if file not in done:
            done.add(file)
            for other in reversed(needs[file]):
                yield from load(other)
            yield modules / file

    for name in names:
        yield from load(by_name[name])


def make_initramfs(folder: Path, kernel: Path, version: str, arguments: list[str]) -> Path:
    """A few megabytes: busybox, the modules for the host's files, and the script above."""
    tree = folder / "initramfs"
    (tree / "bin").mkdir(parents=True)
    (tree / "modules").mkdir()
    shutil.copy(shutil.which("busybox") or "busybox", tree / "bin" / "busybox")
    names = []
    for number, module in enumerate(with_dependencies(kernel / "lib" / "modules" / version, MODULES)):
        names.append(f"{number:02}-{module.name}")
        shutil.copy(module, tree / "modules" / names[-1])
    script = tree / "init"
    script.write_text(
        INIT.format(
            modules=" ".join(names),
            python=PYTHON,
            path=f"{HERE.parents[1]}:{HERE}",
            guest=HERE / "guest.py",
            modules_folder=kernel / "lib" / "modules" / version,
            arguments=" ".join(arguments),
        ),
        encoding="utf-8",
    )
    script.chmod(0o755)
    image = folder / "initramfs.cpio"
    listing = "\n".join(str(path.relative_to(tree)) for path in sorted(tree.rglob("*")))
    with image.open("wb") as out:
        subprocess.run(
            ["cpio", "-o", "-H", "newc", "--quiet"], input=listing.encode(), stdout=out, cwd=tree, check=True
        )
    return image


def boot(kernel: Path, version: str, image: Path, limit_s: float) -> int:
    """Run the machine and repeat what it says; the exit status of the checks in it."""
    words = [
        "nice", "-n", "10",
        "qemu-system-x86_64", "-accel", "tcg,thread=multi", "-cpu", "max", "-smp", "2", "-m", "3072", "-nodefaults",
        "-display", "none", "-serial", "stdio", "-no-reboot",
        "-kernel", str(kernel / "boot" / f"vmlinuz-{version}"), "-initrd", str(image),
        "-append", "console=ttyS0 quiet panic=-1 mitigations=off",
        "-virtfs", "local,path=/,mount_tag=host,security_model=none,readonly=on,multidevs=remap",
        "-device", "virtio-rng-pci",
    ]  # fmt: skip
    machine = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    timer = threading.Timer(limit_s, machine.kill)
    timer.start()
    status: int | None = None
    try:
        assert machine.stdout is not None
        for raw in machine.stdout:
            line = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]|\x1bc", "", raw.decode(errors="replace")).rstrip()
            ended = re.match(r"rdma lab: exit (\d+)$", line)
            if ended:
                status = int(ended[1])
            elif line and status is None:
                print(line, flush=True)
        machine.wait()
    finally:
        timed_out = not timer.is_alive()
        timer.cancel()
        machine.kill()
        machine.wait()
    if status is None:
        why = f"was not done after {limit_s:g} s" if timed_out else f"ended early (QEMU's status {machine.returncode})"
        print(f"the emulated machine {why}", file=sys.stderr)
        return 1
    return status


def main() -> int:
    """See the module."""
    parser = argparse.ArgumentParser(description="The verbs transport over soft-RoCE in an emulated machine.")
    parser.add_argument("--kernel", type=Path, help="a kernel package that is unpacked already")
    parser.add_argument("--limit", type=float, default=LIMIT_S, help="seconds for the emulated machine")
    parser.add_argument("checks", nargs="*", help="only the checks with these words in their names")
    options = parser.parse_args()
    # So that the folder and the machine are cleaned up, in the background of a shell, too.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    signal.signal(signal.SIGINT, lambda *_: sys.exit(130))
    try:
        check_needs()
        with tempfile.TemporaryDirectory(prefix="stellwerk-rdma-") as name:
            folder = Path(name)
            kernel = options.kernel.resolve() if options.kernel else fetch_kernel(folder)
            version = version_of(kernel)
            image = make_initramfs(folder, kernel, version, options.checks)
            print(f"booting {version} in QEMU", flush=True)
            return boot(kernel, version, image, options.limit)
    except Missing as error:
        print(f"make test-rdma: {error}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
