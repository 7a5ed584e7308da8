package stats

import (
	"bytes"
	"unicode/utf8"

	"github.com/amudai/amudai-go/encoding/bytestring"
	commonpb "github.com/amudai/amudai-go/gen/amudai/common"
	shardpb "github.com/amudai/amudai-go/gen/amudai/shard"
	"github.com/amudai/amudai-go/internal/base/ascii"
	"github.com/amudai/amudai-go/internal/base/bitmap"
	"github.com/amudai/amudai-go/internal/format/hll"
	"github.com/amudai/amudai-go/sbbf"
)

// maxConstant is the longest value that is written as a constant.
const maxConstant = 128

// BytesOptions are the options of [Bytes].
type BytesOptions struct {
	// String makes it a String column: ASCII values are counted, and a
	// constant is a string.
	String bool
	// NoFilter leaves out the Bloom filter.
	NoFilter bool
	// Filter has the options of the Bloom filter.
	Filter sbbf.Options
	// Bound is the longest bound of the range of values, in byte order, which is not collected if it is 0. The
	// writer of the reference does not, and its reader ignores them.
	Bound int
}

// Bytes collects lengths, the number of distinct values and a Bloom filter of a
// column of strings or byte strings.
type Bytes struct {
	counts
	o       BytesOptions
	lengths lengths
	raw     int64 // bytes of all values
	ascii   int64
	first   []byte // the first value, up to maxConstant bytes
	differ  bool   // no constant: a value differs from the first, or is too long
	sketch  *hll.Sketch
	filter  *sbbf.Builder // nil if there is none
	bounds  bytesRange
}

// NewBytes is an empty collector.
func NewBytes(o BytesOptions) *Bytes {
	c := &Bytes{o: o, sketch: hll.New(hll.DefaultBits)}
	if !o.NoFilter {
		c.filter = sbbf.NewBuilder(o.Filter)
	}
	return c
}

// DropFilter leaves out the Bloom filter from now on.
func (c *Bytes) DropFilter() { c.filter = nil }

// asciiChunk is the number of values that are tested for ASCII at once.
const asciiChunk = 512

// Add adds values. valid marks the values that are not null; it has the same length.
func (c *Bytes) Add(v bytestring.Values, valid bitmap.Bits) {
	if c.add(valid) == 0 {
		return
	}
	for from := 0; from < v.N; from += asciiChunk {
		to := min(from+asciiChunk, v.N)
		part, ok := v.Slice(from, to), valid.Slice(from, to)
		if c.o.String {
			c.ascii += countASCII(part, ok)
		}
		c.addChunk(part, ok)
	}
}

func (c *Bytes) addChunk(v bytestring.Values, valid bitmap.Bits) {
	var last []byte
	for i := range v.N {
		if valid.Data != nil && !valid.At(i) {
			continue
		}
		value := v.At(i)
		c.lengths.add(uint64(len(value)))
		c.raw += int64(len(value))
		if last != nil && bytes.Equal(last, value) {
			continue // seen already
		}
		c.distinct(value)
		last = value
	}
}

// AddRepeated adds a value count times, for a value dictionary. The result is the same as that
// of Add.
func (c *Bytes) AddRepeated(value []byte, count int64) {
	if count <= 0 {
		return
	}
	c.rows += count
	c.lengths.add(uint64(len(value)))
	c.raw += count * int64(len(value))
	if c.o.String && ascii.Only(value) {
		c.ascii += count
	}
	c.distinct(value)
}

// distinct adds a value to the statistics that do not depend on its frequency.
func (c *Bytes) distinct(value []byte) {
	if !c.differ {
		c.compareFirst(value)
	}
	if c.o.Bound > 0 {
		c.bounds.add(value, c.o.Bound)
	}
	c.sketch.AddHash(hll.Hash(value))
	if c.filter != nil && !c.filter.Abandoned() {
		c.filter.AddHash(sbbf.Hash(value))
	}
}

func (c *Bytes) compareFirst(value []byte) {
	switch {
	case len(value) > maxConstant:
		c.differ = true
	case c.first == nil:
		c.first = append(make([]byte, 0, len(value)+1), value...) // not nil
	default:
		c.differ = !bytes.Equal(c.first, value)
	}
	if c.differ {
		c.first = nil
	}
}

// Fill implements [Collector].
func (c *Bytes) Fill(f *shardpb.FieldDescriptor) {
	c.fill(f, c.raw)
	ascii := uint64(c.ascii)
	if c.o.String {
		f.TypeSpecific = &shardpb.FieldDescriptor_StringStats{StringStats: &shardpb.StringStats{
			MinSize: c.lengths.lo, MinNonEmptySize: c.lengths.nonEmpty(), MaxSize: c.lengths.hi, AsciiCount: &ascii,
		}}
	} else {
		f.TypeSpecific = &shardpb.FieldDescriptor_BinaryStats{BinaryStats: &shardpb.BinaryStats{
			MinLength: c.lengths.lo, MinNonEmptyLength: c.lengths.nonEmpty(), MaxLength: c.lengths.hi,
		}}
	}
	f.ConstantValue = c.constant(!c.differ, c.constantValue)
	f.RangeStats = nil
	if c.o.Bound > 0 {
		f.RangeStats = c.bounds.stats(c.o.Bound, c.o.String)
	}
	f.Cardinality, f.MembershipFilters = nil, nil
	if c.values() == 0 {
		return
	}
	f.Cardinality = cardinality(c.sketch)
	if c.filter == nil {
		return
	}
	if data := c.filter.Finish(); data != nil {
		f.MembershipFilters = &shardpb.MembershipFilters{Sbbf: &shardpb.SplitBlockBloomFilter{
			NumBlocks: uint64(len(data) / 32), TargetFpp: c.filter.FPP(), NumValues: uint64(c.filter.Len()),
			HashAlgorithm: sbbf.Algorithm, HashSeed: sbbf.Seed, Data: data,
		}}
	}
}

func (c *Bytes) constantValue() *commonpb.AnyValue {
	if c.o.String && !utf8.Valid(c.first) {
		return nil // a protobuf string cannot hold it
	}
	return AnyBytes(c.first, c.o.String)
}

func cardinality(s *hll.Sketch) *shardpb.CardinalityInfo {
	count := s.Estimate()
	return &shardpb.CardinalityInfo{Count: &count, IsEstimate: true, HllSketch: &shardpb.HllSketchV1{
		HashAlgorithm: hll.Algorithm, HashSeed: hll.Seed, BitsPerIndex: uint32(s.Bits()), Counters: bytes.Clone(s.Counters()),
	}}
}

// countASCII is the number of non-null values that are ASCII.
func countASCII(v bytestring.Values, valid bitmap.Bits) int64 {
	if ascii.Only(v.Bytes()) {
		return int64(valid.Count())
	}
	n := int64(0)
	for i := range v.N {
		if valid.At(i) && ascii.Only(v.At(i)) {
			n++
		}
	}
	return n
}
