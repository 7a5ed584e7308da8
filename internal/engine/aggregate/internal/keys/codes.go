package keys

import (
	"math"
	"math/bits"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
	"github.com/amudai/amudai-go/internal/arrow/kinds"
	"github.com/amudai/amudai-go/internal/base/bitmap"
	"github.com/amudai/amudai-go/internal/engine/aggregate/internal/column"
	"github.com/amudai/amudai-go/internal/engine/order"
)

// layout is the meaning of the codes of a column.
type layout struct {
	ranged bool  // code is the integer base + code - 1; else the number of a value
	base   int64 // of ranged
	width  int   // bits of codes
	shift  uint  // of codes in words
}

// at are the bits of a code in a word. A shift by 64 bits or more, such as one below 0, leaves nothing.
func (l layout) at(code uint64) word {
	return word{code << l.shift, code>>(64-l.shift) | code<<(l.shift-64)}
}

// of is the code in a word.
func (l layout) of(w word) uint64 {
	return (w.lo>>l.shift | w.hi<<(64-l.shift) | w.hi>>(l.shift-64)) & (1<<l.width - 1)
}

// keyColumn turns the values of a column into codes. 0 is null. Values with ordinals are ranged at first, others are
// numbered, and so are dictionaries: a dictionary is numbered once, not row by row.
type keyColumn struct {
	layout
	started bool
	wide    bool // the batch has decimals that are no ordinals

	words   wordTable    // numbers of ordinals
	strings order.KeySet // numbers of other values: texts, or encoded
	encoder *order.Encoder
	byWord  bool // numbers are those of ordinals

	column   column.Column
	ordinals []int64 // of a batch, if ranged
	least    int64   // of these
	most     int64
	some     bool     // there are any
	numbers  []uint32 // of a batch, if not

	dictionary arrow.ArrayData   // the last one; the reference keeps its address from another one
	entries    []uint64          // codes of its values, or missing
	shifted    []uint64          // the same, shifted
	coded      *array.Dictionary // the batch, if it has a dictionary that is numbered
	indices    arrow.Array       // of coded
	indexValid bitmap.Bits
}

// init prepares a column for values of a type. fixed means that values cannot be numbered anew.
func (c *keyColumn) init(key order.Key, fixed bool) (err error) {
	dt := kinds.Unwrapped(key.Type)
	c.byWord = column.HasOrdinals(dt)
	_, coded := kinds.Storage(key.Type).(*arrow.DictionaryType)
	c.ranged = !coded && (c.byWord || dt.ID() == arrow.DECIMAL128 && !fixed)
	c.words.reset(64, false, 0)
	c.encoder, err = order.NewEncoder([]order.Key{{Type: dt}})
	return err
}

func (c *keyColumn) size() int64 {
	return c.words.size() + c.strings.Size() + int64(16*cap(c.entries)+4*cap(c.numbers)) + c.column.Size()
}

func (c *keyColumn) release() {
	c.column.Release()
	c.dictionary, c.coded = nil, nil
}

// load looks at the values of a batch. They get numbers if grow is set.
func (c *keyColumn) load(mem memory.Allocator, arr arrow.Array, grow bool) error {
	arr = arrowutil.Storage(arr)
	c.coded = nil
	if d, ok := column.Coded(arr); ok {
		c.coded = d
		return c.loadDictionary(mem, d.Dictionary(), grow)
	}
	if err := c.column.Load(mem, arr); err != nil {
		return err
	}
	c.see(grow)
	return nil
}

// see finds the ordinals or numbers of the loaded values.
func (c *keyColumn) see(grow bool) {
	v, ok := c.column.Ordinals()
	switch {
	case c.ranged:
		c.ordinals, c.wide, c.some = v, !ok, false
	case c.byWord:
		c.wide = !ok
		c.numberOrdinals(v, grow)
	default:
		c.numbers = column.Resized(c.numbers, c.column.Array.Len())
		if at := arrowutil.BytesOf(c.column.Array); at != nil {
			c.strings.Number(c.numbers, at, grow)
		} else {
			c.strings.NumberRows(c.numbers, c.encoder, grow, c.column.Array)
		}
		c.dropNulls()
	}
}

// dropNulls gives no number to nulls, which were numbered by what is behind them.
func (c *keyColumn) dropNulls() {
	if c.column.Nulls > 0 {
		c.column.Valid.EachClear(func(i int) { c.numbers[i] = None })
	}
}

func (c *keyColumn) numberOrdinals(v []int64, grow bool) {
	c.numbers = column.Resized(c.numbers, len(v))
	c.words.find(c.numbers, words{lo: arrowutil.As[uint64](arrowutil.Bytes(v))}, grow)
	c.dropNulls()
}

// observe finds the range of ordinals, unless the layout remains as it is.
func (c *keyColumn) observe(grow bool) {
	if !grow || !c.ranged || c.wide {
		return
	}
	v := c.ordinals
	if c.column.Nulls == 0 && len(v) > 0 {
		c.least, c.most, c.some = v[0], v[0], true
		for _, x := range v {
			c.least, c.most = min(c.least, x), max(c.most, x)
		}
		return
	}
	for i, x := range v {
		switch {
		case !c.column.Valid.At(i):
		case !c.some:
			c.least, c.most, c.some = x, x, true
		default:
			c.least, c.most = min(c.least, x), max(c.most, x)
		}
	}
}

// loadDictionary finds the codes of the values of a dictionary, unless it is the last one.
func (c *keyColumn) loadDictionary(mem memory.Allocator, values arrow.Array, grow bool) error {
	if c.dictionary == values.Data() {
		return nil
	}
	c.dictionary = values.Data()
	if err := c.column.Load(mem, values); err != nil {
		return err
	}
	c.see(grow)
	c.entries = column.Resized(c.entries, values.Len())
	for i, n := range c.numbers[:values.Len()] {
		c.entries[i] = uint64(n)
		if n == None && c.column.Valid.At(i) {
			c.entries[i] = missing
		}
	}
	return nil
}

