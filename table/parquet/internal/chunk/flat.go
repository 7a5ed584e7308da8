package chunk

import (
	"cmp"
	"context"
	"errors"
	"math"
	"sync"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
	"github.com/amudai/amudai-go/internal/base/bitmap"
	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/base/scratch"
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

// state is how far a page was decoded.
type state struct {
	row    int    // of the page
	value  int    // of the values, without nulls
	at     int    // of plain byte strings: where the next one begins, with its length
	levels hybrid // of one bit; if optional
	values hybrid // codes, or booleans
}

// cursor decodes a page from some row on, in ascending order.
type cursor struct {
	*page
	state
}

// cursor begins at a row, or before it where a read has been.
func (p *page) cursor(row int) (cursor, error) {
	p.mu.Lock()
	s := p.start
	for _, been := range [...]state{p.began, p.ended} {
		if been.row <= row && been.row > s.row {
			s = been
		}
	}
	p.mu.Unlock()
	c := cursor{page: p, state: s}
	err := c.seek(row)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.began = c.state
	return c, err
}

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
	switch {
	case c.texts:
		var err error
		if c.at, err = skipTexts(c.data, c.at, values); err != nil {
			return err
		}
	case c.data == nil && !c.start.values.empty() && !c.values.skip(values):
		return errValues
	}
	c.row += n
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
	if len(dst) > 0 && int64(greatest(dst)) >= int64(entries) {
		return errCode
	}
	return nil
}

// greatest is the greatest code: of four in turn at a time, so that none waits for the one before.
func greatest(codes []uint32) uint32 {
	var a, b, c, d uint32
	for ; len(codes) >= 4; codes = codes[4:] {
		a, b, c, d = max(a, codes[0]), max(b, codes[1]), max(c, codes[2]), max(d, codes[3])
	}
	for _, v := range codes {
		a = max(a, v)
	}
	return max(a, b, c, d)
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
			c.leave(&cur, at, cached, bounds.To >= end, in.keep)
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
				if cur, err = p.cursor(int(r.From - pages[at].First)); err != nil {
					return err
				}
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
	codes  *[]uint32      // scratch
	apart  *output        // of codes: values that have none of the dictionary
	coded  bool           // of codes: some are of the dictionary. Those of values apart follow these, or else begin with 0
}

// codes has the memory of codes that are not in use.
var codes = sync.Pool{New: func() any { return new([]uint32) }}

// read reads rows as an array of type s.arrow.
func (c *Chunk) read(ctx context.Context, mem memory.Allocator, s *Scalar, rows rowset.Set, limit int64, in input) (arrow.Array, error) {
	out, err := c.decode(ctx, mem, s, rows, limit, in)
	if err != nil {
		return nil, err
	}
	return out.array(), nil
}

// decode decodes rows. The caller makes the array, or releases the output.
func (c *Chunk) decode(ctx context.Context, mem memory.Allocator, s *Scalar, rows rowset.Set, limit int64, in input) (_ *output, err error) {
	n := rows.Len()
	limit = cmp.Or(max(limit, 0), maxArrayBytes)
	if n > math.MaxInt32 || n*int64(max(s.bytes, 1)) > limit {
		return nil, fault.ErrBatchTooLarge
	}
	out := &output{mem: mem, s: s, limit: limit, rows: int(n), codes: codes.Get().(*[]uint32)}
	defer codes.Put(out.codes)
	defer func() {
		if err != nil {
			out.release()
		}
	}()
	out.allocate(c.Column.MaxDefinitionLevel() > 0)
	if out.dict, err = c.dict(ctx, s, in); err == nil {
		err = c.eachRange(ctx, rows, in, out.add)
	}
	if err == nil && out.n != out.rows {
		err = errValues
	}
	return out, err
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
		o.values = arrowutil.NewBuffer(o.mem, o.rows*o.s.bytes)
	}
}

func (o *output) release() {
	for _, b := range []*memory.Buffer{o.valid, o.values, o.ends} {
		if b != nil {
			b.Release()
		}
	}
	o.valid, o.values, o.ends = nil, nil, nil
	if o.apart != nil {
		o.apart.release()
	}
}

