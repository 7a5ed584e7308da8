#!/usr/bin/env python3
"""Measures contenders that are not written in Go: pyarrow, DuckDB, Vortex, Lance, uproot.

go run ./bench -peers python3 starts this program once for each of them, and asks it for one operation after the other,
between those of the other contenders. A question is a line of JSON on stdin, the answer one on stdout: the CPU seconds of
the operation, on one core, and the number of rows. "peers.py NAME" fails at once if the package is not installed.
"""
import json
import os
import re
import resource
import shutil
import sys


def cpu():
    u = resource.getrusage(resource.RUSAGE_SELF)
    return u.ru_utime + u.ru_stime


class PyArrow:
    def __init__(self):
        import pyarrow.parquet
        self.pa, self.pq = pyarrow, pyarrow.parquet
        pyarrow.set_cpu_count(1)
        pyarrow.set_io_thread_count(1)

    def write(self, table, path):
        self.pq.write_table(table, path, compression="zstd", row_group_size=1 << 20)

    def read(self, path, columns):
        f = self.pq.ParquetFile(path)
        return sum(b.num_rows for b in f.iter_batches(65536, columns=columns, use_threads=False))


class DuckDB:
    def __init__(self):
        import duckdb
        self.duckdb, self.opened = duckdb, {}

    def connect(self, path, read_only):
        c = self.duckdb.connect(path, read_only=read_only)
        c.execute("SET threads = 1")
        return c

    def write(self, table, path):
        with self.connect(path, False) as c:
            c.register("input", table)
            c.execute("CREATE TABLE t AS SELECT * FROM input")

    def rows(self, path, query):
        with self.connect(path, True) as c:
            result = c.sql(query)
            make = getattr(result, "to_arrow_reader", None) or result.fetch_arrow_reader
            return sum(b.num_rows for b in make(65536))

    def read(self, path, columns):
        return self.rows(path, "SELECT " + (", ".join(columns) if columns else "*") + " FROM t")

    def filter(self, path, where):
        return self.rows(path, "SELECT * FROM t WHERE " + where)

    def take(self, path, rows):
        return self.rows(path, "SELECT * FROM t WHERE rowid IN (" + ", ".join(map(str, rows)) + ")")


    def query(self, path, sql):
        if path not in self.opened:
            parquet = path.endswith(".parquet")
            c = self.opened[path] = self.connect(":memory:" if parquet else path, not parquet)
            if parquet:
                c.execute(f"CREATE VIEW t AS FROM read_parquet('{path}')")
        return self.opened[path].execute(sql).fetchall()


class Vortex:
    def __init__(self):
        import pyarrow
        import vortex
        import vortex.expr
        self.pa, self.vortex = pyarrow, vortex

    def options(self):
        return self.vortex.io.VortexWriteOptions.default()

    def write(self, table, path):
        self.options().write(table, path)

    def read(self, path, columns):
        return sum(b.num_rows for b in self.vortex.open(path).to_arrow(columns))

    def filter(self, path, where):
        f = self.vortex.open(path)
        return sum(b.num_rows for b in f.to_arrow(expr=self.condition(f.dtype.to_arrow_schema(), where)))

    def condition(self, schema, where):
        """The conditions "COLUMN OPERATOR LITERAL and ..." as Vortex has them."""
        import operator
        import pyarrow.compute
        from vortex.dataset import ensure_vortex_expression
        operators = {"=": operator.eq, "<": operator.lt, ">": operator.gt, "<=": operator.le, ">=": operator.ge}
        out = None
        for name, op, text in re.findall(r"(\w+) (\S+) ('[^']*'|\S+)(?: and |$)", where):
            text = text.strip("'")
            if op == "like":
                expr = self.vortex.expr.like(self.vortex.expr.column(name), text)
            else:
                kind = schema.field(name).type
                value = self.pa.scalar(text)
                if kind != self.pa.string_view():  # which expressions lack
                    value = value.cast(kind)
                expr = ensure_vortex_expression(operators[op](pyarrow.compute.field(name), value), schema=schema)
            out = expr if out is None else self.vortex.expr.and_(out, expr)
        return out

    def take(self, path, rows):
        indices = self.vortex.array(self.pa.array(rows, self.pa.uint64()))
        return sum(b.num_rows for b in self.vortex.open(path).to_arrow(indices=indices))


