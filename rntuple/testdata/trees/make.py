"""Writes nano.root, a tree as those of CMS NanoAOD, and both.root, an RNTuple beside a tree. Usage: make.py FOLDER"""

import sys

import awkward as ak
import numpy as np
import uproot

n = 200
counts = np.arange(n) % 4
total = int(counts.sum())


def muons(values):
    return ak.unflatten(np.asarray(values), counts)


with uproot.recreate(f"{sys.argv[1]}/nano.root", compression=uproot.ZSTD(3)) as f:
    events = {
        "run": np.full(n, 4294967295, np.uint32),
        "event": np.arange(n, dtype=np.uint64) + 2**63,
        "HLT_IsoMu24": np.arange(n) % 3 == 0,
        "MET_pt": np.arange(n, dtype=np.float32) / 4,
        "beam": np.arange(3 * n, dtype=np.float64).reshape(n, 3),
        "Muon": ak.zip({
            "pt": muons(np.arange(total, dtype=np.float32) / 2),
            "charge": muons(np.where(np.arange(total) % 2, 1, -1).astype(np.int32)),
        }),
    }
    f.mktree("Events", {k: getattr(v, "dtype", None) and (v.dtype, v.shape[1:]) or v.type for k, v in events.items()})
    for part in (slice(0, 120), slice(120, n)):
        f["Events"].extend({k: v[part] for k, v in events.items()})

with uproot.recreate(f"{sys.argv[1]}/both.root") as f:
    f.mkrntuple("new", {"x": np.arange(3)})
    f.mktree("old", {"x": np.int64}).extend({"x": np.arange(5)})
