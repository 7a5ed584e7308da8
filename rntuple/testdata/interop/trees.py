"""Compares trees as amudai reads them with those of uproot. Usage: trees.py PROGRAM FOLDER FILE...

Writes further trees to FOLDER. Prints the number of branches that are equal, and a line for each other one.
"""

import subprocess
import sys

import awkward as ak
import numpy as np
import pyarrow.parquet as pq
import uproot


def write(path):
    """Trees of all kinds of numbers, at their bounds, in several baskets, packed in each way."""
    n = 300
    counts = np.arange(n) % 5
    kinds = ["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"]
    columns = {k: (np.arange(n) * 7919).astype(k) for k in kinds}
    for k in kinds:
        columns[k][:2] = np.iinfo(k).min, np.iinfo(k).max
    columns |= {"f4": np.arange(n, dtype="f4") / 3, "f8": np.array([np.nan, np.inf, *range(n - 2)]), "b": np.arange(n) % 3 == 0}
    columns["m"] = np.arange(6 * n, dtype="i4").reshape(n, 2, 3)
    for k in [*kinds, "float32", "float64", "bool"]:
        columns[f"v_{k}"] = ak.unflatten(np.arange(counts.sum()).astype(k), counts)
    columns["s"] = ak.Array(["é" * (i % 130) for i in range(n)])
    for name in ("ZLIB", "LZMA", "LZ4", "ZSTD"):
        with uproot.recreate(f"{path}/{name}.root", compression=getattr(uproot, name)(5)) as f:
            f["dir/a"] = {k: v[:100] for k, v in columns.items()}
            f["dir/a"].extend({k: v[100:] for k, v in columns.items()})
        yield f"{path}/{name}.root"


def plain(x):
    """A value of uproot as Python's."""
    if type(x).__name__.startswith("Model_TString"):
        return str(x)
    if hasattr(x, "all_members"):
        return {k: plain(v) for k, v in x.all_members.items() if k[:1] != "@"}
    if isinstance(x, dict):
        return {k: plain(v) for k, v in x.items()}
    if hasattr(x, "tolist") and not isinstance(x, str):
        return plain(x.tolist())
    if type(x).__name__ == "STLSet" or isinstance(x, (set, frozenset)):
        return {plain(v) for v in x}
    return [plain(v) for v in x] if isinstance(x, (list, tuple)) else x


def same(a, b):
    if isinstance(b, dict):
        a = a if isinstance(a, dict) else dict(zip(b, a, strict=False))
        return all(k in b and same(v, b[k]) for k, v in a.items() if k in b or k[:1] != "f")
    if isinstance(a, set):
        return len(a) == len(b) and a == set(b)
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(map(same, a, b))
    return a == b or a != a and b != b


def compare(branches, prefix, find):
    """Compares the branches of a tree, or those below one, with columns."""
    equal = 0
    for branch in branches:
        name = branch.name.removeprefix(prefix).split("[")[0].rstrip(".")
        column = find(name)
        if branch.branches:
            inner = find if column is None else lambda k, c=column: [row[k] for row in c] if c and k in c[0] else None
            equal += compare(branch.branches, branch.name.rstrip(".") + ".", inner)
        elif column is not None:
            try:
                values = plain(branch.array(library="np"))
            except Exception as e:
                print("uproot fails", branch.name, str(e)[:40].replace("\n", " "))
                continue
            if same(values, column):
                equal += 1
            else:
                print("differs", branch.file.file_path.split("/")[-1], branch.name, branch.typename)
    return equal


total = 0
program, folder, *files = sys.argv[1:]
for path in [*write(folder), *files]:
    with uproot.open(path) as f:
        names = {k.split(";")[0] for k, c in f.classnames().items() if c in ("TTree", "TNtuple", "TNtupleD")}
        for name in sorted(names):
            out = f"{folder}/out.parquet"
            subprocess.run([program, "convert", "-q", "--force", "--table", name, path, out], check=True, stderr=subprocess.DEVNULL)
            t = pq.read_table(out)
            try:
                columns = {c: t.column(c).to_pylist() for c in t.column_names}
            except ValueError as e:
                print("no values", path, e)
                continue
            total += compare(f[name].branches, "", columns.get)
print("equal", total)