class VortexCompact(Vortex):
    def options(self):
        return self.vortex.io.VortexWriteOptions.compact()


class Lance:
    def __init__(self):
        import lance
        self.lance = lance

    def write(self, table, path):
        self.lance.write_dataset(table, path)

    def read(self, path, columns):
        return sum(b.num_rows for b in self.lance.dataset(path).to_batches(columns=columns, batch_size=65536))

    def filter(self, path, where):
        where = re.sub(r"'\d{4}-\d\d-\d\d'", r"date \g<0>", where)  # else it compares texts
        return self.lance.dataset(path).to_table(filter=where).num_rows

    def take(self, path, rows):
        return self.lance.dataset(path).take(rows).num_rows


class Uproot:
    """RNTuples. An extension of 8,192 rows is a cluster."""

    def __init__(self):
        import awkward
        import uproot
        self.awkward, self.uproot = awkward, uproot

    def write(self, table, path):
        with self.uproot.recreate(path, compression=self.uproot.ZSTD(5)) as f:
            ntuple = None
            for batch in table.to_batches(max_chunksize=8192):
                columns = {name: self.awkward.from_arrow(batch.column(name)) for name in batch.schema.names}
                if ntuple is None:
                    ntuple = f.mkrntuple("ntuple", columns)
                else:
                    ntuple.extend(columns)

    def read(self, path, columns):
        with self.uproot.open(path) as f:
            return len(f["ntuple"].arrays(columns))


PEERS = {"pyarrow parquet zstd": PyArrow, "duckdb file": DuckDB, "vortex": Vortex, "vortex compact": VortexCompact, "lance": Lance, "uproot": Uproot}


def remove(path):
    if os.path.isdir(path):
        shutil.rmtree(path)
    elif os.path.exists(path):
        os.remove(path)


def table_of(path, known={}):
    """The table of an Arrow file, kept for the next question. It is copied: buffers in files are aligned to 8 bytes, and
    Lance needs 16 for decimals."""
    if path not in known:
        import pyarrow.ipc
        known.clear()
        whole = pyarrow.ipc.open_file(path).read_all().combine_chunks()
        known[path] = pyarrow.Table.from_batches(whole.to_batches(max_chunksize=65536), whole.schema)
    return known[path]


def size(path):
    if not os.path.isdir(path):
        return os.path.getsize(path)
    return sum(os.path.getsize(os.path.join(d, f)) for d, _, names in os.walk(path) for f in names)


def timed(f, now=cpu):
    """The mean seconds of some runs of a function, and its result."""
    before = now()
    for runs in range(1, 21):
        result = f()
        if now() - before >= 0.1:
            break
    return (now() - before) / runs, result


def answer(peer, q):
    path, rows = q["path"], 0
    if q["op"] == "write":
        table = table_of(q["input"])
        remove(path)
    if q["op"] == "query":
        seconds, values = timed(lambda: peer.query(path, q["sql"]))
        return {"seconds": seconds, "values": [[str(v) for v in row] for row in values]}
    before = cpu()
    if q["op"] == "write":
        peer.write(table, path)
    elif q["op"] == "filter":
        rows = peer.filter(path, q["where"])
    elif q["op"] == "take":
        rows = peer.take(path, q["rows"])
    else:
        rows = peer.read(path, q.get("columns"))
    return {"seconds": cpu() - before, "rows": rows, "size": size(path)}


def operations_of(peer):
    return ["write", "scan", "project", "open"] + [op for op in ("filter", "take") if hasattr(peer, op)]


def main(peers=PEERS, operations_of=operations_of, answer=answer):
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    try:
        peer = peers[sys.argv[1]]()
    except ImportError as e:
        print(json.dumps({"missing": str(e)}), flush=True)
        return
    print(json.dumps({"operations": operations_of(peer)}), flush=True)
    for line in sys.stdin:
        try:
            reply = answer(peer, json.loads(line))
        except Exception as e:  # the question is answered, whatever went wrong
            reply = {"error": f"{type(e).__name__}: {e}"}
        print(json.dumps(reply), flush=True)


if __name__ == "__main__":
    main()
