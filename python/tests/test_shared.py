"""Batches in memory that the command writes."""

from __future__ import annotations

import gc
import os
import random
import threading

import pyarrow as pa
import pytest
from conftest import same

import amudai
from amudai import _shared


def test_batches_that_are_kept(shard: str, table: pa.Table) -> None:
    """What is kept does not change while others come, whoever ends them, and stays after the reader."""
    draw = random.Random(3)
    opened = amudai.open([shard] * 10)
    kept: dict[int, pa.RecordBatch] = {}
    first = 0
    for batch in opened.scan():
        kept[first] = batch
        first += batch.num_rows
        if len(kept) > 4:
            ended = kept.pop(draw.choice(list(kept)))
            thread = threading.Thread(target=ended.__class__.slice, args=(ended, 0))
            thread.start()
            thread.join()
    assert first == 10 * table.num_rows
    del opened
    gc.collect()
    for first, batch in kept.items():
        at = first % table.num_rows
        assert same(pa.Table.from_batches([batch]), table.slice(at, batch.num_rows))


@pytest.mark.skipif(not _shared.available, reason="no shared memory")
def test_pipe(shard: str, table: pa.Table, monkeypatch: pytest.MonkeyPatch) -> None:
    """On other systems, batches come through a pipe."""
    monkeypatch.setattr(_shared, "available", False)
    opened = amudai.open(shard)
    assert same(opened.to_arrow(), table)
    assert opened.take([5, 1]).column("row").to_pylist() == [5, 1]
    with pytest.raises(amudai.AmudaiError, match="nothing"):
        opened.to_arrow(where="nothing = 1")


@pytest.mark.skipif(not _shared.available, reason="no shared memory")
def test_descriptors(shard: str) -> None:
    """Scans leave no descriptor open, and no memory mapped."""

    def state() -> tuple[int, int]:
        gc.collect()
        with open("/proc/self/maps") as maps:  # noqa: PTH123
            return len(os.listdir("/proc/self/fd")), sum("memfd:amudai" in line for line in maps)  # noqa: PTH208

    opened = amudai.open(shard)
    before = state()
    for _ in range(3):
        opened.to_arrow()
        opened.scan().close()
        with pytest.raises(amudai.AmudaiError):
            opened.scan(where="nothing = 1")
    assert state() == before
