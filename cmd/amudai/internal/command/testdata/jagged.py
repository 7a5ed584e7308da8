"""Answers questions about vectors of an RNTuple with numpy and awkward, as uproot reads it: python3 jagged.py file.root name columns

The output is a JSON object: of each column a histogram, counts of entries and of elements, maxima and sums; of pairs of columns with equal lengths, the entries in
which an element is above a bound in both.
"""

import json
import sys

import awkward
import numpy
import uproot

LOW, HIGH, BINS, BOUND, OTHER = -64.0, 192.0, 50, 1.5, 0.5


def answers(ntuple, columns):
    arrays = {}
    for name in columns:
        try:
            arrays[name] = awkward.values_astype(ntuple.arrays([name])[name], numpy.float64)
        except Exception as e:  # uproot does not read all fields
            print(name, repr(e)[:200], file=sys.stderr)
    out = {}
    for name, a in arrays.items():
        flat = awkward.to_numpy(awkward.flatten(a))
        most = awkward.to_numpy(awkward.fill_none(awkward.max(a, axis=1), -numpy.inf))
        out[name] = {
            "hist": numpy.histogram(flat, bins=BINS, range=(LOW, HIGH))[0].tolist(),
            "two": int(awkward.sum(awkward.sum(a > BOUND, axis=1) >= 2)),
            "above": int(awkward.sum(a > BOUND)),
            "most": float(most.max()) if len(most) and most.max() > -numpy.inf else None,
            "long": int(awkward.sum(awkward.num(a) > 2)),
            "high": int((most > BOUND).sum()),
        }
        for other, b in arrays.items():
            if other > name and awkward.all(awkward.num(a) == awkward.num(b)):
                out[name]["both"] = [other, int(awkward.sum(awkward.any((a > BOUND) & (b < OTHER), axis=1)))]
    return out


with uproot.open(sys.argv[1]) as file:
    print(json.dumps(answers(file[sys.argv[2]], sys.argv[3:])))