// add decodes rows of a page.
func (o *output) add(cur *cursor, from, to int) error {
	n := to - from
	values := n
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
		err = o.addTexts(cur, n, values)
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
		clear(o.values.Bytes()[o.n*o.s.bytes : (o.n+n)*o.s.bytes])
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
	dense := scratch.Slice(o.codes, values)
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

func (o *output) addFixed(cur *cursor, n, values int) error {
	w := o.s.bytes
	dst := o.values.Bytes()[o.n*w : (o.n+n)*w]
	switch {
	case o.s.of != nil:
		if err := o.addCodes(cur, arrowutil.As[uint32](dst)[:values]); err != nil {
			return err
		}
	case cur.coded:
		codes, err := o.dictionaryCodes(cur, values)
		if err != nil {
			return err
		}
		if !gather(dst, o.dict.data, codes, w) {
			return errCode
		}
	default:
		from, to := cur.value*o.s.width, (cur.value+values)*o.s.width
		if to > len(cur.data) {
			return errValues
		}
		o.s.toArrow(dst[:values*w], cur.data[from:to])
	}
	if values < n {
		o.spread(dst, n, values)
	}
	return nil
}

// addCodes decodes the codes of the next values. A page without codes has values apart, and so has each page behind it in a read that began there.
func (o *output) addCodes(cur *cursor, dst []uint32) error {
	switch {
	case cur.coded && (o.coded || o.apart == nil):
		o.coded = true
		return cur.codes(dst, o.dict.n)
	case !o.s.of.isBytes():
		return errNotCoded
	case o.apart == nil:
		o.apart = &output{mem: o.mem, s: o.s.of, dict: o.dict, limit: o.limit, rows: o.rows - o.n, codes: o.codes}
		o.apart.allocate(false)
	}
	if err := o.apart.addTexts(cur, len(dst), len(dst)); err != nil {
		return err
	}
	o.apart.fold(dst, uint32(o.first()))
	return nil
}

// first is the first code of values apart.
func (o *output) first() int {
	if o.coded {
		return o.dict.n
	}
	return 0
}

// dictionaryCodes decodes the codes of the next values, which may be beyond the dictionary. They are overwritten by the next use of scratch.
func (o *output) dictionaryCodes(cur *cursor, values int) ([]uint32, error) {
	if o.dict == nil {
		return nil, errors.New("the page has codes, and the column chunk no dictionary")
	}
	out := scratch.Slice(o.codes, values)
	if !cur.values.decode(out) {
		return nil, errValues
	}
	return out, nil
}

// gather copies the entries of codes. ok is false if one is beyond the dictionary.
func gather(dst, entries []byte, codes []uint32, width int) (ok bool) {
	switch width {
	case 1:
		return gatherAs(dst, entries, codes)
	case 2:
		return gatherAs(arrowutil.As[uint16](dst), arrowutil.As[uint16](entries), codes)
	case 4:
		return gatherAs(arrowutil.As[uint32](dst), arrowutil.As[uint32](entries), codes)
	case 8:
		return gatherAs(arrowutil.As[uint64](dst), arrowutil.As[uint64](entries), codes)
	case 16:
		return gatherAs(arrowutil.As[[2]uint64](dst), arrowutil.As[[2]uint64](entries), codes)
	}
	for i, c := range codes {
		if int64(c) >= int64(len(entries)/width) {
			return false
		}
		copy(dst[i*width:(i+1)*width], entries[int(c)*width:])
	}
	return true
}

func gatherAs[T any](dst, entries []T, codes []uint32) (ok bool) {
	dst = dst[:len(codes)]
	for i, c := range codes {
		if uint64(c) >= uint64(len(entries)) {
			return false
		}
		dst[i] = entries[c]
	}
	return true
}

// spread moves the values at the beginning of dst to the rows that have one, and zeros to nulls.
func (o *output) spread(dst []byte, n, values int) {
	valid := o.valid.Bytes()
	switch w := o.s.bytes; w {
	case 4:
		spreadAs(arrowutil.As[uint32](dst), valid, o.n, n, values)
	case 8:
		spreadAs(arrowutil.As[uint64](dst), valid, o.n, n, values)
	default:
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

// array is the array of all rows.
func (o *output) array() arrow.Array {
	if o.valid != nil && o.nulls == 0 {
		o.valid.Release()
		o.valid = nil
	}
	buffers := []*memory.Buffer{o.valid, o.values}
	if o.s.isBytes() {
		buffers = []*memory.Buffer{o.valid, o.ends, o.values}
	}
	return o.s.extended(arrowutil.Make(o.s.Storage, o.n, buffers, nil, o.nulls))
}
