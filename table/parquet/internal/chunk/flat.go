package chunk

import (
	"cmp"
	"context"
	"errors"
	"math"
	"sync"
	"unicode/utf8"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
	"github.com/amudai/amudai-go/internal/base/bitmap"
	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/engine/rowset"
	"github.com/amudai/amudai-go/storage"
)

var (
	errLevels = fault.Corruptf("the page has too few levels")
	errValues = fault.Corruptf("the page has too few values")
	errCode   = fault.Corruptf("a code is beyond the dictionary")
	errText   = fault.Corruptf("a string is not UTF-8")

	errNotCoded = fault.Corruptf("the page has values, by the footer it has codes of a dictionary")
)

// input is what a read has at hand.
type input struct {
	have     storage.Prefetched
	counters *Counters
	held     *held
	keep     bool // pages are read again, for other rows
}

// cursor decodes a page from some row on, in ascending order.
type cursor struct {
	*page
	row    int // of the page
	value  int // of the values, without nulls
	levels hybrid
	values hybrid
}

func (p *page) cursor() cursor { return cursor{page: p, levels: p.levels, values: p.values} }

// seek leaves out rows up to a row.
func (c *cursor) seek(row int) error {
	n := row - c.row
	if n <= 0 {
		return nil
	}
	values := n
	if c.optional {
		var ok bool
		if values, ok = c.levels.bits(nil, 0, n); !ok {
			return errLevels
		}
	}
	return c.advance(n, values)
}

func (c *cursor) advance(rows, values int) error {
	if c.data == nil && !c.page.values.empty() && !c.values.skip(values) {
		return errValues
	}
	c.row += rows
	c.value += values
	return nil
}

// empty reports whether the hybrid has no bytes: a page of nulls only may have none.
func (h *hybrid) empty() bool { return len(h.b) == 0 && h.width == 0 }

// valid decodes which of the next n rows have a value.
func (c *cursor) valid(dst []byte, at, n int) (values int, err error) {
	if !c.optional {
		if dst != nil {
			bitmap.SetRange(dst, at, n)
		}
		return n, nil
	}
	values, ok := c.levels.bits(dst, at, n)
	if !ok {
		return 0, errLevels
	}
	return values, nil
}

// codes decodes the codes of the next values.
func (c *cursor) codes(dst []uint32, entries int) error {
	if !c.values.decode(dst) {
		return errValues
	}
	most := uint32(0)
	for _, v := range dst {
		most = max(most, v)
	}
	if len(dst) > 0 && int64(most) >= int64(entries) {
		return errCode
	}
	return nil
}

// eachRange calls f with each page that has some of the rows, and the ranges of these in it.
func (c *Chunk) eachRange(ctx context.Context, rows rowset.Set, in input, f func(cur *cursor, from, to int) error) error {
	pages, err := c.Layout(ctx, in.have)
	if err != nil {
		return err
	}
	at, cached := -1, false
	var cur cursor
	var end int64
	bounds := rows.Bounds()
	leave := func() {
		if at >= 0 {
			c.leave(cur.page, at, cached, bounds.To >= end, in.keep)
		}
	}
	for r := range rows.Ranges() {
		for r.From < r.To {
			if at < 0 || r.From >= end {
				if err := ctx.Err(); err != nil {
					return err
				}
				leave()
				if at = pageOf(pages, r.From); at < 0 {
					return fault.Corruptf("no page has row %d", r.From)
				}
				end = pages[at].First + c.RowsOf(pages, at)
				var p *page
				if p, cached, err = c.page(ctx, pages, at, in, in.keep || bounds.To < end); err != nil {
					return err
				}
				cur = p.cursor()
			}
			from, to := int(r.From-pages[at].First), int(min(r.To, end)-pages[at].First)
			if from >= to {
				return fault.Corruptf("no page has row %d", r.From)
			}
			if err := cur.seek(from); err != nil {
				return err
			}
			if err := f(&cur, from, to); err != nil {
				return fault.In(err, "page", pages[at].At)
			}
			r.From = min(r.To, end)
		}
	}
	leave()
	return nil
}

// output is an array in the making.
type output struct {
	mem    memory.Allocator
	s      *Scalar
	dict   *dictionary
	limit  int64
	rows   int
	n      int // rows so far
	nulls  int
	valid  *memory.Buffer // nil for columns without nulls
	values *memory.Buffer // fixed-width values, booleans, or the bytes of byte strings
	ends   *memory.Buffer // offsets of byte strings
	size   int            // bytes of byte strings so far
	codes  []uint32       // scratch
}

