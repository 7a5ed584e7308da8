"""The examples of docs/python.md, and the commands of docs/engines.md, print what the pages say."""

from __future__ import annotations

import doctest
import os
import re
import shutil
import subprocess
from pathlib import Path

import pyarrow as pa

import amudai
from amudai import _command, _process

REPOSITORY = Path(__file__).parent.parent.parent


def test_examples(folder: Path) -> None:
    _command.run(["demo", "--keep", "."])  # flights.parquet, as in the page
    shutil.copytree(REPOSITORY / "testdata", "testdata")
    page = (REPOSITORY / "docs" / "python.md").read_text(encoding="utf-8")
    blocks = [b for b in re.findall(r"^```python\n(.*?)^```$", page, re.DOTALL | re.MULTILINE) if b.startswith(">>> ")]
    assert len(blocks) > 5
    test = doctest.DocTestParser().get_doctest("\n".join(blocks), {}, "docs/python.md", None, None)
    failed: list[str] = []
    doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(test, out=failed.append)
    assert failed == [], "".join(failed)


def test_commands_of_engines(folder: Path) -> None:
    _command.run(["demo", "--keep", "."])
    amudai.write(amudai.open("flights.parquet").scan(), "flights.amudai.shard", stripe_rows=25_000)
    amudai.write(pa.table({"line": ["started", "failed"], "size": [1, 2]}), "lines.amudai.shard")
    (folder / "bin").mkdir()
    (folder / "bin" / "amudai").symlink_to(_process.program())
    page = (REPOSITORY / "docs" / "engines.md").read_text(encoding="utf-8")
    section = page.split("## An engine of your own\n")[1]

    def shell(line: str) -> bytes:
        path = f"{folder / 'bin'}{os.pathsep}{os.environ['PATH']}"
        return subprocess.run(["sh", "-c", line], check=True, stdout=subprocess.PIPE, env={**os.environ, "PATH": path}).stdout

    alone = re.findall(r"^    (amudai .*)$", section, re.MULTILINE)
    assert len(alone) == 3
    assert all(len(shell(line)) > 100 for line in alone)
    (session,) = re.findall(r"^```console\n(.*?)^```$", section, re.DOTALL | re.MULTILINE)
    printed = "".join(f"$ {line[2:]}\n{shell(line[2:]).decode()}" for line in session.splitlines() if line.startswith("$ "))
    assert printed == session
