// Package keys numbers the distinct rows of some columns: the groups of an aggregation.
package keys

import (
	"math"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
	"github.com/amudai/amudai-go/internal/arrow/kinds"
	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/engine/aggregate/internal/column"
	"github.com/amudai/amudai-go/internal/engine/order"
)

const (
	missing     = ^uint64(0)  // the lower bits of a packed key that is not among the known ones
	mostPacked  = 127         // bits of a packed key
	mostCode    = missing - 1 // so that no code of a single column is missing
	wideRange   = 40          // bits of a range that is none
	mostNumbers = 1 << 31     // of a table
	mostBytes   = 16 << 30    // a set of texts has places for twice as many
)

// Keyer numbers the distinct rows of some columns from 1. A code stands for each value, 0 for null. The codes of a row are packed
// into a word, which is an index of a table if the ranges of codes are small, else hashed. Rows that need more bits are
// encoded as bytes.
//
//	origin "ATL" 7, year 2001    code 7, code 2001-1987+1
//	                             00111 00001111
type Keyer struct {
	mem     memory.Allocator
	types   []arrow.DataType
	columns []keyColumn
	words   wordTable
	strings *order.KeySet // of encoded rows; nil as long as words suffice
	encoder *order.Encoder
	Full    bool // no new rows get a number
	o       Options
	seen    int64
	news    float64 // new numbers for each row of the last batch
	later   float64 // numbers that are expected of further rows

	packed words

	chunks [][]arrow.Array // keys that have numbers, in their order: arrays of each column; nil if they are not kept
	kept   int             // keys in chunks
	bytes  int64           // of chunks

	entriesOf arrow.ArrayData // the dictionary whose values have the numbers entries, or None
	entries   []uint32
}

// Options are the options of [New].
type Options struct {
	Kept   bool  // Key is asked; else columns are numbers of groups and a column, or the column alone
	Room   int64 // most slots of a direct index
	Memory int64 // bytes that tables may take before there is need of them
	Rows   int64 // about how many there will be, 0 if that is not known
}

// New returns a keyer for columns of some types.
func New(mem memory.Allocator, types []arrow.DataType, o Options) (*Keyer, error) {
	keys := make([]order.Key, len(types))
	for i, dt := range types {
		keys[i].Type = dt
	}
	encoder, err := order.NewEncoder(keys)
	if err != nil {
		return nil, err
	}
	k := &Keyer{mem: mem, types: types, columns: make([]keyColumn, len(types)), encoder: encoder, o: o}
	for i := range k.columns {
		if err := k.columns[i].init(keys[i], !o.Kept); err != nil {
			return nil, err
		}
	}
	if o.Kept {
		k.chunks = make([][]arrow.Array, len(types))
	}
	k.words.reset(0, false, 0)
	return k, nil
}

func (k *Keyer) Len() int {
	if k.strings != nil {
		return k.strings.Len()
	}
	return k.words.n
}

const bytesPerKey = 64 // about, in tables

// Expected is the number of keys in the end, if there are ever fewer new ones, as in the last batch.
func (k *Keyer) Expected() int { return int(min(float64(k.Len())+k.later, math.MaxInt32)) }

// expect makes room for further keys, so that tables are not laid out again and again, if batches have had fewer and fewer new ones.
func (k *Keyer) expect(fresh, rows int) {
	news, left := float64(fresh)/float64(rows), float64(k.o.Rows-k.seen)
	k.later = news * max(left, 0)
	switch decay := news / k.news; {
	case k.news == 0 && news < 7.0/8:
		k.later = 0
	case k.news > 0 && decay < 1:
		k.later = min(k.later, float64(fresh)*decay/(1-decay))
	}
	k.news = news
	n := k.Expected()
	if k.Full || n < 2*k.Len() || int64(n)*bytesPerKey > k.o.Memory {
		return
	}
	if k.strings != nil {
		k.strings.Reserve(n)
		return
	}
	k.words.reserve(n)
	if len(k.columns) == 1 && k.columns[0].strings.Len() > 0 {
		k.columns[0].strings.Reserve(n)
	}
}

// Size is the number of bytes in memory.
func (k *Keyer) Size() int64 {
	n := k.bytes + k.words.size() + int64(8*cap(k.packed.lo)+8*cap(k.packed.hi))
	if k.strings != nil {
		n += k.strings.Size()
	}
	for i := range k.columns {
		n += k.columns[i].size()
	}
	return n
}

// Release releases all arrays.
func (k *Keyer) Release() {
	for _, c := range k.chunks {
		arrowutil.ReleaseAll(c)
	}
	k.chunks = nil
	for i := range k.columns {
		k.columns[i].release()
	}
}