// read reads rows as an array of type s.arrow.
func (c *Chunk) read(ctx context.Context, mem memory.Allocator, s *Scalar, rows rowset.Set, limit int64, in input) (_ arrow.Array, err error) {
	n := rows.Len()
	limit = cmp.Or(max(limit, 0), maxArrayBytes)
	if n > math.MaxInt32 || n*int64(max(s.width, 1)) > limit {
		return nil, fault.ErrBatchTooLarge
	}
	out := &output{mem: mem, s: s, limit: limit, rows: int(n)}
	defer func() {
		if err != nil {
			out.release()
		}
	}()
	out.allocate(c.Column.MaxDefinitionLevel() > 0)
	dict, err := c.dict(ctx, s, in)
	if err != nil {
		return nil, err
	}
	out.dict = dict
	if err := c.eachRange(ctx, rows, in, out.add); err != nil {
		return nil, err
	}
	return out.array()
}

// maxArrayBytes is the default of the memory of an array's values.
const maxArrayBytes = 1 << 30

func (o *output) allocate(optional bool) {
	if optional {
		o.valid = arrowutil.NewZeroBuffer(o.mem, (o.rows+7)/8)
	}
	switch {
	case o.s.isBool():
		o.values = arrowutil.NewZeroBuffer(o.mem, (o.rows+7)/8)
	case o.s.isBytes():
		o.ends = arrowutil.NewBuffer(o.mem, 4*(o.rows+1))
		arrowutil.As[int32](o.ends.Bytes())[0] = 0
		o.values = memory.NewResizableBuffer(o.mem)
	default:
		o.values = arrowutil.NewBuffer(o.mem, o.rows*o.s.width)
	}
}

func (o *output) release() {
	for _, b := range []*memory.Buffer{o.valid, o.values, o.ends} {
		if b != nil {
			b.Release()
		}
	}
	o.valid, o.values, o.ends = nil, nil, nil
}

// add decodes rows of a page.
func (o *output) add(cur *cursor, from, to int) error {
	n := to - from
	values := n
	if o.s.isCodes && !cur.coded {
		return errNotCoded
	}
	if o.valid != nil {
		var err error
		if values, err = cur.valid(o.valid.Bytes(), o.n, n); err != nil {
			return err
		}
	}
	var err error
	switch {
	case values == 0:
		o.skip(n)
	case o.s.isBool():
		err = o.addBools(cur, n, values)
	case o.s.isBytes():
		err = o.addBytes(cur, n, values)
	default:
		err = o.addFixed(cur, n, values)
	}
	o.n += n
	o.nulls += n - values
	cur.row += n
	cur.value += values
	return err
}

// skip adds n nulls. Their values are zeros.
func (o *output) skip(n int) {
	switch {
	case o.s.isBool():
	case o.s.isBytes():
		o.fillEnds(o.n, n)
	default:
		clear(o.values.Bytes()[o.n*o.s.width : (o.n+n)*o.s.width])
	}
}

func (o *output) fillEnds(at, n int) {
	ends := arrowutil.As[int32](o.ends.Bytes())[at+1 : at+1+n]
	for i := range ends {
		ends[i] = int32(o.size)
	}
}

func (o *output) addBools(cur *cursor, n, values int) error {
	if values == n {
		if _, ok := cur.values.bits(o.values.Bytes(), o.n, n); !ok {
			return errValues
		}
		return nil
	}
	dense := o.scratch(values)
	if !cur.values.decode(dense) {
		return errValues
	}
	bits, valid := o.values.Bytes(), o.valid.Bytes()
	for i, k := o.n, 0; i < o.n+n; i++ {
		if valid[i>>3]>>(i&7)&1 != 0 {
			bits[i>>3] |= byte(dense[k]) << (i & 7)
			k++
		}
	}
	return nil
}

// scratch is memory for codes, until its next use.
func (o *output) scratch(n int) []uint32 {
	if cap(o.codes) < n {
		o.codes = make([]uint32, n)
	}
	return o.codes[:n]
}

// dictionaryCodes decodes the codes of the next values, until the next use of scratch.
func (o *output) dictionaryCodes(cur *cursor, values int) ([]uint32, error) {
	if o.dict == nil {
		return nil, errors.New("the page has codes, and the column chunk no dictionary")
	}
	codes := o.scratch(values)
	return codes, cur.codes(codes, o.dict.n)
}

func (o *output) addFixed(cur *cursor, n, values int) error {
	w := o.s.width
	dst := o.values.Bytes()[o.n*w : (o.n+n)*w]
	if o.s.isCodes {
		if err := cur.codes(arrowutil.As[uint32](dst)[:values], o.dict.n); err != nil {
			return err
		}
	} else if cur.coded {
		codes, err := o.dictionaryCodes(cur, values)
		if err != nil {
			return err
		}
		gather(dst, o.dict.data, codes, w)
	} else {
		from, to := cur.value*w, (cur.value+values)*w
		if to > len(cur.data) {
			return errValues
		}
		copy(dst, cur.data[from:to])
	}
	if values < n {
		o.spread(dst, n, values)
	}
	return nil
}

