"""A process of the command that answers one request after the other. cmd/amudai/internal/session in the repository describes what
is said. On Linux, batches are in memory that both processes have, and nothing is copied."""

from __future__ import annotations

import atexit
import contextlib
import json
import mmap
import os
import struct
import subprocess
import sys
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any

import pyarrow as pa

from amudai import _process

# A pipe of Linux holds 64 KiB by default. A larger one means fewer switches between the processes.
PIPE_BYTES = 1 << 20

# Seconds that a process waits for another request.
IDLE = 5.0

shares = sys.platform == "linux" and hasattr(os, "memfd_create")


class _Memory:
    """A file in memory that a process puts the buffers of batches into, and a pipe to tell it which it may overwrite."""

    def __init__(self) -> None:
        self._file = _descriptor(os.memfd_create("amudai", os.MFD_CLOEXEC))
        answers, self._answers = os.pipe()
        answers = _descriptor(answers)
        self.descriptors = (self._file, answers)
        self.variable = {"AMUDAI_SHARED_MEMORY": f"{self._file},{answers}"}
        self._mapped: pa.Buffer | None = None  # the whole file
        self._number = 0  # of the next body
        self._kept: set[int] = set()  # numbers of bodies that buffers refer to
        self._copied = 0  # bodies with smaller numbers that are kept may be those of copies of this process
        self._closed = False
        # Arrays end in any thread, and while the collector has interrupted this one.
        self._lock = threading.RLock()
        _process.note(self)

    def body(self, size: int) -> pa.Buffer:
        """The body of the next message. The process may overwrite it when nothing refers to the buffer any more."""
        if self._mapped is None or self._mapped.size < size:
            self._mapped = pa.py_buffer(mmap.mmap(self._file, size, mmap.MAP_SHARED, mmap.PROT_READ))
        self._kept.add(self._number)
        lease = _Lease(self, self._number, self._mapped)
        self._answer(2 * self._number)
        self._number += 1
        return pa.foreign_buffer(self._mapped.address, size, base=lease)

    def ended(self, number: int) -> None:
        """Nothing in this process refers to a body any more."""
        self._kept.discard(number)
        if number >= self._copied:
            self._answer(2 * number + 1)

    def _answer(self, number: int) -> None:
        with self._lock, contextlib.suppress(OSError):  # the process may have ended
            if not self._closed:
                os.write(self._answers, struct.pack("<Q", number))

    @property
    def copied(self) -> bool:
        """Whether bodies are never returned, as copies of this process refer to them."""
        return self._copied > 0

    def before_fork(self) -> None:
        """The copy refers to what is kept, too."""
        if self._kept:
            self._copied = self._number

    def after_fork(self) -> None:
        """Closes what belongs to the other process."""
        self._lock = threading.RLock()
        self.close()

    def close(self) -> None:
        """Ends the conversation. Buffers keep their memory."""
        with self._lock:
            if not self._closed:
                self._closed = True
                for descriptor in (*self.descriptors, self._answers):
                    os.close(descriptor)


def _descriptor(opened: int) -> int:
    """A descriptor that a process can be given beside stdin, stdout and stderr, whose numbers are free if they were closed."""
    if opened > 2:
        return opened
    import fcntl  # which Windows lacks

    try:
        return fcntl.fcntl(opened, fcntl.F_DUPFD_CLOEXEC, 3)
    finally:
        os.close(opened)


class _Lease:
    """Keeps the memory of a body while arrays refer to it."""

    def __init__(self, memory: _Memory, number: int, mapped: pa.Buffer) -> None:
        self._memory, self._number, self._mapped = memory, number, mapped

    def __del__(self) -> None:
        self._memory.ended(self._number)


