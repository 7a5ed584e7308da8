// Package encode writes columns: values in memory → the data of a column of a Blockpack block, in the kind that makes it
// smallest.
package encode

import (
	"encoding/binary"
	"math"
	"slices"

	"github.com/klauspost/compress/zstd"

	"github.com/amudai/amudai-go/blockpack/internal/column"
	"github.com/amudai/amudai-go/internal/base/distinct"
	"github.com/amudai/amudai-go/internal/base/fault"
)

// Encoder encodes columns. The zero value is ready. It keeps memory for the next column. It must not be used concurrently.
type Encoder struct {
	zstd map[setting]*zstd.Encoder

	c        *column.Column
	count    int    // of present rows
	presence []byte // with its length

	ids      numbering
	set      distinct.Set
	dict     dictionary
	runs     int     // of equal codes
	deltas   [2]part // of kinds 12 and 13
	offsets  deltaOffsets
	prefixes prefixParts
	sample   []byte
}

// part is a compressed part of a column.
type part struct {
	done  bool   // for the column at hand
	plain []byte // before compression
	data  []byte
}

// Append appends the data of c to dst, from the encoding version on, in the kind that makes it smallest. The bytes
// depend on the values and presence of c, not on the order of entries of a dictionary. c stays as it is. A value or
// dictionary over the limits of the format is an error.
func (e *Encoder) Append(dst []byte, c *column.Column) (out []byte, kind column.Kind, err error) {
	defer func() { e.c = nil }()
	if err := e.begin(c); err != nil {
		return dst, 0, fault.InColumn(err, c.Name)
	}
	least := math.MaxInt
	for _, k := range candidates(c.Type) {
		size, err := e.size(k, least)
		if err != nil {
			return dst, 0, fault.InColumn(err, c.Name)
		}
		if size < least {
			least, kind = size, k
		}
	}
	if kind == 0 {
		return dst, 0, fault.InColumn(fault.Limitf("a dictionary of more than %d entries", column.MaxDictionaryEntries), c.Name)
	}
	return e.append(dst, e.label(kind)), e.label(kind), nil
}

// AppendKind appends the data of c in a kind. ok is false if that cannot hold it, or only for some readers, as strings in kinds for bytes, and for
// XORBytes, which spares next to nothing beside PrefixBytes.
func (e *Encoder) AppendKind(dst []byte, c *column.Column, k column.Kind) (out []byte, ok bool, err error) {
	defer func() { e.c = nil }()
	if err := e.begin(c); err != nil || !writable(k, c.Type) {
		return dst, false, fault.InColumn(err, c.Name)
	}
	size, err := e.size(k, impossible)
	if err != nil || size == impossible {
		return dst, false, fault.InColumn(err, c.Name)
	}
	return e.append(dst, k), true, nil
}

// writable tells whether columns of a type are written in a kind.
func writable(k column.Kind, t column.Type) bool {
	switch k {
	case column.Dictionary, column.SparseDictionary, column.RLEIndexes, column.SparseRLEIndexes:
		return true
	case column.DeltaUint64:
		return t == column.Uint64
	case column.XORBytes, column.SparseXORBytes:
		return false
	}
	return t == column.Bytes
}

// candidates are the kinds tried for a type. Where two kinds have the same bytes, it is the first.
func candidates(t column.Type) []column.Kind {
	switch t {
	case column.Bytes:
		return bytesKinds
	case column.Uint64:
		return uint64Kinds
	}
	return uint64Kinds[1:]
}

var (
	bytesKinds = []column.Kind{column.SparseInlineBytes, column.InlineBytes, column.PrefixBytes, column.Dictionary, column.SparseDictionary, column.SparseRLEIndexes,
		column.DeltaDictionary, column.SparseDeltaDictionary}
	uint64Kinds = []column.Kind{column.DeltaUint64, column.Dictionary, column.SparseDictionary, column.SparseRLEIndexes}
)

// label is the kind to write for one of two that are equal in size: the dense one, unless most rows are null.
func (e *Encoder) label(k column.Kind) column.Kind {
	switch sparse := 2*e.count < e.c.Rows; {
	case sparse && k == column.PrefixBytes:
		return k + 1
	case !sparse && k == column.SparseRLEIndexes && e.count > 0:
		return column.RLEIndexes
	}
	return k
}

