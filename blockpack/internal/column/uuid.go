package column

import (
	"encoding/hex"
	"unicode/utf8"
)

const (
	packedSize = 16
	uuidSize   = 36
)

// unpackUUIDs turns the values of a String column into text if they are packed UUIDs. Kinds for bytes hold strings
// only if these are packed. For other kinds, the hint decides; without one, strings of text are taken for text.
func (r *Reader) unpackUUIDs(v *Values) {
	r.packedUUID = false
	if r.typ != String || r.o.UUID == UUIDPlain || !allPacked(v) {
		return
	}
	switch r.kind {
	case Dictionary, SparseDictionary, RLEIndexes, SparseRLEIndexes:
		if r.o.UUID == UUIDUnknown && utf8All(v) {
			return
		}
	}
	r.packedUUID = true
	n := v.Len()
	text := Values{Offsets: make([]uint32, 1, n+1), Data: make([]byte, 0, n*uuidSize)}
	for k := range n {
		text.Data = appendUUID(text.Data, v.Bytes(k))
		text.Offsets = append(text.Offsets, uint32(len(text.Data)))
	}
	*v = text
}

// allPacked tells whether there are values, and all have the size of a packed UUID.
func allPacked(v *Values) bool {
	if v.Len() == 0 {
		return false
	}
	for k := range v.Len() {
		if v.Offsets[k+1]-v.Offsets[k] != packedSize {
			return false
		}
	}
	return true
}

func utf8All(v *Values) bool {
	for k := range v.Len() {
		if !utf8.Valid(v.Bytes(k)) {
			return false
		}
	}
	return true
}

// appendUUID appends 16 bytes as 8-4-4-4-12 digits.
func appendUUID(dst, b []byte) []byte {
	for i, part := range [][]byte{b[:4], b[4:6], b[6:8], b[8:10], b[10:16]} {
		if i > 0 {
			dst = append(dst, '-')
		}
		dst = hex.AppendEncode(dst, part)
	}
	return dst
}
