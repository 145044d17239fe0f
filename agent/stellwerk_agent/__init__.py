"""What runs on a node: standard library only, Python 3.10 or newer."""

from stellwerk import __version__ as __version__