// begin checks c, and encodes its presence.
func (e *Encoder) begin(c *column.Column) error {
	e.c, e.count = c, c.PresentCount()
	stored := c.Values.Len()
	switch {
	case c.Type > column.Bytes:
		return fault.Corruptf("a column of type %s", c.Type)
	case c.Codes != nil && len(c.Codes) != e.count, c.Codes == nil && stored != e.count:
		return fault.Corruptf("%d codes, %d values, %d rows of %d with a value", len(c.Codes), stored, e.count, c.Rows)
	}
	if c.Type.Textual() {
		for k := range stored {
			if n := len(c.Values.Bytes(k)); n > column.MaxValueLen {
				return fault.Limitf("a value of %d bytes, where %d are allowed", n, column.MaxValueLen)
			}
		}
	}
	e.release()
	e.presence = appendPresence(e.presence[:0], c.Present, c.Rows)
	e.dict.done, e.dict.numbered, e.dict.sorted = false, false, false
	e.offsets.done, e.prefixes.done = false, false
	e.deltas[0].done, e.deltas[1].done = false, false
	return nil
}

// release gives up memory of an uncommonly large column.
func (e *Encoder) release() {
	for _, p := range []*part{&e.dict.part, &e.deltas[0], &e.deltas[1], &e.offsets.part} {
		p.plain, p.data = column.Kept(p.plain), column.Kept(p.data)
	}
	p := &e.prefixes
	p.plain, p.dict, p.suffixes, e.sample = column.Kept(p.plain), column.Kept(p.dict), column.Kept(p.suffixes), column.Kept(e.sample)
	if e.set.Memory() > column.MaxKept {
		e.set = distinct.Set{}
	}
}

// impossible is the size of a column in a kind that cannot hold it.
const impossible = math.MaxInt

// size is the size of the column in a kind. If that is at least limit, by what is known or by a sample, it may be any
// number not below.
func (e *Encoder) size(k column.Kind, limit int) (int, error) {
	switch k {
	case column.InlineBytes, column.SparseInlineBytes:
		return e.inlineSize(k), nil
	case column.DeltaUint64:
		return e.deltaSize()
	case column.PrefixBytes, column.SparsePrefixBytes:
		return e.prefixSize()
	}
	return e.codedSize(k, limit)
}

// append appends the column in a kind, which can hold it.
func (e *Encoder) append(dst []byte, k column.Kind) []byte {
	dst = append(dst, column.EncodingVersion, byte(k))
	switch k {
	case column.InlineBytes, column.SparseInlineBytes:
		return e.appendInline(dst, k)
	case column.DeltaUint64:
		return e.appendDelta(dst)
	case column.PrefixBytes, column.SparsePrefixBytes:
		return appendSection(appendSection(e.appendRows(dst), e.prefixes.dict), e.prefixes.suffixes)
	}
	return e.appendCoded(dst, k)
}

// rowsSize is the size of what appendRows appends.
func (e *Encoder) rowsSize() int { return 4 + len(e.presence) }

// appendRows appends the number of rows and the presence.
func (e *Encoder) appendRows(dst []byte) []byte {
	return append(binary.LittleEndian.AppendUint32(dst, uint32(e.c.Rows)), e.presence...)
}

// appendSection appends data behind its length.
func appendSection(dst, data []byte) []byte {
	return append(binary.LittleEndian.AppendUint32(dst, uint32(len(data))), data...)
}

// bytes is the value of the i-th present row of a String or Bytes column.
func (e *Encoder) bytes(i int) []byte {
	if e.c.Codes != nil {
		i = int(e.c.Codes[i])
	}
	return e.c.Values.Bytes(i)
}

// checksumMin is the size of content from which on a frame has a checksum.
const checksumMin = 4<<10 + 1

// setting is that of a frame.
type setting struct {
	checksum bool
	level    zstd.EncoderLevel
}

// compress appends src as a Zstandard frame.
func (e *Encoder) compress(dst, src []byte, level zstd.EncoderLevel) ([]byte, error) {
	s := setting{len(src) >= checksumMin, level}
	z := e.zstd[s]
	if z == nil {
		var err error
		z, err = zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithEncoderCRC(s.checksum), zstd.WithZeroFrames(true),
			zstd.WithEncoderLevel(level), zstd.WithLowerEncoderMem(true), zstd.WithSingleSegment(true), zstd.WithAllLitEntropyCompression(true))
		if err != nil {
			return nil, err
		}
		if e.zstd == nil {
			e.zstd = map[setting]*zstd.Encoder{}
		}
		e.zstd[s] = z
	}
	return z.EncodeAll(src, dst), nil
}

