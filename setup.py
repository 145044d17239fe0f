"""What pyproject.toml cannot say: plain C shared libraries, left out where there is no compiler."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

from setuptools import Extension, setup
from setuptools.command.bdist_wheel import bdist_wheel
from setuptools.command.build_ext import build_ext

ROOT = Path(__file__).resolve().parent
# By itself, as a file: what the package needs is not installed yet.
_spec = importlib.util.spec_from_file_location("stellwerk_native", ROOT / "core" / "stellwerk" / "native.py")
assert _spec is not None and _spec.loader is not None
native = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(native)


def _module(library: Any) -> str:
    """Where the library goes, as the name of a module."""
    return ".".join([*library.folder.relative_to(ROOT / "core").parts, library.name])


def _extension(library: Any) -> Extension:
    folder = library.folder.relative_to(ROOT)
    depends = [*(str(folder / header) for header in library.headers()), "core/stellwerk/native.py"]
    return Extension(_module(library), sources=[str(folder / source) for source in library.sources], depends=depends)


class BuildLibrary(build_ext):
    """Builds a library that ctypes loads: no Python ABI in it, so no ABI in its name either."""

    def get_ext_filename(self, fullname: str) -> str:
        return str(Path(*fullname.split(".")).with_suffix(".so"))

    def build_extension(self, ext: Extension) -> None:
        target = Path(self.get_ext_fullpath(ext.name))
        (library,) = (each for each in native.LIBRARIES if _module(each) == ext.name)
        try:
            library.compile(target)
        except (native.NoCompiler, RuntimeError) as error:
            self.warn(f"the native library {target.name} is left out, its work will be slower: {error}")

    def get_outputs(self) -> list[str]:
        return [path for path in super().get_outputs() if Path(path).exists()]

    def copy_extensions_to_source(self) -> None:
        """Editable install: compile straight into the source tree, or leave it out."""
        for ext in self.extensions:
            built = Path(self.build_lib, self.get_ext_filename(ext.name))
            if built.exists():
                self.copy_file(str(built), str(Path("core", self.get_ext_filename(ext.name))))


class PlatformWheel(bdist_wheel):
    """The wheel holds a machine's library but works with every Python 3."""

    def get_tag(self) -> tuple[str, str, str]:
        platform: Any = super().get_tag()[2]
        return "py3", "none", platform


setup(
    ext_modules=[_extension(library) for library in native.LIBRARIES],
    cmdclass={"build_ext": BuildLibrary, "bdist_wheel": PlatformWheel},
)