class Session:
    """A process, and its answer to one request at a time, which is a file of pyarrow."""

    closed = False

    def __init__(self, environment: dict[str, str]) -> None:
        self._memory: _Memory | None = None
        if shares:
            with contextlib.suppress(OSError):  # memfd_create may be forbidden: batches come through the pipe then
                self._memory = _Memory()
        try:
            self._process = _process.Process(
                ["session"],
                stdout=subprocess.PIPE,
                pipesize=PIPE_BYTES,
                pass_fds=self._memory.descriptors if self._memory else (),
                env={**environment, **(self._memory.variable if self._memory else {})},
                # Ctrl-C is for this process, which ends the other one if it waits for it.
                start_new_session=os.name == "posix",
                creationflags=getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0),
            )
        except BaseException:
            self._close()
            raise
        assert self._process.stdin and self._process.stdout
        self._requests: IO[bytes] = self._process.stdin
        self._answers: IO[bytes] = self._process.stdout

    def request(self, arguments: list[str], stdin: bytes = b"", versions: Mapping[str, str] | None = None) -> None:
        """Makes a request after the end of the one before. Inputs with other versions than some are an error."""
        self._left = 0  # bytes of output in the pipe
        self._body: pa.Buffer | None = None  # behind it
        self.outcome: tuple[int, str] | None = None  # at the end: the exit status and stderr
        request = {"arguments": arguments, "stdin": len(stdin), "versions": versions or {}}
        line = json.dumps(request).encode() + b"\n"
        for part in (line, stdin):
            view = memoryview(part)
            while view:
                view = view[self._requests.write(view) :]

    @property
    def usable(self) -> bool:
        """Whether it can take another request. Memory that copies of this process refer to is only given back by the end."""
        return self._process.poll() is None and not (self._memory and self._memory.copied)

    @property
    def foreign(self) -> bool:
        """Whether this is the copy that a fork has made: the process answers another one."""
        return self._process.foreign

    def read(self, size: int) -> pa.Buffer | bytes:
        """Output of the command."""
        if size == 0 or self._left == 0 and self._body is None and not self._next():
            return b""
        if self._left == 0:
            # pyarrow reads a body at once.
            body = self._body
            assert body
            self._body = body.slice(size) if body.size > size else None
            return body.slice(0, size)
        # A buffer of Arrow's memory pool, which keeps memory, and no object that Python fills with zeros.
        buffer = pa.allocate_buffer(size)
        view = memoryview(buffer).cast("B")
        done = 0
        while done < size and (self._left > 0 or self._body is None and self._next()):
            n = min(self._left, size - done)
            self._fill(view[done : done + n])
            done += n
            self._left -= n
        return buffer if done == size else buffer.slice(0, done)

    def read_all(self) -> bytes:
        """The rest of the output."""
        parts = []
        while (part := self.read(1 << 16)) != b"":
            parts.append(bytes(part))
        return b"".join(parts)

    def _next(self) -> bool:
        """Goes on to the next frame, or to the end of the answer."""
        if self.outcome is not None:
            return False
        head = bytearray(16)
        self._fill(memoryview(head))
        first, second = struct.unpack("<QQ", head)
        if first == 0:
            end = bytearray(second)
            self._fill(memoryview(end))
            outcome = json.loads(end)
            self.outcome = outcome["status"], outcome["stderr"]
            return False
        self._left = first
        if second and self._memory:
            self._body = self._memory.body(second)
        return True

    def _fill(self, view: memoryview) -> None:
        while view:
            n = self._answers.readinto(view)  # type: ignore[attr-defined]
            if not n:
                raise EOFError("amudai has ended")
            view = view[n:]

    def interrupt(self, patience: float) -> None:
        """Has the command end as after Ctrl-C, for which it may take some seconds."""
        if not self.foreign:
            self._process.interrupt(patience)

    def end(self, patience: float = 0) -> tuple[int, str]:
        """Ends the process, which may end by itself for some seconds. Returns its exit status and what it wrote to stderr."""
        if self.foreign:
            return 0, ""
        self._requests.close()  # it frees memory that buffers of the same file would keep
        if patience:
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(patience)
        self._process.kill()
        outcome = self._process.outcome()
        self._answers.close()
        self._close()
        return outcome

    def _close(self) -> None:
        if self._memory:
            self._memory.close()

    def readable(self) -> bool:
        return True

    def writable(self) -> bool:
        return False

    def seekable(self) -> bool:
        return False

    def close(self) -> None:
        """Of pyarrow's file: the session goes on."""


class _Idle:
    """The session that has no request, if there is one. It ends after a while, or when the environment of a process has
    to be another one."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._session: Session | None = None
        self._of: Any = None
        self._timer: threading.Timer | None = None

    def take(self) -> tuple[Session, Any]:
        """A session, and what to put it back with."""
        environment = dict(os.environ)
        of = (_process.program(), _folder(), environment)
        with self._lock:
            session, fits = self._session, self._of == of
            self._session = None
            self._stop()
        if session and fits and session.usable:
            return session, of
        if session:
            session.end(_process.PATIENCE)
        return Session(environment), of

    def put(self, session: Session, of: Any) -> None:
        """Keeps a session that has answered."""
        with self._lock:
            before, self._session, self._of = self._session, session, of
            self._stop()
            self._timer = threading.Timer(IDLE, self.clear)
            self._timer.daemon = True
            self._timer.start()
        if before:
            before.end(_process.PATIENCE)

    def clear(self) -> None:
        """Ends the session."""
        with self._lock:
            session, self._session = self._session, None
            self._stop()
        if session:
            session.end(_process.PATIENCE)

    def _stop(self) -> None:
        if self._timer:
            self._timer.cancel()
            self._timer = None

    def before_fork(self) -> None:
        """The session does not change."""

    def after_fork(self) -> None:
        """The session is the other process's."""
        self.__init__()  # type: ignore[misc]


def _folder() -> Path | None:
    """The working directory, if it still exists."""
    try:
        return Path.cwd()
    except FileNotFoundError:
        return None


idle = _Idle()
atexit.register(idle.clear)
_process.note(idle)
