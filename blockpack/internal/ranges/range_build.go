package ranges

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"fmt"
	"math"
	"slices"

	"github.com/amudai/amudai-go/blockpack/internal/column"
	"github.com/amudai/amudai-go/blockpack/internal/ranges/internal/blockvalues"
	"github.com/amudai/amudai-go/internal/base/fault"
)

// BuildOptions control the building of a range index. Zeros stand for defaults.
type BuildOptions struct {
	Buckets int                    // most keys of a column; 1,000
	Budget  int64                  // bytes of the index; 2 % of the data, at least 64 KiB. One key a column is always there
	Exclude func(name string) bool // columns to leave out, besides trace:id and those of Bool
	// Distinct is the number of distinct values of a column up to which it is known what blocks have each: 100,000. Beyond,
	// and for columns with more distinct values in a block than Buckets, there are bounds of each block.
	Distinct int
	// Memory bounds the bytes of all this: 48 MiB. The column with most goes on with bounds, then with those of several
	// blocks together.
	Memory int64
}

// Builder builds a range index block by block. It keeps no columns.
//
// The same blocks give the same bytes. For each value of each block, a lookup by the rules of the specification gives
// the block: keys are chosen first, and then each value is put where a lookup finds it.
type Builder struct {
	o       BuildOptions
	columns map[column.Key]*rangeValues
	blocks  uint32
	memory  int64
}

// rangeValues are the values of a column of one type.
type rangeValues struct {
	column.Key
	rows       int64 // with a value
	numbers    *blockvalues.Values[uint64]
	texts      *blockvalues.Values[string]
	keptValues // one of these
}

// keptValues are what values of any type have in common.
type keptValues interface {
	Distinct() int
	Unique() bool
	Coarsen() bool
	Memory() int64
	Empty() bool
}

// NewBuilder returns an empty builder.
func NewBuilder(o BuildOptions) *Builder {
	o.Buckets = cmp.Or(o.Buckets, 1000)
	o.Distinct = cmp.Or(o.Distinct, 100_000)
	o.Memory = cmp.Or(o.Memory, 48<<20)
	return &Builder{o: o, columns: map[column.Key]*rangeValues{}}
}

// excluded are the columns that no range index has.
func (b *Builder) excluded(c *column.Column) bool {
	return c.Type == column.Bool || c.Name == "trace:id" || slices.Contains(pseudoColumns, c.Name) || b.o.Exclude != nil && b.o.Exclude(c.Name)
}

// AddBlock adds the values of the columns of the next block.
func (b *Builder) AddBlock(columns []*column.Column) {
	for _, c := range columns {
		if b.excluded(c) || c.Values.Len() == 0 {
			continue
		}
		key := c.Key()
		v := b.columns[key]
		if v == nil {
			v = newRangeValues(key, b.o.Buckets)
			b.columns[key] = v
		}
		b.memory -= v.Memory()
		v.rows += int64(c.PresentCount())
		v.add(c, b.blocks)
		if v.Distinct() > b.o.Distinct || v.Unique() {
			v.Coarsen()
		}
		b.memory += v.Memory()
	}
	b.blocks++
	for b.memory > b.o.Memory {
		v := b.largest()
		b.memory -= v.Memory()
		less := v.Coarsen()
		b.memory += v.Memory()
		if !less {
			break
		}
	}
}

// largest is the column that needs most memory.
func (b *Builder) largest() (most *rangeValues) {
	for _, v := range b.columns {
		if most == nil || cmp.Or(cmp.Compare(v.Memory(), most.Memory()), cmp.Compare(most.Name, v.Name), cmp.Compare(most.Type, v.Type)) > 0 {
			most = v
		}
	}
	return most
}

func newRangeValues(key column.Key, most int) *rangeValues {
	v := &rangeValues{Key: key}
	if key.Type.Textual() {
		v.texts = blockvalues.New(most, textAfter, func(s string) int64 { return int64(len(s)) })
		v.keptValues = v.texts
	} else {
		greatest := uint64(math.MaxUint64)
		if key.Type == column.Float64 {
			greatest = column.Ordered(key.Type, math.Float64bits(math.Inf(1))) // NaNs are no keys
		}
		v.numbers = blockvalues.New(most, func(n uint64) (uint64, bool) { return n + 1, n < greatest }, func(uint64) int64 { return 0 })
		v.keptValues = v.numbers
	}
	return v
}

