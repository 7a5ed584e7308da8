#!/usr/bin/env python3
"""Searches with engines that are not written in Go: Tantivy, SQLite's FTS5, Lance, ripgrep.

go run ./bench -search -peers python3 starts this program once for each of them, as it does peers.py. The operation write builds an
index of the column "line" of an Arrow file; "search" is a question of a kind, with its words, and is answered by the number of rows.
"""
import itertools
import os
import resource
import shutil
import sqlite3
import subprocess

import peers


def cpu():
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return peers.cpu() + children.ru_utime + children.ru_stime


def lines_of(table):
    for batch in table.column("line").chunks:
        yield from batch.to_pylist()


class Tantivy:
    def __init__(self):
        import tantivy
        self.t, self.opened = tantivy, {}

    def write(self, table, path):
        builder = self.t.SchemaBuilder()
        builder.add_text_field("line", stored=True)
        builder.add_integer_field("one", fast=True)
        os.makedirs(path)
        index = self.t.Index(builder.build(), path)
        writer = index.writer(1 << 30, 1)
        for line in lines_of(table):
            writer.add_document(self.t.Document(line=line, one=1))
        writer.commit()
        writer.wait_merging_threads()

    def index_size(self, path):
        return sum(os.path.getsize(os.path.join(path, f)) for f in os.listdir(path) if not f.endswith((".store", ".fast")))

    def query(self, index, kind, words):
        q, occur, schema = self.t.Query, self.t.Occur, index.schema
        terms = [q.term_query(schema, "line", w.lower()) for w in words]
        if kind == "phrase":
            return q.phrase_query(schema, "line", [w.lower() for w in words])
        if kind == "prefix":
            return q.regex_query(schema, "line", words[0] + ".*")
        if kind == "contains":
            return q.regex_query(schema, "line", ".*" + words[0] + ".*")
        if kind == "without":
            return q.boolean_query([(occur.Must, terms[0]), (occur.MustNot, terms[1])])
        if kind == "not":
            return q.boolean_query([(occur.Must, q.all_query()), (occur.MustNot, terms[0])])
        return q.boolean_query([(occur.Must if kind == "and" else occur.Should, t) for t in terms])

    def search(self, path, kind, words):
        if path not in self.opened:
            index = self.t.Index.open(path)
            self.opened[path] = index, index.searcher()
        index, searcher = self.opened[path]
        query = self.query(index, kind, words)
        if kind == "rank":
            return lambda: len(searcher.search(query, 10, count=False).hits)
        if kind == "lines":
            return lambda: len([searcher.doc(at)["line"] for _, at in searcher.search(query, 100, count=False).hits])
        # Its module counts in two ways, and either may be faster.
        ways = [
            lambda: int(searcher.aggregate(query, {"n": {"value_count": {"field": "one"}}})["n"]["value"]),
            lambda: searcher.search(self.t.Query.const_score_query(query, 1.0), 1).count,
        ]
        return min(ways, key=lambda f: peers.timed(f, cpu)[0])

    kinds = ["count", "lines", "without", "not", "and", "or", "prefix", "phrase", "contains", "rank"]


class SQLite:
    def __init__(self):
        self.opened = {}

    def write(self, table, path):
        c = sqlite3.connect(path)
        c.execute("CREATE VIRTUAL TABLE t USING fts5(line, tokenize = 'unicode61 remove_diacritics 0')")
        c.executemany("INSERT INTO t VALUES (?)", ((line,) for line in lines_of(table)))
        c.execute("INSERT INTO t(t) VALUES ('optimize')")
        c.commit()
        c.execute("VACUUM")
        c.close()

    def index_size(self, path):
        with sqlite3.connect(path) as c:
            return c.execute("SELECT sum(pgsize) FROM dbstat WHERE name <> 't_content'").fetchone()[0]

    def search(self, path, kind, words):
        if path not in self.opened:
            self.opened[path] = sqlite3.connect(path)
            self.opened[path].execute("PRAGMA cache_size = -2000000")
        c = self.opened[path]
        quoted = ['"' + w + '"' for w in words]
        join = {"without": " NOT ", "and": " AND ", "or": " OR ", "rank": " OR "}
        match = join[kind].join(quoted) if kind in join else '"' + " ".join(words) + '"' + "*" * (kind == "prefix")
        if kind == "rank":
            return lambda: len(c.execute("SELECT rowid FROM t WHERE t MATCH ? ORDER BY rank LIMIT 10", [match]).fetchall())
        if kind == "lines":
            return lambda: len(c.execute("SELECT line FROM t WHERE t MATCH ?", [match]).fetchall())
        if kind == "not":
            sql = "SELECT (SELECT count(*) FROM t) - (SELECT count(*) FROM t WHERE t MATCH ?)"
        else:
            sql = "SELECT count(*) FROM t WHERE t MATCH ?"
        return lambda: c.execute(sql, [match]).fetchone()[0]

    kinds = ["count", "lines", "without", "not", "and", "or", "prefix", "phrase", "rank"]