// gather copies the entries of codes, which are within the dictionary.
func gather(dst, entries []byte, codes []uint32, width int) {
	switch width {
	case 4:
		gatherAs(arrowutil.As[uint32](dst), arrowutil.As[uint32](entries), codes)
	case 8:
		gatherAs(arrowutil.As[uint64](dst), arrowutil.As[uint64](entries), codes)
	default:
		for i, c := range codes {
			copy(dst[i*width:(i+1)*width], entries[int(c)*width:])
		}
	}
}

func gatherAs[T any](dst, entries []T, codes []uint32) {
	dst = dst[:len(codes)]
	for i, c := range codes {
		dst[i] = entries[c]
	}
}

// spread moves the values at the beginning of dst to the rows that have one, and zeros to nulls.
func (o *output) spread(dst []byte, n, values int) {
	valid := o.valid.Bytes()
	switch o.s.width {
	case 4:
		spreadAs(arrowutil.As[uint32](dst), valid, o.n, n, values)
	case 8:
		spreadAs(arrowutil.As[uint64](dst), valid, o.n, n, values)
	default:
		w := o.s.width
		for i, k := n-1, values-1; i > k; i-- {
			if at := o.n + i; valid[at>>3]>>(at&7)&1 != 0 {
				copy(dst[i*w:(i+1)*w], dst[k*w:(k+1)*w])
				k--
			} else {
				clear(dst[i*w : (i+1)*w])
			}
		}
	}
}

func spreadAs[T uint32 | uint64](dst []T, valid []byte, at, n, values int) {
	for i, k := n-1, values-1; i > k; i-- {
		if b := at + i; valid[b>>3]>>(b&7)&1 != 0 {
			dst[i] = dst[k]
			k--
		} else {
			dst[i] = 0
		}
	}
}

func (o *output) addBytes(cur *cursor, n, values int) error {
	data, starts := cur.data, []uint32(nil)
	if cur.coded {
		codes, err := o.dictionaryCodes(cur, values)
		if err != nil {
			return err
		}
		data, starts = o.dict.data, codes
		for i, c := range codes {
			codes[i] = o.dict.starts[c]
		}
	} else {
		all, err := cur.textStarts()
		if err != nil {
			return err
		}
		if cur.value+values > len(all) {
			return errValues
		}
		starts = all[cur.value : cur.value+values]
	}
	return o.addTexts(data, starts, n, !cur.coded && o.s.Storage.ID() == arrow.STRING)
}

// textStarts are the places of the plain byte strings of the page.
func (p *page) textStarts() ([]uint32, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.starts == nil {
		starts, err := startsOf(p.data, -1)
		if err != nil {
			return nil, err
		}
		p.starts = starts
	}
	return p.starts, nil
}

// addTexts adds the byte strings at starts for the rows that have a value, among n.
func (o *output) addTexts(data []byte, starts []uint32, n int, check bool) error {
	size := int64(o.size)
	for _, s := range starts {
		size += int64(uint32(data[s-4]) | uint32(data[s-3])<<8 | uint32(data[s-2])<<16 | uint32(data[s-1])<<24)
	}
	if size > math.MaxInt32 || size > o.limit && o.rows > 1 {
		return fault.ErrBatchTooLarge
	}
	o.reserve(int(size), n)
	out := o.values.Bytes()
	ends := arrowutil.As[int32](o.ends.Bytes())[o.n+1 : o.n+1+n]
	var valid []byte
	if len(starts) < n {
		valid = o.valid.Bytes()
	}
	at, k := o.size, 0
	for i := range ends {
		if b := o.n + i; valid == nil || valid[b>>3]>>(b&7)&1 != 0 {
			at += copy(out[at:], textAt(data, starts[k]))
			k++
		}
		ends[i] = int32(at)
	}
	if check && !utf8.Valid(out[o.size:at]) || check && !o.cutsAreValid(ends, out[:at]) {
		return errText
	}
	o.size = at
	return nil
}

// cutsAreValid reports whether no string begins within a character.
func (o *output) cutsAreValid(ends []int32, out []byte) bool {
	for _, e := range ends {
		if int(e) < len(out) && !utf8.RuneStart(out[e]) {
			return false
		}
	}
	return true
}

// reserve makes room for size bytes, and by these for those of the rows that follow.
func (o *output) reserve(size, n int) {
	if have := o.values.Cap(); size > have {
		guess := int64(size) + int64(size-o.size)*int64(o.rows-o.n-n)/int64(max(n, 1))
		o.values.Reserve(int(min(max(guess, int64(size)), int64(2*size)+1<<20)))
	}
	o.values.ResizeNoShrink(size)
}