func textAfter(s string) (string, bool) { return s + "\x00", len(s) < maxKey }

// add adds the values of a column but for empty strings and NaNs, which no index has.
func (v *rangeValues) add(c *column.Column, block uint32) {
	if v.numbers != nil {
		for k, bits := range c.Values.Numbers {
			if k > 0 && bits == c.Values.Numbers[k-1] || (column.Value{Type: v.Type, Bits: bits}).IsNaN() {
				continue
			}
			v.numbers.Add(column.Ordered(v.Type, bits), block)
		}
		return
	}
	var last []byte
	for k := range c.Values.Len() {
		s := c.Values.Bytes(k)
		s = s[:min(len(s), maxKey)]
		if !bytes.Equal(s, last) && len(s) > 0 {
			blockvalues.AddText(v.texts, s, block)
			last = s
		}
	}
}

// Finish appends the range index of all blocks, of which dataBytes are the size. With a mark, "module/version",
// readers believe the index; it comes with the lists of the columns and of the sections of the file, and the checksum of the trace index.
func (b *Builder) Finish(dst []byte, dataBytes int64, mark string, columns []column.Field, sections Sections, sum string) ([]byte, error) {
	list := b.chosen()
	limit := b.share(list, dataBytes)
	if mark != "" {
		for _, name := range pseudoColumns {
			list = append(list, &rangeValues{Key: column.Key{Name: name}})
		}
		slices.SortFunc(list, byName)
	}
	dst = binary.LittleEndian.AppendUint32(dst, uint32(len(list)))
	for _, v := range list {
		if len(v.Name) > column.MaxNameLen {
			return dst, fault.Limitf("range index: a name of %d bytes, at most %d are possible", len(v.Name), column.MaxNameLen)
		}
		switch v.Name {
		case MarkColumn:
			dst = appendTexts(dst, v.Name, []string{mark})
		case SumColumn:
			dst = appendTexts(dst, v.Name, []string{sum})
		case ColumnsColumn:
			dst = appendTexts(dst, v.Name, columnTexts(columns))
		case TracesColumn, TreesColumn:
			var texts []string
			for _, e := range sections[v.Name] {
				texts = append(texts, fmt.Sprintf("%d %d", e.Offset, e.Length))
			}
			dst = appendTexts(dst, v.Name, texts)
		default:
			dst = b.buckets(v, limit).append(dst, v.Key)
		}
	}
	return dst, nil
}

// chosen gives for each name the type with most values: names of a range index are unique.
func (b *Builder) chosen() []*rangeValues {
	best := map[string]*rangeValues{}
	for _, v := range b.columns {
		if w := best[v.Name]; !v.Empty() && (w == nil || cmp.Or(cmp.Compare(v.rows, w.rows), cmp.Compare(w.Type, v.Type)) > 0) {
			best[v.Name] = v
		}
	}
	var list []*rangeValues
	for _, v := range best {
		list = append(list, v)
	}
	slices.SortFunc(list, byName)
	return list
}

func byName(v, w *rangeValues) int { return cmp.Compare(v.Name, w.Name) }

// share is the number of bytes that each column may have: those that need less leave more to others.
func (b *Builder) share(list []*rangeValues, dataBytes int64) int64 {
	left := b.o.Budget
	if left == 0 {
		left = max(dataBytes/50, 64<<10)
	}
	var sizes []int64
	total := int64(0)
	for _, v := range list {
		size := b.buckets(v, math.MaxInt64).size
		sizes = append(sizes, size)
		total += size
	}
	if total <= left {
		return math.MaxInt64
	}
	slices.Sort(sizes)
	for i, size := range sizes {
		if share := left / int64(len(sizes)-i); size > share {
			return share
		}
		left -= size
	}
	return math.MaxInt64
}

// rangeBuckets are the keys of a column and their blocks.
type rangeBuckets struct {
	keys     []column.Value // ascending
	sets     []blockvalues.Set
	min, max uint64
	size     int64 // bytes in the index, without names and counts
}

