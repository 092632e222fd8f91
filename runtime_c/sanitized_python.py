"""Make a Python that imports tallymark with the extension module of a sanitizer build, and print its path.

    python runtime_c/sanitized_python.py build/c-address

The environment stands in the build folder: the packages of the calling Python, tallymark as links to the
checkout, and the build's own ``_runtime``. A child that a test starts by ``sys.executable -I`` gets it too.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
LINKS = {"schemas": "schemas", "templates": "site/templates", "assets": "site/assets"}


def main(build: Path) -> Path:
    """The interpreter; everything is made anew."""
    folder = build / "python"
    shutil.rmtree(folder, ignore_errors=True)
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder)], check=True)
    packages = next((folder / "lib").glob("python*")) / "site-packages"
    borrowed = [path for path in sys.path if path.endswith("site-packages")]
    (packages / "borrowed.pth").write_text("".join(f"{path}\n" for path in borrowed), encoding="utf-8")
    package = packages / "tallymark"
    package.mkdir()
    for entry in (ROOT / "pipeline" / "tallymark").iterdir():
        if entry.name != "__pycache__" and not entry.name.startswith("_runtime."):
            (package / entry.name).symlink_to(entry)
    for name, target in LINKS.items():
        (package / name).symlink_to(ROOT / target)
    (module,) = build.glob("_runtime*.so")
    (package / module.name).symlink_to(module.resolve())
    return folder / "bin" / "python"


if __name__ == "__main__":
    print(main(Path(sys.argv[1]).absolute()))
