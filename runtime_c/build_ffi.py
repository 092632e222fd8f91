"""Write the C source of the extension module ``tallymark._runtime``.

The declarations are cut from the public headers between ``/* cffi:begin */`` and ``/* cffi:end */``, so
that C and Python read the same text. Usage: ``python build_ffi.py OUTPUT.c HEADER.h...``
"""

from __future__ import annotations

import sys
from pathlib import Path

from cffi import FFI

BEGIN, END = "/* cffi:begin */", "/* cffi:end */"


def declarations(header: str) -> str:
    """The part of the header between the marks, each of which must be there exactly once."""
    if header.count(BEGIN) != 1 or header.count(END) != 1:
        sys.exit(f"build_ffi.py: the header must hold {BEGIN} and {END} exactly once")
    return header.split(BEGIN)[1].split(END)[0]


def main(output: Path, headers: list[Path]) -> None:
    """Read the headers and write the module's C source beside the build."""
    ffi = FFI()
    for header in headers:
        ffi.cdef(declarations(header.read_text(encoding="utf-8")))
    includes = "\n".join(f'#include "{header.name}"' for header in headers)
    ffi.set_source("tallymark._runtime", includes, py_limited_api=True)
    ffi.emit_c_code(str(output))


if __name__ == "__main__":
    main(Path(sys.argv[1]), [Path(name) for name in sys.argv[2:]])
