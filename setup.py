"""What pyproject.toml cannot say: a plain C shared library, left out where there is no compiler."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

from setuptools import Extension, setup
from setuptools.command.bdist_wheel import bdist_wheel
from setuptools.command.build_ext import build_ext

NATIVE = "core/stellwerk/collectives/native"
_spec = importlib.util.spec_from_file_location("compile_native", Path(__file__).parent / NATIVE / "compile.py")
assert _spec is not None and _spec.loader is not None
native = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(native)

SCAN = "core/stellwerk/serving/classifier/native"
_scan_spec = importlib.util.spec_from_file_location("compile_scan", Path(__file__).parent / SCAN / "compile.py")
assert _scan_spec is not None and _scan_spec.loader is not None
scan = importlib.util.module_from_spec(_scan_spec)
_scan_spec.loader.exec_module(scan)


class BuildLibrary(build_ext):
    """Builds a library that ctypes loads: no Python ABI in it, so no ABI in its name either."""

    def get_ext_filename(self, fullname: str) -> str:
        return str(Path(*fullname.split(".")).with_suffix(".so"))

    def build_extension(self, ext: Extension) -> None:
        target = Path(self.get_ext_fullpath(ext.name))
        build = scan if ext.name.endswith("libdifficulty") else native
        try:
            build.compile_library(target)
        except (native.NoCompiler, scan.NoCompiler, RuntimeError) as error:
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
    ext_modules=[
        Extension(
            "stellwerk.collectives.native.libstellwerk",
            sources=[f"{NATIVE}/{source}" for source in native.SOURCES],
            depends=[f"{NATIVE}/{header}" for header in ("stellwerk.h", "internal.h", "verbs.h", "compile.py")],
        ),
        Extension(
            "stellwerk.serving.classifier.native.libdifficulty",
            sources=[f"{SCAN}/{source}" for source in scan.SOURCES],
            depends=[f"{SCAN}/compile.py"],
        ),
    ],
    cmdclass={"build_ext": BuildLibrary, "bdist_wheel": PlatformWheel},
)
