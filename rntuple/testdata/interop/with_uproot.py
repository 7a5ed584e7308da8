"""Prints the values of an RNTuple as uproot reads them: python3 with_uproot.py file.root name

The output is a JSON object of lists. Numbers are text that keeps all of their bits: "i" and decimal
digits, or "f" and the bytes of a double.
"""

import json
import struct
import sys

import awkward
import numpy
import uproot


def plain(value):
    if value is None or isinstance(value, (str, bool)):
        return value
    if isinstance(value, numpy.bool_):
        return bool(value)
    if isinstance(value, (int, numpy.integer)):
        return f"i{int(value)}"
    if isinstance(value, (float, numpy.floating)):
        return "f" + struct.pack(">d", value).hex()
    if isinstance(value, bytes):
        return [f"i{b}" for b in value]
    if isinstance(value, dict):
        return {name: plain(item) for name, item in value.items()}
    if isinstance(value, tuple):
        return {f"_{i}": plain(item) for i, item in enumerate(value)}
    return [plain(item) for item in value]


def main():
    with uproot.open(sys.argv[1]) as file:
        ntuple = file[sys.argv[2]]
        out = {}
        for name in ntuple.keys(recursive=False):
            try:
                array = ntuple.arrays([name])
                out[name] = plain(awkward.to_list(array[name]))
            except Exception as error:  # one field that cannot be read does not hide the others
                out[name] = f"{type(error).__name__}: {error}"
        json.dump(out, sys.stdout)


main()
