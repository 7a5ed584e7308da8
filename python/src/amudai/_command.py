"""Runs the command amudai, which reads and writes tables, and talks Arrow IPC streams with it."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import weakref
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import IO, Any

import pyarrow as pa

from amudai import _shared

# A pipe of Linux holds 64 KiB by default. A larger one means fewer switches between the processes.
PIPE_BYTES = 1 << 20

# Flags of which each value is one of its own. Values of others are separated by commas.
REPEATED = ("null", "true", "false")

Locations = str | os.PathLike[str] | Iterable[str | os.PathLike[str]]


class AmudaiError(Exception):
    """An error of the command, with its message: an input that does not exist or is damaged, an unknown column or flag, a wrong
    condition, an output that exists. Flags in the hint of a message are keywords here: ``--force`` is ``force=True``."""

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
            packed.chmod(0o755)  # not every installer keeps modes
        return str(packed)
    if found := shutil.which(name):
        return found
    raise AmudaiError("this installation has no command amudai: set AMUDAI_PROGRAM to its path")


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


def error(status: int, text: bytes) -> AmudaiError:
    """The error of a process by its exit status and what it wrote to stderr."""
    lines = text.decode("utf-8", "replace").strip().splitlines()
    # Notes come before the error.
    start = max((i for i, line in enumerate(lines) if line.startswith("amudai: ")), default=0)
    message = "\n".join(lines[start:]).removeprefix("amudai: ")
    return AmudaiError(message or f"amudai ended with status {status}")


def run(arguments: list[str], stdin: bytes | None = None) -> bytes:
    """Runs the command and returns what it prints."""
    done = subprocess.run(
        [program(), *arguments],
        input=stdin,
        stdin=subprocess.DEVNULL if stdin is None else None,
        capture_output=True,
    )
    if done.returncode != 0:
        raise error(done.returncode, done.stderr or done.stdout)  # verify prints what it finds
    return done.stdout


def plan(inputs: list[str], arguments: list[str]) -> dict[str, Any]:
    """The plan of reading tables: docs/engines.md describes it."""
    out: dict[str, Any] = json.loads(run(["plan", *inputs, "--json", *arguments]))
    return out


class _Pipe:
    """The readable end of a pipe as a file of pyarrow, which asks for bytes it knows the number of."""

    closed = False

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file

    def read(self, size: int) -> pa.Buffer | bytes:
        if size == 0:
            return b""
        # A buffer of Arrow's memory pool, which keeps memory, and no object that Python fills with zeros.
        buffer = pa.allocate_buffer(size)
        view = memoryview(buffer).cast("B")
        done = 0
        while done < size:
            n = self._file.readinto(view[done:])  # type: ignore[attr-defined]
            if not n:
                return buffer.slice(0, done)
            done += n
        return buffer

    def readable(self) -> bool:
        return True

    def writable(self) -> bool:
        return False

    def seekable(self) -> bool:
        return False

    def close(self) -> None:
        self.closed = True


def _end(process: subprocess.Popen[bytes], errors: IO[bytes], shared: _shared.Memory | None) -> None:
    """Ends a process that may run, and takes its status from the system."""
    if process.poll() is None:
        process.kill()
    if process.stdout:
        process.stdout.close()
    process.wait()
    errors.close()
    if shared:
        shared.close()


class Stream:
    """The batches that a process prints. It ends with the process: after the last batch, when it is closed, or when
    nobody refers to it any more. It is for one thread at a time."""

    schema: pa.Schema

    def __init__(self, arguments: list[str], stdin: bytes | None = None) -> None:
        with contextlib.ExitStack() as undo:
            errors = undo.enter_context(tempfile.TemporaryFile())
            source: Any = subprocess.DEVNULL
            if stdin is not None:
                source = undo.enter_context(tempfile.TemporaryFile())
                source.write(stdin)
                source.seek(0)
            shared = _shared.Memory() if _shared.available else None
            if shared:
                undo.callback(shared.close)
            process = subprocess.Popen(
                [program(), *arguments],
                stdin=source,
                stdout=subprocess.PIPE,
                stderr=errors,
                bufsize=0,
                pipesize=PIPE_BYTES,
                pass_fds=shared.descriptors if shared else (),
                env={**os.environ, **shared.variable} if shared else None,
            )
            undo.pop_all()
        if stdin is not None:
            source.close()
        self._process, self._errors = process, errors
        self.close = weakref.finalize(self, _end, process, errors, shared)
        try:
            self._reader = _shared.Reader(shared, process.stdout) if shared else _open(process.stdout)
            self.schema = self._reader.schema
        except BaseException as e:
            self._failed(e)

    def __iter__(self) -> Iterator[pa.RecordBatch]:
        return self

    def __next__(self) -> pa.RecordBatch:
        try:
            return self._reader.read_next_batch()
        except StopIteration:
            pass
        except BaseException as e:
            self._failed(e)
        # The end of a stream is none of the table if the process failed after it.
        if self.close.alive:
            status, text = self._outcome()
            if status != 0:
                raise error(status, text)
        raise StopIteration

    def _outcome(self) -> tuple[int, bytes]:
        """Waits for the process, and returns its status and what it wrote to stderr."""
        self._process.stdout.close()  # type: ignore[union-attr]
        status = self._process.wait()
        self._errors.seek(0)
        text = self._errors.read()
        self.close()
        return status, text

    def _failed(self, e: BaseException) -> None:
        """Raises the error of the process if it has one: a stream that ends early is its consequence."""
        if self.close.alive:
            if isinstance(e, pa.ArrowInvalid | OSError | EOFError):
                status, text = self._outcome()
                if status != 0:
                    raise error(status, text) from None
            self.close()
        raise e


def _open(file: IO[bytes] | None) -> pa.RecordBatchReader:
    return pa.ipc.open_stream(pa.PythonFile(_Pipe(file), mode="r"))  # type: ignore[arg-type]


def feed(arguments: list[str], reader: pa.RecordBatchReader) -> None:
    """Runs the command with the batches of a reader as its stdin. If the reader fails, the process is killed before it has
    seen the end of the stream, so that it publishes nothing."""
    with tempfile.TemporaryFile() as errors:
        process = subprocess.Popen(
            [program(), *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=errors,
            pipesize=PIPE_BYTES,
        )
        assert process.stdin
        try:
            sink = pa.PythonFile(process.stdin, mode="w")
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
                process.stdin.close()
        status = process.wait()
        errors.seek(0)
        if status != 0:
            raise error(status, errors.read())


def _stop(process: subprocess.Popen[bytes]) -> None:
    """Ends a process as Ctrl-C does, so that it removes what it has begun."""
    process.terminate()
    try:
        process.wait(10)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