// Find writes the number of each row. If the keyer is full, rows that it does not know have None.
func (k *Keyer) Find(out []uint32, columns []arrow.Array) error {
	before := k.Len()
	if err := k.find(out, columns); err != nil || len(out) == 0 {
		return err
	}
	k.expect(k.Len()-before, len(out))
	if k.chunks == nil || k.Len() == k.kept {
		return nil
	}
	fresh := make([]int64, 0, k.Len()-k.kept)
	for i, id := range out {
		if int(id) > k.kept {
			k.kept = int(id)
			fresh = append(fresh, int64(i))
		}
	}
	for i, c := range columns {
		chunk, err := column.TakePlain(k.mem, c, fresh)
		if err != nil {
			return err
		}
		k.chunks[i] = append(k.chunks[i], chunk)
		k.bytes += column.SizeOf(chunk)
	}
	return nil
}

// Key is a column of the rows that have the numbers from up to to.
func (k *Keyer) Key(i, from, to int) (arrow.Array, error) {
	dt := kinds.Decoded(k.types[i])
	var parts []arrow.Array
	defer func() { arrowutil.ReleaseAll(parts) }()
	at := 1
	for _, c := range k.chunks[i] {
		if lo, hi := max(from, at), min(to, at+c.Len()); lo < hi {
			parts = append(parts, array.NewSlice(c, int64(lo-at), int64(hi-at)))
		}
		at += c.Len()
	}
	if len(parts) == 0 {
		return arrowutil.Nulls(k.mem, dt, 0), nil
	}
	plain, err := arrowutil.Concatenate(k.mem, parts)
	if err != nil {
		return nil, err
	}
	defer plain.Release()
	return arrowutil.Wrap(k.mem, plain, dt)
}

func (k *Keyer) find(out []uint32, columns []arrow.Array) error {
	k.Full = k.Full || int64(k.Len()) >= mostNumbers || k.Size() >= mostBytes
	k.seen += int64(len(out))
	if k.strings == nil {
		k.unhash()
		if k.findRanged(out, columns) {
			return nil
		}
		for i := range k.columns {
			if err := k.columns[i].load(k.mem, columns[i], !k.Full); err != nil {
				return err
			}
		}
		if done, err := k.findPair(out); done {
			return err
		}
		for i := range k.columns {
			k.columns[i].observe(!k.Full)
		}
		if !k.layout() {
			if err := k.useStrings(); err != nil {
				return err
			}
		}
	}
	if k.strings != nil {
		k.strings.NumberRows(out, k.encoder, !k.Full, columns...)
		return nil
	}
	if len(k.columns) == 1 && k.columns[0].coded != nil && !k.Full {
		if done, err := k.findCoded(out); done {
			return err
		}
	}
	return k.findWords(out)
}

// blockRows is the number of rows whose words stay in the cache until they are looked up.
const blockRows = 2048

func (k *Keyer) findWords(out []uint32) error {
	wide := k.wide()
	for i := range k.columns {
		k.columns[i].prepare()
	}
	for from := 0; from < len(out); from += blockRows {
		to := min(from+blockRows, len(out))
		k.packed.lo = column.Resized(k.packed.lo, to-from)
		clear(k.packed.lo)
		p := words{lo: k.packed.lo}
		if wide {
			k.packed.hi = column.Resized(k.packed.hi, to-from)
			clear(k.packed.hi)
			p.hi = k.packed.hi
		}
		for i := range k.columns {
			if !k.columns[i].pack(p, from, to) {
				return errNoEntry
			}
		}
		before := k.words.n
		k.words.find(out[from:to], p, !k.Full)
		if n := k.words.n; n-before > blockRows*7/8 { // nearly all are new, and so may be those that follow
			k.words.reserve(n + len(out) - to)
		}
	}
	return nil
}

var errNoEntry = fault.Corruptf("a row refers to no value of its dictionary")

// findCoded finds the numbers of rows of a single column with a dictionary: once for each value of it.
func (k *Keyer) findCoded(out []uint32) (done bool, err error) {
	c := &k.columns[0]
	indices := c.coded.Indices()
	if arrowutil.NullN(indices) > 0 || indices.DataType().(arrow.FixedWidthDataType).Bytes() != 4 {
		return false, nil
	}
	if k.entriesOf != c.dictionary || len(k.entries) != len(c.entries) {
		k.entriesOf, k.entries = c.dictionary, column.Resized(k.entries, len(c.entries))
		k.words.find(k.entries, words{lo: c.entries}, false)
	}
	entries := k.entries
	for i, x := range arrowutil.Values[uint32](indices) {
		if uint64(x) >= uint64(len(entries)) {
			return true, errNoEntry
		}
		id := entries[x]
		if id == None {
			k.words.find(entries[x:x+1], words{lo: c.entries[x : x+1]}, true)
			id = entries[x]
		}
		out[i] = id
	}
	return true, nil
}