// The fastest level makes dictionaries smaller, as their lengths are no matches for it; numbers and suffixes are smaller by the next one.
const (
	ofDictionaries = zstd.SpeedFastest
	ofNumbers      = zstd.SpeedDefault
	ofSuffixes     = zstd.SpeedDefault
)

// compress compresses p.plain.
func (p *part) compress(e *Encoder, level zstd.EncoderLevel) (err error) {
	p.data, err = e.compress(p.data[:0], p.plain, level)
	p.done = err == nil
	return err
}

// inlineSize is the size of kinds 3 and 4.
func (e *Encoder) inlineSize(k column.Kind) int {
	size := 2 + e.rowsSize() + 4*e.count
	if k == column.InlineBytes {
		size += 4 * (e.c.Rows - e.count)
	} else {
		size += 4
	}
	for i := range e.count {
		size += len(e.bytes(i))
	}
	return size
}

func (e *Encoder) appendInline(dst []byte, k column.Kind) []byte {
	dst = e.appendRows(dst)
	if k == column.SparseInlineBytes {
		dst = binary.LittleEndian.AppendUint32(dst, uint32(e.count))
	}
	i := 0
	for row := 0; row < e.c.Rows; {
		end, value := presenceRun(e.c.Present, row, e.c.Rows)
		for ; row < end; row++ {
			if value != 0 {
				dst = appendSection(dst, e.bytes(i))
				i++
			} else if k == column.InlineBytes {
				dst = appendSection(dst, nil)
			}
		}
	}
	return dst
}

// deltaOffsets is kind 5.
type deltaOffsets struct {
	part
	base  uint64
	width int
}

func (e *Encoder) deltaSize() (int, error) {
	o := &e.offsets
	if !o.done {
		if err := e.makeOffsets(); err != nil {
			return 0, err
		}
	}
	size := 2 + e.rowsSize() + 8 + 1
	if o.width > 0 {
		size += 4 + len(o.data)
	}
	return size, nil
}

// makeOffsets compresses the offsets from the least value.
func (e *Encoder) makeOffsets() error {
	o := &e.offsets
	o.base, o.width = 0, 0
	if e.count == 0 {
		o.done = true
		return nil
	}
	low, high := e.number(0), uint64(0)
	for i := range e.count {
		v := e.number(i)
		low, high = min(low, v), max(high, v)
	}
	o.base = low
	switch d := high - low; {
	case d == 0:
		o.done = true
		return nil
	case d <= math.MaxUint8:
		o.width = 1
	case d <= math.MaxUint16:
		o.width = 2
	case d <= math.MaxUint32:
		o.width = 4
	default:
		o.width = 8
	}
	o.plain = slices.Grow(o.plain[:0], e.count*o.width+8)[:e.count*o.width]
	for i := range e.count {
		// The bytes that are too many are those of the next one, or behind the end.
		binary.LittleEndian.PutUint64(o.plain[i*o.width:][:8], e.number(i)-low)
	}
	return o.compress(e, ofNumbers)
}

// number is the value of the i-th present row of a column of numbers.
func (e *Encoder) number(i int) uint64 {
	if e.c.Codes != nil {
		i = int(e.c.Codes[i])
	}
	return e.c.Values.Numbers[i]
}

func (e *Encoder) appendDelta(dst []byte) []byte {
	dst = binary.LittleEndian.AppendUint64(e.appendRows(dst), e.offsets.base)
	dst = append(dst, byte(e.offsets.width))
	if e.offsets.width > 0 {
		dst = appendSection(dst, e.offsets.data)
	}
	return dst
}

// A part of a column that has sampleMin bytes or more is not compressed if a sample of it, the first of sampleParts
// parts, says that the kind loses.
const (
	sampleMin    = 16 << 10
	sampleParts  = 8
	sampleTables = 80 // bytes of a compressed sample that do not grow with it
)

// sampleSize is the compressed size of a sample.
func (e *Encoder) sampleSize(sample []byte) (int, error) {
	var err error
	e.sample, err = e.compress(e.sample[:0], sample, ofDictionaries)
	return len(e.sample), err
}
