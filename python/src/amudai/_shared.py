"""Batches of the command in memory that both processes have, on Linux. It is several times as fast as a pipe, and nothing is
copied here. internal/command/share in the repository describes what is said through the pipes."""

from __future__ import annotations

import contextlib
import mmap
import os
import struct
import sys
import threading
from typing import IO

import pyarrow as pa

available = sys.platform == "linux" and hasattr(os, "memfd_create")


class Memory:
    """A file in memory that a process puts Arrow streams into, and a pipe to tell it which it may overwrite."""

    def __init__(self) -> None:
        self._file = os.memfd_create("amudai", os.MFD_CLOEXEC)
        answers, self._answers = os.pipe()
        self.descriptors = (self._file, answers)
        self.variable = {"AMUDAI_SHARED_MEMORY": f"{self._file},{answers}"}
        self._regions: dict[int, mmap.mmap] = {}
        self._closed = False
        self._lock = threading.Lock()  # arrays end in any thread

    def take(self, offset: int, length: int) -> pa.Buffer:
        """The bytes of a region. The process may overwrite them when nothing refers to the buffer any more."""
        region = self._regions.get(offset)
        if region is None or len(region) < length:
            # A region has one size all the time, in units of 2 MiB, but its last bytes may not be there yet.
            size = os.fstat(self._file).st_size - offset
            region = mmap.mmap(self._file, size, mmap.MAP_SHARED, mmap.PROT_READ, offset=offset)
            self._regions[offset] = region
        bytes_ = pa.py_buffer(region)
        self.answer(offset)
        return pa.foreign_buffer(bytes_.address, length, base=_Lease(self, offset, bytes_))

    def answer(self, number: int) -> None:
        with self._lock, contextlib.suppress(OSError):  # the process may have ended
            if not self._closed:
                os.write(self._answers, struct.pack("<Q", number))

    def close(self) -> None:
        """Ends the conversation. Buffers keep their memory."""
        with self._lock:
            if not self._closed:
                self._closed = True
                for descriptor in (*self.descriptors, self._answers):
                    os.close(descriptor)


class _Lease:
    """Keeps a region while arrays refer to it."""

    def __init__(self, memory: Memory, offset: int, buffer: pa.Buffer) -> None:
        self._memory, self._offset, self._buffer = memory, offset, buffer

    def __del__(self) -> None:
        self._memory.answer(self._offset + 1)


class Reader:
    """The batches whose places a process prints."""

    def __init__(self, memory: Memory, places: IO[bytes] | None) -> None:
        self._memory, self._places = memory, places
        stream = self._next()
        if stream is None:
            raise EOFError("no schema")
        self.schema: pa.Schema = stream.schema

    def _next(self) -> pa.RecordBatchReader | None:
        place = b""
        while len(place) < 16:
            more = self._places.read(16 - len(place))  # type: ignore[union-attr]
            if not more:
                if place:
                    raise EOFError("half of a place")
                return None
            place += more
        if place.startswith(b"\xff\xff\xff\xff"):  # an Arrow stream
            raise ValueError("the command amudai is older than this package: both have to be of one version")
        return pa.ipc.open_stream(self._memory.take(*struct.unpack("<QQ", place)))

    def read_next_batch(self) -> pa.RecordBatch:
        stream = self._next()
        if stream is None:
            raise StopIteration
        return stream.read_next_batch()
