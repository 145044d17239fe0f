"""The library needs no Qt, a desktop no torch, and the start of the command line nothing heavy."""

from __future__ import annotations

import subprocess
import sys

IMPORT_ALL = """
import importlib, pkgutil, sys

class Blocked:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in {blocked!r}:
            raise ModuleNotFoundError(f"{{name}} is blocked", name=name)

sys.meta_path.insert(0, Blocked())
import stellwerk
failed = []
for module in pkgutil.walk_packages(stellwerk.__path__, "stellwerk."):
    # Shared libraries lie beside the code, for this machine and for others; they are no modules.
    if module.name.endswith("__main__") or module.name.split(".")[-1].startswith("lib") or module.name in {needs!r}:
        continue
    try:
        importlib.import_module(module.name)
    except ModuleNotFoundError as error:
        failed.append(f"{{module.name}}: {{error}}")
sys.exit("\\n".join(failed) or 0)
"""

# These are what torch and numpy are for; nothing else imports them.
NEED_MORE = {
    "stellwerk.collectives.torch_backend",
    "stellwerk.collectives.torch_tensors",
    "stellwerk.measure.decode_ranks",
    "stellwerk.measure.reference",
    "stellwerk.measure.training_ranks",
    "stellwerk.serving.classifier.linear",
    "stellwerk.serving.classifier.training",
}


def run(code: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=100)


def test_all_of_core_imports_without_qt_and_graphs() -> None:
    done = run(IMPORT_ALL.format(blocked={"PySide6", "shiboken6", "pyqtgraph"}, needs=set()))
    assert done.returncode == 0, done.stderr


def test_all_of_core_but_training_and_the_torch_backend_imports_without_torch_and_numpy() -> None:
    blocked = {"PySide6", "pyqtgraph", "torch", "mpi4py", "numpy"}
    done = run(IMPORT_ALL.format(blocked=blocked, needs=NEED_MORE))
    assert done.returncode == 0, done.stderr


def test_help_imports_neither_torch_nor_qt_nor_numpy() -> None:
    code = (
        "import sys; from stellwerk.cli.main import cli\n"
        "try: cli(['--help'], standalone_mode=True)\n"
        "except SystemExit: pass\n"
        "heavy = {'torch', 'PySide6', 'numpy', 'pyqtgraph'} & set(sys.modules)\n"
        "sys.exit(f'imported at start: {heavy}' if heavy else 0)"
    )
    done = run(code)
    assert done.returncode == 0, done.stderr
