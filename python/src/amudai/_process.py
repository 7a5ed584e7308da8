"""Processes of the command. Those of a process are not those of its copy after a fork (os.fork, multiprocessing)."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import sys
import threading
import weakref
from functools import cache
from pathlib import Path
from typing import Any, Protocol

# Seconds that a process may take to end.
PATIENCE = 2.0

# Held while a process is made and noted, so that a fork copies both or neither.
_lock = threading.RLock()


class Forked(Protocol):
    """What a fork must not leave in common."""

    def before_fork(self) -> None:
        """Runs in the process that forks."""

    def after_fork(self) -> None:
        """Runs in the copy. It closes descriptors, and leaves alone what is behind them."""


_forked: weakref.WeakSet[Forked] = weakref.WeakSet()


def note(thing: Forked) -> None:
    """Notes what forks have to take care of."""
    with _lock:
        _forked.add(thing)


def _before_fork() -> None:
    _lock.acquire()
    for thing in list(_forked):
        thing.before_fork()


def _after_fork() -> None:
    global _lock
    _lock = threading.RLock()
    for thing in list(_forked):
        thing.after_fork()


if hasattr(os, "register_at_fork"):
    # The copy has no other thread that could have the lock.
    os.register_at_fork(before=_before_fork, after_in_parent=lambda: _lock.release(), after_in_child=_after_fork)


class AmudaiError(Exception):
    """An error of the command, with its message: an input that does not exist or is damaged, an unknown column or flag, a wrong
    condition, an output that exists. Flags in the hint of a message are keywords here: ``--force`` is ``force=True``."""

    __module__ = "amudai"


class ChangedError(AmudaiError):
    """A file is not the version that was opened, or another writer has changed a shard at the same time. Nothing was changed:
    open the table again."""

    __module__ = "amudai"


@cache
def program() -> str:
    """The path of the command: ``AMUDAI_PROGRAM``, that of the wheel, or the one on ``PATH``."""
    if chosen := os.environ.get("AMUDAI_PROGRAM"):
        return chosen
    name = "amudai.exe" if sys.platform == "win32" else "amudai"
    packed = Path(__file__).parent / "bin" / name
    if packed.is_file():
        if not os.access(packed, os.X_OK):
            with contextlib.suppress(OSError):  # the start says why
                packed.chmod(0o755)  # not every installer keeps modes
        return str(packed)
    if found := shutil.which(name):
        return found
    raise AmudaiError("this installation has no command amudai: set AMUDAI_PROGRAM to its path")


class Process(subprocess.Popen[bytes]):
    """A process of the command with pipes that have no buffers. A thread reads stderr, so that it needs no temporary file."""

    def __init__(self, arguments: list[str], **options: Any) -> None:
        path = program()
        with _lock:
            try:
                super().__init__([path, *arguments], bufsize=0, stdin=subprocess.PIPE, stderr=subprocess.PIPE, **options)
            except OSError as e:
                if e.filename != path:
                    raise  # too many processes or open files
                hint = "set AMUDAI_PROGRAM to the command amudai on a file system that allows programs, for this platform"
                raise AmudaiError(f"{path} cannot be run: {e.strerror} (hint: {hint})") from e
            _forked.add(self)
        self._owner = os.getpid()
        self._parts: list[bytes] = []
        self._thread = threading.Thread(target=self._listen, daemon=True)
        self._thread.start()

    def _listen(self) -> None:
        assert self.stderr
        with self.stderr:
            while part := self.stderr.read(1 << 16):
                self._parts.append(part)

    def interrupt(self, patience: float) -> None:
        """Has the process end as after Ctrl-C, for which it may take some seconds."""
        self.terminate()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.wait(patience)

    @property
    def foreign(self) -> bool:
        """Whether this is the copy that a fork has made."""
        return self._owner != os.getpid()

    def before_fork(self) -> None:
        """The process does not change."""

    def after_fork(self) -> None:
        """Closes the ends of the pipes."""
        for pipe in (self.stdin, self.stdout, self.stderr):
            if pipe:
                pipe.close()
        self.returncode = 0  # nobody here waits for it

    def outcome(self) -> tuple[int, str]:
        """Waits for the end, and returns the exit status and stderr."""
        status = self.wait()
        if self._thread is not threading.current_thread():  # in which the collector may end a reader
            self._thread.join(PATIENCE)
        return status, b"".join(self._parts).decode("utf-8", "replace")
