// Package envelope reads and writes the metadata of an RNTuple: the anchor, and the envelopes it leads to. The header
// has the schema, the footer what was added to it and the groups of clusters, and a page list per group says where
// pages lie. Each comes as the bytes of an uncompressed envelope; where those lie in a file is not known here.
//
// Format 1.0 is read and written, and 0.2.0.0 is read into the same types; of what is older, the schema and the
// number of entries are listed. Everything read is checked: its checksum, that it stays within its frame, and that
// references lead somewhere. No memory is taken for a count before the bytes that it counts are known to be there.
package envelope

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/zeebo/xxh3"

	"github.com/amudai/amudai-go/internal/base/fault"
)

// Kind is the type of an envelope.
type Kind uint16

// The kinds of envelopes.
const (
	KindHeader   Kind = 1
	KindFooter   Kind = 2
	KindPageList Kind = 3
)

var kinds = [...]string{KindHeader: "header", KindFooter: "footer", KindPageList: "page list"}

// String names the kind.
func (k Kind) String() string {
	if k > 0 && int(k) < len(kinds) {
		return kinds[k]
	}
	return "envelope"
}

const (
	envelopeHead = 8
	checksumSize = 8
)

// MinLength is the length of the shortest envelope in bytes.
const MinLength = envelopeHead + checksumSize

// open checks the frame of an envelope and gives a reader of its content.
//
//	u64  kind in the low 16 bits, length of the whole envelope in the others
//	…    content
//	u64  XXH3 of all before
func open(env []byte, kind Kind, format Format) (*coder, error) {
	if len(env) < MinLength {
		return nil, fault.In(fault.Corruptf("envelope of %d bytes", len(env)), kind.String(), 0)
	}
	word := binary.LittleEndian.Uint64(env)
	if length := word >> 16; length != uint64(len(env)) {
		return nil, fault.In(fault.Corruptf("envelope says it has %d bytes, not %d", length, len(env)), kind.String(), 0)
	}
	if Kind(word) != kind {
		return nil, fault.In(fault.Corruptf("envelope of type %d instead of %d", uint16(word), kind), kind.String(), 0)
	}
	if Checksum(env) != xxh3.Hash(env[:len(env)-checksumSize]) {
		return nil, fault.In(fault.Checksumf("XXH3 differs"), kind.String(), int64(len(env)-checksumSize))
	}
	w := newReader(env, format)
	w.Pos, w.End = envelopeHead, len(env)-checksumSize
	return w, nil
}

// Checksum is the one that stands at the end of an envelope of at least [MinLength] bytes.
func Checksum(env []byte) uint64 {
	return binary.LittleEndian.Uint64(env[len(env)-checksumSize:])
}

// begin starts to append an envelope to dst.
func begin(dst []byte) *coder {
	w := newWriter(dst)
	w.Buf = append(w.Buf, make([]byte, envelopeHead)...)
	return w
}

// finish completes the envelope that is being written.
func (w *coder) finish(kind Kind) ([]byte, error) {
	length := uint64(len(w.Buf) - w.base + checksumSize)
	if length > math.MaxUint64>>16 {
		w.Fail(fault.Limitf("envelope of %d bytes", length))
	}
	if w.Err != nil {
		return w.Buf[:w.base], fault.In(w.Err, kind.String(), -1)
	}
	binary.LittleEndian.PutUint64(w.Buf[w.base:], length<<16|uint64(kind))
	return binary.LittleEndian.AppendUint64(w.Buf, xxh3.Hash(w.Buf[w.base:])), nil
}

// featureFlags are words of 64 bits, of which the highest says that another follows. This version knows no feature.
func (w *coder) featureFlags() {
	for word := 0; w.Err == nil; word++ {
		var flags uint64
		w.U64("feature flags", &flags)
		for bit := range 63 {
			if flags>>bit&1 != 0 && w.Err == nil {
				w.Fail(fault.Unsupportedf("feature flag %d, which newer versions of the format may set", 64*word+bit))
			}
		}
		if flags>>63 == 0 {
			return
		}
	}
}

// headerChecksum is that of the header, which footer and page lists repeat.
func (w *coder) headerChecksum(header uint64) {
	found := header
	w.U64("", &found)
	w.Amend("XXH3 of the header %016x", found)
	if w.Err == nil && found != header {
		w.Fail(fault.Checksumf("made for a header with checksum %016x, not %016x", found, header))
	}
}

// Version is the version of the format that the writer states. Only the epoch decides whether a file can be read.
type Version struct{ Epoch, Major, Minor, Patch uint16 }

// String is as in "1.0.0.2".
func (v Version) String() string {
	return fmt.Sprintf("%d.%d.%d.%d", v.Epoch, v.Major, v.Minor, v.Patch)
}

// Format is a way to lay out the metadata.
type Format uint8

// The formats that are known.
const (
	V1  Format = iota // 1.0.x, by ROOT 6.34 and later
	V02               // 0.2.0.0, by ROOT 6.30 to 6.33 and development versions of 6.34
	RC1               // by ROOT 6.20 to 6.29: listed only
)

// String names the format and the releases of ROOT that write it.
func (f Format) String() string {
	switch f {
	case V1:
		return "1.0"
	case V02:
		return "0.2.0.0 (ROOT 6.30 to 6.33)"
	}
	return "of a pre-release (ROOT 6.20 to 6.29)"
}

// ListedOnly tells that at most schema and counts can be read, with [ParseListing].
func (f Format) ListedOnly() bool { return f >= RC1 }
