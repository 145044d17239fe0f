"""The C compiler, under the name by which the gateway's benchmark asks for it; the rest is `stellwerk.native`."""

from __future__ import annotations

from stellwerk.native import compiler

__all__ = ["compiler"]
