"""Runs the command amudai, which reads and writes tables, and talks Arrow IPC streams with it."""

from __future__ import annotations

import contextlib
import io
import json
import os
import subprocess
import sys
import weakref
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NoReturn

import pyarrow as pa

from amudai import _categories, _process, _session
from amudai._process import AmudaiError, ChangedError, program

# Flags of which each value is one of its own. Values of others are separated by commas.
REPEATED = ("null", "true", "false", "roots")

# The exit status of the command if something was changed meanwhile.
CHANGED = 4

# Seconds that a command which changes something may take to end after Ctrl-C.
PATIENCE = 10.0

Locations = str | os.PathLike[str] | Iterable[str | os.PathLike[str]]


def main() -> None:
    """Runs the command in place of Python; installed as the script ``amudai``."""
    argv = [program(), *sys.argv[1:]]
    if sys.platform == "win32":
        sys.exit(subprocess.run(argv).returncode)
    os.execv(argv[0], argv)


def locations(inputs: Locations) -> list[str]:
    """One location or several as texts. A minus alone would be stdin, which belongs to Python."""
    paths: Iterable[Any] = [inputs] if isinstance(inputs, str | os.PathLike) else inputs
    out = [os.fspath(p) for p in paths]
    for path in out:
        if not isinstance(path, str):
            raise TypeError(f"a location is a str or a path, not {type(path).__name__}")
        if path == "-":
            raise ValueError("- is no location; pass data to amudai.write")
    if not out:
        raise ValueError("no location")
    # A leading minus would be a flag.
    return [f"./{p}" if p.startswith("-") else p for p in out]


def flags(options: Mapping[str, object]) -> list[str]:
    """Keywords as flags: ``stripe_rows=1000`` is ``--stripe-rows=1000``, True is the flag alone, None and False are none."""
    out: list[str] = []
    for name, value in options.items():
        flag = "--" + name.rstrip("_").replace("_", "-")
        if value is True:
            out.append(flag)
        elif isinstance(value, list | tuple) and name.rstrip("_") in REPEATED:
            out += [f"{flag}={v}" for v in value]
        elif isinstance(value, list | tuple):
            out.append(f"{flag}={','.join(quoted(str(v)) for v in value)}")
        elif value is not None and value is not False:
            out.append(f"{flag}={value}")
    return out


def quoted(name: str) -> str:
    """A name in a list that commas separate."""
    return '"' + name.replace('"', '""') + '"' if set(name) & set(',"') or name != name.strip() or not name else name


def error(status: int, text: str) -> AmudaiError:
    """The error of a process by its exit status and what it wrote to stderr."""
    lines = text.strip().splitlines()
    # Notes come before the error.
    start = max((i for i, line in enumerate(lines) if line.startswith("amudai: ")), default=0)
    message = "\n".join(lines[start:]).removeprefix("amudai: ")
    if message.startswith('unknown command "session"'):
        message = "the command amudai is older than this package: both have to be of one version"
    kind = ChangedError if status == CHANGED else AmudaiError
    return kind(message or f"amudai ended with status {status}")


def run(
    arguments: list[str], versions: Mapping[str, str] | None = None, stdin: bytes = b"", patience: float = 0, fine: int = 0
) -> bytes:
    """Runs the command and returns what it prints. Inputs with other versions than some are an error, and so is an exit status
    but 0 and fine. If it is interrupted, it may end by itself for some seconds."""
    session, of = _session.idle.take()
    try:
        session.request(arguments, stdin, versions)
        out = session.read_all()
    except BaseException as e:
        if patience:
            session.interrupt(patience)
        _end(session, e)
        raise
    outcome = session.outcome
    _session.idle.put(session, of)  # another thread may make a request from now on
    _check(outcome, out, fine)
    return out


def change(arguments: list[str], versions: Mapping[str, str] | None = None) -> dict[str, Any]:
    """Runs the command to change something, and returns what it says about that. After Ctrl-C it removes what it has begun."""
    out = json.loads(run(arguments, versions, patience=PATIENCE) or b"{}")
    out.pop("dry_run", None)
    return dict(out)


def plan(inputs: list[str], arguments: list[str], versions: Mapping[str, str] | None = None) -> dict[str, Any]:
    """The plan of reading tables: docs/engines.md describes it."""
    out: dict[str, Any] = json.loads(run(["plan", *inputs, "--json", *arguments], versions))
    return out


