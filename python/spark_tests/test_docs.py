"""The examples of docs/engines.md print what the page says."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from amudai import _command

PAGE = Path(__file__).parent.parent.parent / "docs" / "engines.md"


def test_examples(spark: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    shard = tmp_path / "flights.amudai.shard"
    _command.run(["demo", "--keep", str(tmp_path)])
    _command.run(["convert", str(tmp_path / "flights.parquet"), str(shard), "--stripe-rows", "25000", "-q"])
    section = PAGE.read_text(encoding="utf-8").split("## Spark\n")[1].split("\n## ")[0]
    for name in [shard.name, "late"]:  # workers have another working directory
        section = section.replace(f'"{name}"', repr(str(tmp_path / name)))
    shown, counted = re.findall(r"^```python\n(.*?)^```$", section, re.DOTALL | re.MULTILINE)
    names = {"spark": spark}
    exec(shown, names)
    lines = re.findall(r"^    ([+|].*)$", section, re.MULTILINE)
    assert sorted(filter(None, capsys.readouterr().out.splitlines())) == sorted(lines)  # Sail's rows have no order
    *before, last = ast.parse(counted).body
    exec(compile(ast.Module(before, []), str(PAGE), "exec"), names)
    assert isinstance(last, ast.Expr)
    said = re.search(r"# (\d+)$", counted.rstrip())
    assert said and eval(compile(ast.Expression(last.value), str(PAGE), "eval"), names) == int(said[1])


if os.environ.get("AMUDAI_ENGINE") == "sail":

    def test_sail(tmp_path: Path) -> None:
        """A process of its own starts a server as the page says, and reads a table by it."""
        (tmp_path / "t.csv").write_text("n\n1\n2\n3\n")
        section = PAGE.read_text(encoding="utf-8").split("## Sail\n")[1].split("\n## ")[0]
        (shown,) = re.findall(r"^```python\n(.*?)^```$", section, re.DOTALL | re.MULTILINE)
        read = f"print(spark.read.format('amudai').load({str(tmp_path / 't.csv')!r}).where('n > 1').count())"
        code = f"{shown}\n{read}\nspark.stop()\nserver.stop()"
        path = str(Path(_command.__file__).parent.parent)
        environment = {**os.environ, "AMUDAI_PROGRAM": _command.program(), "PYTHONPATH": path, "PYSPARK_PYTHON": sys.executable}
        assert subprocess.check_output([sys.executable, "-c", code], env=environment) == b"2\n"