class Lance:
    def __init__(self):
        import lance
        import lance.query
        self.lance, self.q, self.opened = lance, lance.query, {}

    def write(self, table, path):
        table = table.select(["line"])
        d = self.lance.write_dataset(table, path, mode="overwrite")
        d.create_scalar_index("line", "INVERTED", with_position=True, stem=False, remove_stop_words=False, ascii_folding=False, name="words")
        d.create_scalar_index("line", "NGRAM", name="grams", replace=False)

    def index_size(self, path):
        return peers.size(os.path.join(path, "_indices"))

    def query(self, kind, words):
        q, text = self.q, " ".join(words)
        each = [q.MatchQuery(w, "line") for w in words]
        if kind == "phrase":
            return q.PhraseQuery(text, "line")
        if kind == "without":
            return q.BooleanQuery([(q.Occur.MUST, each[0]), (q.Occur.MUST_NOT, each[1])])
        return q.MatchQuery(text, "line", operator=q.FullTextOperator.AND if kind == "and" else q.FullTextOperator.OR)

    def search(self, path, kind, words):
        if path not in self.opened:
            self.opened[path] = self.lance.dataset(path)
        d = self.opened[path]
        if kind == "contains":
            return lambda: d.count_rows("contains(line, '" + words[0] + "')")
        if kind == "regex":
            return lambda: d.count_rows("regexp_like(line, '" + words[0] + "')")
        query, columns, limit = self.query(kind, words), ["line"] if kind == "lines" else ["_rowid"], 10 if kind == "rank" else None
        return lambda: d.scanner(columns=columns, full_text_query=query, limit=limit).to_table().num_rows

    kinds = ["count", "lines", "without", "and", "or", "phrase", "contains", "regex", "rank"]


class Ripgrep:
    def __init__(self):
        self.program = shutil.which("rg")
        if self.program is None:
            raise ImportError("rg is not installed")

    def write(self, table, path):
        with open(path, "w", encoding="utf-8", newline="\n") as f:
            f.writelines(line + "\n" for line in lines_of(table))

    def index_size(self, path):
        return 0

    def search(self, path, kind, words):
        flags = ["-F"] if kind == "contains" else []
        command = [self.program, "-j1", "--no-config", "-c", *flags, "-e", words[0], path]
        return lambda: int(subprocess.run(command, stdout=subprocess.PIPE, check=False).stdout or 0)

    kinds = ["contains", "regex"]


def answer(engine, q):
    path = q["path"]
    if q["op"] == "write":
        table = peers.table_of(q["input"])
        before = cpu()
        if not os.path.exists(path):
            engine.write(table, path)
        return {"seconds": cpu() - before, "size": peers.size(path), "index": engine.index_size(path)}
    turns = itertools.cycle([engine.search(path, q["kind"], words) for words in q.get("turns") or [q["words"]]])
    seconds, rows = peers.timed(lambda: next(turns)(), cpu)
    return {"seconds": seconds, "rows": rows}


if __name__ == "__main__":
    peers.main({"tantivy": Tantivy, "SQLite FTS5": SQLite, "Lance": Lance, "ripgrep": Ripgrep}, lambda engine: engine.kinds, answer)