// layout makes room for the codes of the loaded columns. It reports false if packed words have too few bits.
func (k *Keyer) layout() bool {
	grown := false
	for i := range k.columns {
		if k.columns[i].wide {
			return false
		}
		grown = k.columns[i].outgrown() || grown
	}
	if k.Full || !grown {
		return true
	}
	old := make([]layout, len(k.columns))
	for i := range k.columns {
		old[i] = k.columns[i].layout
		k.columns[i].fit(&k.words)
	}
	k.widen()
	k.addSlack(old)
	for k.width() > mostPacked {
		widest := -1
		for i := range k.columns {
			if c := &k.columns[i]; c.ranged && (widest < 0 || c.width > k.columns[widest].width) {
				widest = i
			}
		}
		if widest < 0 {
			break
		}
		k.columns[widest].number(old[widest], &k.words)
	}
	if !k.place() {
		for i := range k.columns {
			k.columns[i].layout = old[i]
		}
		return false
	}
	k.words.relayout(k.width(), k.wide(), k.indexRoom(), func(w word) (out word) {
		for i := range k.columns {
			c := &k.columns[i]
			part := c.at(c.recode(old[i], old[i].of(w)))
			out.lo |= part.lo
			out.hi |= part.hi
		}
		return out
	})
	return true
}

// place finds the place of each column in words: numbers are in the lower bits, of which none is missing: one bit is always clear.
// It reports false if words have too few bits.
func (k *Keyer) place() bool {
	shift := uint(0)
	if k.wide() {
		shift = 1
	}
	for _, ranged := range []bool{false, true} {
		for i := range k.columns {
			if c := &k.columns[i]; c.ranged == ranged {
				c.shift = shift
				shift += uint(c.width)
			}
		}
		if !ranged && shift > 64 {
			return false
		}
	}
	return shift <= mostPacked+1
}

// indexRoom is the number of rows that decides about a direct index.
func (k *Keyer) indexRoom() int64 { return min(k.seen, k.o.Room) }

// widen makes room for all integers of 32 bits in words that are too wide for an index anyway, so that no other layout follows.
func (k *Keyer) widen() {
	const bits, least = 34, math.MinInt32
	if !k.wide() {
		return
	}
	for i := range k.columns {
		c := &k.columns[i]
		if c.ranged && c.base >= least && c.base <= math.MaxUint32 && c.width <= 32 && k.width()+bits-c.width <= mostPacked {
			c.base, c.width = least, bits
		}
	}
}

// addSlack widens columns that have outgrown a layout by a bit, so that few layouts follow, unless a direct index becomes too large.
func (k *Keyer) addSlack(old []layout) {
	width := k.width()
	slack := 0
	for i, o := range old {
		if o.width > 0 && k.columns[i].width > o.width {
			slack++
		}
	}
	if width+slack > mostPacked || width <= k.mostNarrow() && width+slack > k.mostNarrow() || isDirect(width, k.indexRoom()) && !isDirect(width+slack, k.indexRoom()) {
		return
	}
	for i, o := range old {
		if o.width > 0 && k.columns[i].width > o.width {
			k.columns[i].width++
		}
	}
}

// unhash replaces hashed words by a direct index as soon as enough rows have been seen for it.
func (k *Keyer) unhash() {
	if !k.Full && k.words.direct == nil && isDirect(k.width(), k.indexRoom()) {
		k.words.relayout(k.width(), false, k.indexRoom(), func(w word) word { return w })
	}
}

// width is the number of bits of packed words.
func (k *Keyer) width() (n int) {
	for i := range k.columns {
		n += k.columns[i].width
	}
	return n
}

// mostNarrow is the number of bits of words that have no upper half. One that is always clear tells several columns from missing, which a single one has
// no code for.
func (k *Keyer) mostNarrow() int {
	if len(k.columns) == 1 {
		return 64
	}
	return 63
}

// wide reports whether words have an upper half.
func (k *Keyer) wide() bool { return k.width() > k.mostNarrow() }

// useStrings encodes the known rows, and those that follow.
func (k *Keyer) useStrings() error {
	if k.chunks == nil {
		return fault.Limitf("more than %d distinct values", k.Len())
	}
	columns := make([]arrow.Array, len(k.chunks))
	defer func() { arrowutil.ReleaseAll(columns) }()
	for i := range columns {
		var err error
		if columns[i], err = k.Key(i, 1, k.kept+1); err != nil {
			return err
		}
	}
	k.strings = &order.KeySet{}
	if k.kept > 0 { // also if no others get numbers; rows of this batch that already have some get them again
		k.strings.NumberRows(make([]uint32, k.kept), k.encoder, true, columns...)
	}
	k.words = wordTable{}
	for i := range k.columns {
		k.columns[i].release()
		k.columns[i] = keyColumn{}
	}
	return nil
}