// buckets gives the most buckets whose bytes are within a limit, or a single one.
func (b *Builder) buckets(v *rangeValues, limit int64) rangeBuckets {
	if v.numbers != nil {
		r := divide(v.numbers, b.o.Buckets, int(b.blocks), limit, func(n uint64) column.Value { return column.Value{Type: v.Type, Bits: column.Unordered(v.Type, n)} })
		lo, hi := v.numbers.Extremes()
		r.min, r.max = column.Unordered(v.Type, lo), column.Unordered(v.Type, hi)
		return r
	}
	return divide(v.texts, b.o.Buckets, int(b.blocks), limit, func(s string) column.Value { return column.Value{Type: v.Type, Data: []byte(s)} })
}

func divide[K cmp.Ordered](s *blockvalues.Values[K], most, blocks int, limit int64, value func(K) column.Value) (r rangeBuckets) {
	keys := s.Keys(most)
	sets := s.Buckets(keys, blocks)
	for {
		k, sets2 := blockvalues.DistinctNeighbours(keys, sets)
		r = rangeBuckets{sets: sets2}
		for i := range k {
			v := value(k[i])
			r.keys = append(r.keys, v)
			r.size += keySize(v) + 4 + 4*int64(sets2[i].Count())
		}
		if r.size <= limit || len(keys) == 1 {
			return r
		}
		keys, sets = blockvalues.Halve(keys, sets)
	}
}

// keySize is the size of a key, with the boundary it is.
func keySize(v column.Value) int64 {
	switch {
	case v.Type.Textual():
		return 2 * int64(4+len(v.Data))
	case v.Type == column.Float64:
		return 1 + 3*8
	}
	return 1 + 2*8
}

var rangeTypes = [...]column.Type{
	column.String: column.RangeString, column.Int64: column.RangeInt64, column.Uint64: column.RangeUint64,
	column.Float64: column.RangeFloat64, column.Bytes: column.RangeBytes,
}

// append appends a column of the index. Boundaries are the keys.
func (r rangeBuckets) append(dst []byte, c column.Key) []byte {
	dst = appendRangeHead(dst, c.Name, rangeTypes[c.Type], r.min, r.max)
	count := func(n int) { dst = binary.LittleEndian.AppendUint32(dst, uint32(n)) }
	numbers, typed := r.keys, r.keys // floats are both
	if c.Type.Textual() {
		numbers = nil
	} else if c.Type != column.Float64 {
		typed = nil
	}
	for _, boundaries := range [][]column.Value{numbers, typed} {
		count(len(boundaries))
		for _, k := range boundaries {
			dst = k.Append(dst)
		}
	}
	count(len(r.keys))
	encoded := make([][]byte, len(r.keys))
	order := make([]int, len(r.keys))
	for i, k := range r.keys {
		order[i] = i
		encoded[i] = k.Data
		if !c.Type.Textual() {
			encoded[i] = k.Append(nil)
		}
	}
	slices.SortFunc(order, func(i, j int) int { return bytes.Compare(encoded[i], encoded[j]) })
	var ids []uint32
	for _, i := range order {
		if !c.Type.Textual() {
			dst = append(dst, 8) // the length of a key
		}
		dst = r.keys[i].Append(dst)
		ids = r.sets[i].List(ids[:0])
		count(len(ids))
		for _, id := range ids {
			dst = binary.LittleEndian.AppendUint32(dst, id)
		}
	}
	return dst
}

func appendRangeHead(dst []byte, name string, t column.Type, lo, hi uint64) []byte {
	dst = binary.LittleEndian.AppendUint16(dst, uint16(len(name)))
	dst = append(dst, name...)
	dst = append(dst, byte(t))
	dst = binary.LittleEndian.AppendUint64(dst, lo)
	return binary.LittleEndian.AppendUint64(dst, hi)
}

// appendTexts appends a column without keys, whose typed boundaries are texts.
func appendTexts(dst []byte, name string, texts []string) []byte {
	dst = appendRangeHead(dst, name, column.RangeString, 0, 0)
	dst = binary.LittleEndian.AppendUint32(dst, 0)
	dst = binary.LittleEndian.AppendUint32(dst, uint32(len(texts)))
	for _, text := range texts {
		dst = column.Value{Type: column.String, Data: []byte(text)}.Append(dst)
	}
	return binary.LittleEndian.AppendUint32(dst, 0)
}

func columnTexts(columns []column.Field) (texts []string) {
	for _, c := range columns {
		texts = append(texts, string([]byte{'0' + byte(c.Type), '0' + byte(c.Flags)})+c.Name)
	}
	return texts
}