// count is the number of numbered values.
func (c *keyColumn) count() int {
	if c.byWord {
		return c.words.n
	}
	return c.strings.Len()
}

// outgrown reports whether codes of the batch need another layout.
func (c *keyColumn) outgrown() bool {
	if !c.ranged {
		return bits.Len(uint(c.count())) > c.width
	}
	return c.some && (!c.started || c.least < c.base || uint64(c.most)-uint64(c.base) >= min(1<<c.width-1, mostCode))
}

// fit makes a layout for all values so far. words have their codes.
func (c *keyColumn) fit(words *wordTable) {
	if !c.outgrown() {
		return
	}
	if !c.ranged {
		c.width = bits.Len(uint(c.count()))
		return
	}
	lo, hi := c.least, c.most
	if c.started {
		lo, hi = min(c.base, lo), max(c.greatest(words), hi)
	}
	span := uint64(hi) - uint64(lo)
	if c.started && lo < c.base && span < 1<<62 && uint64(lo)-1<<63 > span/2 { // more may follow below
		lo -= int64(span / 2)
		span += span / 2
	}
	c.base, c.started = lo, true
	switch {
	case span >= math.MaxUint64-1:
		c.width = mostPacked + 1
		return
	case span > 1<<wideRange && hi < math.MaxInt64-1: // other rows are as far away as these
		c.base, span = math.MinInt64, math.MaxUint64-2
	}
	c.width = bits.Len64(span + 1)
}

// greatest is the greatest ordinal with a code in words.
func (c *keyColumn) greatest(words *wordTable) int64 {
	most := uint64(1)
	words.each(func(w word, _ uint32) { most = max(most, c.of(w)) })
	return c.base + int64(most-1)
}

// number numbers values that were ranged, and have codes in words.
func (c *keyColumn) number(old layout, words *wordTable) {
	c.ranged, c.byWord = false, true
	words.each(func(w word, _ uint32) {
		if code := old.of(w); code != 0 {
			x := word{uint64(old.base) + code - 1, 0}
			c.words.find1(x, x.hash(), true)
		}
	})
	c.numberOrdinals(c.ordinals, true)
	c.width = bits.Len(uint(c.count()))
}

// recode is the code for a value that had another code in an older layout.
func (c *keyColumn) recode(old layout, code uint64) uint64 {
	switch {
	case code == 0 || !old.ranged:
		return code
	case c.ranged:
		return code + uint64(old.base) - uint64(c.base)
	}
	x := word{uint64(old.base) + code - 1, 0}
	return uint64(c.words.find1(x, x.hash(), false))
}

// prepare gets the column ready to be packed.
func (c *keyColumn) prepare() {
	if c.coded == nil {
		return
	}
	c.indices, c.indexValid = c.coded.Indices(), arrowutil.Validity(c.coded.Indices())
	c.shifted = column.Resized(c.shifted, len(c.entries))
	for i, e := range c.entries {
		if c.shifted[i] = e << c.shift; e == missing {
			c.shifted[i] = missing
		}
	}
}

// pack adds the codes of some rows to words. It reports false if a dictionary lacks the value of a row.
func (c *keyColumn) pack(dst words, from, to int) bool {
	switch {
	case c.coded != nil:
		return c.packCoded(dst.lo, from, to)
	case c.ranged:
		c.packRanged(dst, from, to)
	default:
		for i, n := range c.numbers[from:to] {
			if n == None && c.column.Valid.At(from+i) {
				dst.lo[i] = missing
			}
			dst.lo[i] |= uint64(n) << c.shift
		}
	}
	return true
}

func (c *keyColumn) packRanged(dst words, from, to int) {
	v, valid, l := c.ordinals[from:to], c.column.Valid.Slice(from, to), c.layout
	lo, hi, before, most := dst.lo[:len(v)], dst.hi, uint64(l.base)-1, uint64(1)<<l.width-1
	for i, x := range v {
		code := uint64(x) - before
		switch {
		case valid.Data != nil && !valid.At(i):
		case code-1 >= most:
			lo[i] = missing
		default:
			w := l.at(code)
			lo[i] |= w.lo
			if hi != nil {
				hi[i] |= w.hi
			}
		}
	}
}

func (c *keyColumn) packCoded(dst []uint64, from, to int) bool {
	valid := c.indexValid.Slice(from, to)
	switch c.indices.DataType().ID() {
	case arrow.INT8, arrow.UINT8:
		return packIndices(dst, arrowutil.Values[uint8](c.indices)[from:to], valid, c.shifted)
	case arrow.INT16, arrow.UINT16:
		return packIndices(dst, arrowutil.Values[uint16](c.indices)[from:to], valid, c.shifted)
	case arrow.INT32, arrow.UINT32:
		return packIndices(dst, arrowutil.Values[uint32](c.indices)[from:to], valid, c.shifted)
	}
	return packIndices(dst, arrowutil.Values[uint64](c.indices)[from:to], valid, c.shifted)
}

func packIndices[T uint8 | uint16 | uint32 | uint64](dst []uint64, indices []T, valid bitmap.Bits, codes []uint64) bool {
	ok := true
	dst = dst[:len(indices)]
	for i, x := range indices {
		switch {
		case valid.Data != nil && !valid.At(i):
		case uint64(x) >= uint64(len(codes)):
			ok = false
		default:
			dst[i] |= codes[x]
		}
	}
	return ok
}
