"""What the library needs: nothing but Python."""

from __future__ import annotations

import subprocess
import sys


def test_neither_numpy_nor_torch_is_imported_by_the_library_itself() -> None:
    program = (
        "import sys, array, socket; from stellwerk.collectives import Communicator;"
        "listener = socket.create_server(('127.0.0.1', 0));"
        "c = Communicator.connect(0, 1, 'tcp://127.0.0.1:1', listener=listener);"
        "a = array.array('f', [3.0]); c.all_reduce(a); c.close(); assert a[0] == 3;"
        "print(sorted({'numpy', 'torch'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False, timeout=60)
    assert done.stdout.strip() == "[]", done.stderr
