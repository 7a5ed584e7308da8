"""Answers the questions of questions.json with DuckDB, and writes the answers into it.

    pip install duckdb
    python answers.py SHARED      # the folder with the shared data

The answer to a question is the numbers of the rows of the file that meet it: how many there are, the first five, and
the CRC-32 of all of them as 8 bytes each, the lowest first.
"""
import json, os, struct, sys, zlib
import duckdb

shared, here = sys.argv[1], os.path.join(os.path.dirname(os.path.abspath(__file__)), "questions.json")
with open(here) as f:
    doc = json.load(f)
db = duckdb.connect()
db.sql("set threads = 1")
TYPES = {"utf8": "VARCHAR", "float64": "DOUBLE", "date32": "DATE", "int64": "BIGINT"}


def table(dataset):
    d = doc["datasets"][dataset]
    path = os.path.join(shared, d["file"])
    if path.endswith(".parquet"):
        return f"(select *, file_row_number as row_ from read_parquet('{path}', file_row_number = true))"
    fields = [f.split(": ") for f in d["schema"].split(", ")]
    types = "{" + ", ".join(f"'{name.strip(chr(34))}': '{TYPES[t]}'" for name, t in fields) + "}"
    read = "read_json" if path.endswith(".json") else "read_csv"
    return f"(select *, row_number() over () - 1 as row_ from {read}('{path}', columns = {types}))"


for q in doc["questions"]:
    rows = [r[0] for r in db.sql(f"select row_ from {table(q['dataset'])} where {q.get('sql', q['filter'])} order by 1").fetchall()]
    q["rows"], q["first"] = len(rows), rows[:5]
    q["crc32"] = zlib.crc32(b"".join(struct.pack("<q", r) for r in rows))
    print(q["rows"], q["filter"])

with open(here, "w") as f:
    parts = []
    for key in ("datasets", "questions"):
        items = doc[key].items() if key == "datasets" else [(None, q) for q in doc[key]]
        lines = [("    " + (json.dumps(k) + ": " if k else "") + json.dumps(v)) for k, v in items]
        open_, close = ("{", "}") if key == "datasets" else ("[", "]")
        parts.append(f'  "{key}": {open_}\n' + ",\n".join(lines) + f"\n  {close}")
    f.write("{\n" + ",\n".join(parts) + "\n}\n")
