"""The examples of docs/python.md print what the page says."""

from __future__ import annotations

import doctest
import re
import shutil
from pathlib import Path

from amudai import _command

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