// array is the array of all rows.
func (o *output) array() (arrow.Array, error) {
	if o.n != o.rows {
		return nil, errValues
	}
	if o.valid != nil && o.nulls == 0 {
		o.valid.Release()
		o.valid = nil
	}
	switch {
	case o.s.isBytes():
		a := arrowutil.Make(o.s.Storage, o.rows, []*memory.Buffer{o.valid, o.ends, o.values}, nil, o.nulls)
		return o.s.extended(a), nil
	case o.s.isBool():
		return o.s.extended(arrowutil.Make(o.s.Storage, o.rows, []*memory.Buffer{o.valid, o.values}, nil, o.nulls)), nil
	}
	valid, values := o.valid, o.values
	o.valid, o.values = nil, nil
	return o.s.array(o.mem, o.rows, valid, values, o.nulls), nil
}

// dictionary has the distinct values of a chunk.
type dictionary struct {
	n      int
	data   []byte   // plain values
	starts []uint32 // of byte strings

	mu     sync.Mutex
	arrays map[entriesKey]arrow.Array
}

// entriesKey identifies an array of the entries.
type entriesKey struct {
	t     string
	nulls int
}

// held is the dictionary of a chunk, as long as somebody reads it.
type held struct {
	mu   sync.Mutex
	dict *dictionary
	read bool
}

// dict reads the dictionary of the chunk, once. It is nil if there is none.
func (c *Chunk) dict(ctx context.Context, s *Scalar, in input) (*dictionary, error) {
	in.held.mu.Lock()
	defer in.held.mu.Unlock()
	if in.held.read {
		return in.held.dict, nil
	}
	key := chunkKey{c.Group, c.Leaf}
	d, known := c.Source.dictionaries.Get(key)
	if !known {
		var err error
		if d, err = c.readDictionary(ctx, s, in); err != nil {
			return nil, fault.In(err, "dictionary", c.From)
		}
		if in.keep {
			c.Source.dictionaries.Put(key, d, d.size())
		}
	}
	in.held.dict, in.held.read = d, true
	return d, nil
}

// size is the memory that a dictionary takes, in bytes, with an array of its entries.
func (d *dictionary) size() int64 {
	if d == nil {
		return pageOverhead
	}
	return int64(2*cap(d.data)+8*cap(d.starts)) + pageOverhead
}

func (c *Chunk) readDictionary(ctx context.Context, s *Scalar, in input) (*dictionary, error) {
	if c.Rows == 0 || s.isBool() {
		return nil, nil
	}
	h, err := c.Source.pageHeaderAt(ctx, in.have, c.From, c.End)
	if err != nil || h.kind != pageDictionary {
		return nil, err
	}
	b, err := c.Source.BytesAt(ctx, in.have, c.From+int64(h.size), h.encoded)
	if err != nil {
		return nil, err
	}
	if h.encoding != plain && h.encoding != plainDictionary {
		return nil, fault.Corruptf("a dictionary of encoding %d", h.encoding)
	}
	in.counters.AddBlock(pageKey{c.Group, c.Leaf, -1}, h.encoded)
	data, err := c.decompress(&h, b)
	if err != nil {
		return nil, err
	}
	d := &dictionary{n: int(h.values), data: data[:len(data)-padding]}
	if !s.isBytes() {
		if h.values*int64(s.width) > int64(len(d.data)) {
			return nil, fault.Corruptf("%d values in %d bytes", h.values, len(d.data))
		}
	} else if d.starts, err = startsOf(d.data, d.n); err != nil {
		return nil, err
	}
	return d, d.check(s)
}

// entries are the values as an array, with some nulls at the end. The caller releases it.
func (d *dictionary) entries(mem memory.Allocator, s *Scalar, nulls int) (arrow.Array, error) {
	out := &output{mem: mem, s: s, limit: math.MaxInt64, rows: d.n + nulls}
	out.allocate(nulls > 0)
	if nulls > 0 {
		bitmap.SetRange(out.valid.Bytes(), 0, d.n)
	}
	if !s.isBytes() {
		copy(out.values.Bytes(), d.data[:d.n*s.width])
	} else if err := out.addTexts(d.data, d.starts, d.n, false); err != nil {
		out.release()
		return nil, err
	}
	out.n, out.nulls = d.n, nulls
	out.skip(nulls)
	out.n = out.rows
	return out.array()
}

// check checks that strings are UTF-8.
func (d *dictionary) check(s *Scalar) error {
	if s.Storage.ID() != arrow.STRING {
		return nil
	}
	for _, start := range d.starts {
		if !utf8.Valid(textAt(d.data, start)) {
			return errText
		}
	}
	return nil
}
