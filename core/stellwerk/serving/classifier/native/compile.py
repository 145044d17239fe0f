"""The library of the scan loop, under the names by which the scanner asks for it."""

from __future__ import annotations

from stellwerk.native import DIFFICULTY, NoCompiler

__all__ = ["HERE", "LIBRARY", "NoCompiler", "compile_library", "source_digest"]

HERE = DIFFICULTY.folder
LIBRARY = DIFFICULTY.file
source_digest = DIFFICULTY.source_digest
compile_library = DIFFICULTY.compile
