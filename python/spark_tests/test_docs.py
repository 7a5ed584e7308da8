"""The examples of docs/engines.md print what the page says."""

from __future__ import annotations

import ast
import re
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