class Stream:
    """The batches that a request answers with. If it is closed before the last one, or nobody refers to it any more, its
    process ends. It is for one thread at a time."""

    schema: pa.Schema

    def __init__(self, arguments: list[str], versions: Mapping[str, str], stdin: bytes = b"") -> None:
        self._session, self._of = _session.idle.take()
        self.close = weakref.finalize(self, self._session.end)
        try:
            self._session.request(arguments, stdin, versions)
            self._reader = pa.ipc.open_stream(pa.PythonFile(self._session, mode="r"))
            self.schema = self._reader.schema
        except BaseException as e:
            self._failed(e)

    def __iter__(self) -> Iterator[pa.RecordBatch]:
        return self

    def __next__(self) -> pa.RecordBatch:
        if not self.close.alive:
            raise StopIteration
        if self._session.foreign:
            raise AmudaiError("this reader belongs to the process that this one is a copy of (fork): scan again here")
        try:
            return self._reader.read_next_batch()
        except StopIteration:
            pass
        except BaseException as e:
            self._failed(e)
        # The end of a stream is none of the table if the request failed after it.
        self._finish()
        raise StopIteration

    def _finish(self) -> None:
        """Leaves the session to others, and raises the error of the request if it has one."""
        try:
            self._session.read_all()
        except BaseException as e:
            self._failed(e)
        self.close.detach()
        outcome = self._session.outcome
        _session.idle.put(self._session, self._of)  # another thread may make a request from now on
        _check(outcome)

    def _failed(self, e: BaseException) -> NoReturn:
        if isinstance(e, pa.ArrowInvalid):  # a stream that ends early is the consequence of an error
            self._finish()
        elif self.close.detach():
            _end(self._session, e)
        raise e


def _end(session: _session.Session, e: BaseException) -> None:
    """Ends a session after an error, and raises that of its process if it has ended by itself."""
    if isinstance(e, EOFError | BrokenPipeError):
        raise error(*session.end(_process.PATIENCE)) from None
    session.end()


def _check(outcome: tuple[int, str] | None, out: bytes = b"", fine: int = 0) -> None:
    """Raises the error of a request."""
    status, text = outcome or (0, "")
    if status not in (0, fine):
        raise error(status, text or out.decode("utf-8", "replace"))  # verify prints what it finds


def reader(data: Any) -> pa.RecordBatchReader:
    """The batches of anything with Arrow's stream interface."""
    if isinstance(data, pa.RecordBatch):
        data = pa.Table.from_batches([data])
    return _categories.noted(data if isinstance(data, pa.RecordBatchReader) else pa.RecordBatchReader.from_stream(data))


def rows(rows: range | slice | str | None) -> str | None:
    """Rows as the flag --rows has them."""
    if rows is None or isinstance(rows, str):
        return rows
    if rows.step not in (None, 1):
        raise ValueError(f"rows: step {rows.step}; take and delete have single numbers")
    start, stop = rows.start, rows.stop
    if isinstance(rows, range):
        stop = max(start, stop)
    return f"{'' if start is None else start}:{'' if stop is None else stop}"


def feed(arguments: list[str], reader: pa.RecordBatchReader) -> None:
    """Runs the command with the batches of a reader as its stdin. If the reader fails, the process is killed before it has
    seen the end of the stream, so that it publishes nothing."""
    process = _process.Process(arguments, stdout=subprocess.DEVNULL)
    assert process.stdin
    pipe = io.BufferedWriter(process.stdin)
    try:
        sink = pa.PythonFile(pipe, mode="w")
        writer = pa.ipc.new_stream(sink, reader.schema)
        for batch in reader:
            writer.write_batch(batch)
        writer.close()
    except BrokenPipeError:
        pass  # the process has ended, and says why
    except BaseException:
        _stop(process)
        raise
    finally:
        with contextlib.suppress(OSError):  # of the process that has ended
            pipe.close()
    status, text = process.outcome()
    if status != 0:
        raise error(status, text)


def _stop(process: _process.Process) -> None:
    """Ends a process as Ctrl-C does, so that it removes what it has begun."""
    process.interrupt(PATIENCE)
    process.kill()
    process.outcome()
