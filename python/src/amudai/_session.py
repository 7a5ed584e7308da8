"""A process of the command that answers one request after the other. internal/command/session in the repository describes what
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
import tempfile
import threading
from pathlib import Path
from typing import IO, Any

import pyarrow as pa

# A pipe of Linux holds 64 KiB by default. A larger one means fewer switches between the processes.
PIPE_BYTES = 1 << 20

# Seconds that a process waits for another request.
IDLE = 5.0

# Seconds that a process may take to end.
PATIENCE = 2.0

shares = sys.platform == "linux" and hasattr(os, "memfd_create")


class _Memory:
    """A file in memory that a process puts the buffers of batches into, and a pipe to tell it which it may overwrite."""

    def __init__(self) -> None:
        self._file = os.memfd_create("amudai", os.MFD_CLOEXEC)
        answers, self._answers = os.pipe()
        self.descriptors = (self._file, answers)
        self.variable = {"AMUDAI_SHARED_MEMORY": f"{self._file},{answers}"}
        self._mapped: pa.Buffer | None = None  # the whole file
        self._number = 0  # of the next body
        self._closed = False
        # Arrays end in any thread, and while the collector has interrupted this one.
        self._lock = threading.RLock()

    def body(self, size: int) -> pa.Buffer:
        """The body of the next message. The process may overwrite it when nothing refers to the buffer any more."""
        if self._mapped is None or self._mapped.size < size:
            self._mapped = pa.py_buffer(mmap.mmap(self._file, size, mmap.MAP_SHARED, mmap.PROT_READ))
        lease = _Lease(self, self._number, self._mapped)
        self._answer(2 * self._number)
        self._number += 1
        return pa.foreign_buffer(self._mapped.address, size, base=lease)

    def ended(self, number: int) -> None:
        """Nothing refers to a body any more."""
        self._answer(2 * number + 1)

    def _answer(self, number: int) -> None:
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
    """Keeps the memory of a body while arrays refer to it."""

    def __init__(self, memory: _Memory, number: int, mapped: pa.Buffer) -> None:
        self._memory, self._number, self._mapped = memory, number, mapped
        self._process = os.getpid()

    def __del__(self) -> None:
        if self._process == os.getpid():  # not the copy of a fork
            self._memory.ended(self._number)


class Session:
    """A process, and its answer to one request at a time, which is a file of pyarrow."""

    closed = False

    def __init__(self, program: str, environment: dict[str, str]) -> None:
        self._memory = _Memory() if shares else None
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115
        self._owner = os.getpid()
        try:
            self._process = subprocess.Popen(
                [program, "session"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._errors,
                bufsize=0,
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

    def request(self, arguments: list[str], stdin: bytes = b"") -> None:
        """Makes a request after the end of the one before."""
        self._left = 0  # bytes of output in the pipe
        self._body: pa.Buffer | None = None  # behind it
        self.outcome: tuple[int, str] | None = None  # at the end: the exit status and stderr
        line = json.dumps({"arguments": arguments, "stdin": len(stdin)}).encode() + b"\n"
        for part in (line, stdin):
            view = memoryview(part)
            while view:
                view = view[self._requests.write(view) :]

    @property
    def running(self) -> bool:
        return self._process.poll() is None

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

    def end(self, patience: float = 0) -> tuple[int, str]:
        """Ends the process, which may end by itself for some seconds. Returns its exit status and what it wrote to stderr."""
        if self._owner != os.getpid():  # the copy of a fork
            return 0, ""
        self._requests.close()  # it frees memory that buffers of the same file would keep
        if patience:
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(patience)
        self._process.kill()
        status = self._process.wait()
        self._answers.close()
        self._errors.seek(0)
        text = self._errors.read().decode("utf-8", "replace")
        self._close()
        return status, text

    def forget(self) -> None:
        """Closes the copies that a fork has made."""
        self._requests.close()
        self._answers.close()
        self._close()

    def _close(self) -> None:
        self._errors.close()
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

    def take(self, program: str) -> tuple[Session, Any]:
        """A session, and what to put it back with."""
        environment = dict(os.environ)
        of = (program, Path.cwd(), environment)
        with self._lock:
            session, fits = self._session, self._of == of
            self._session = None
            self._stop()
        if session and fits and session.running:
            return session, of
        if session:
            session.end(PATIENCE)
        return Session(program, environment), of

    def put(self, session: Session, of: Any) -> None:
        """Keeps a session that has answered."""
        with self._lock:
            before, self._session, self._of = self._session, session, of
            self._stop()
            self._timer = threading.Timer(IDLE, self.clear)
            self._timer.daemon = True
            self._timer.start()
        if before:
            before.end(PATIENCE)

    def clear(self) -> None:
        """Ends the session."""
        with self._lock:
            session, self._session = self._session, None
            self._stop()
        if session:
            session.end(PATIENCE)

    def _stop(self) -> None:
        if self._timer:
            self._timer.cancel()
            self._timer = None

    def forget(self) -> None:
        """In the copy of a fork, the session is the other process's."""
        if self._session:
            self._session.forget()
        self.__init__()  # type: ignore[misc]


idle = _Idle()
atexit.register(idle.clear)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=idle.forget)
