package term

import (
	"context"
	"encoding/binary"
	"slices"
	"strconv"

	"github.com/amudai/amudai-go/index/term/internal/scored"
	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/format/container"
	"github.com/amudai/amudai-go/internal/format/postings"
	"github.com/amudai/amudai-go/internal/text/analysis"
	"github.com/amudai/amudai-go/storage"
)

// lengthTerm is the term that stands for a length code in the field of lengths. It comes before all words, so that lengths are known when
// lists with frequencies are written.
func lengthTerm(dst []byte, code uint8) []byte {
	const digits = "0123456789ABCDEF"
	return append(dst, 0, digits[code>>4], digits[code&15])
}

// lengthOf is the length code of a term.
func lengthOf(term []byte) (code uint8, err error) {
	if len(term) == 3 && term[0] == 0 {
		if c, err := strconv.ParseUint(string(term[1:]), 16, 8); err == nil && c > 0 {
			return uint8(c), nil
		}
	}
	return 0, fault.Corruptf("term %q in the field of lengths", term)
}

// lengthField is the field of the lengths of a field with frequencies.
func (o *Options) lengthField(field int) int { return o.Fields - o.Scored + field }

// lengthsOf is the field whose lengths a field has; ok is false if it has none.
func (o *Options) lengthsOf(field int) (of int, ok bool) {
	of = field - (o.Fields - o.Scored)
	return of, of >= 0 && o.Scored > 0
}

// scoredList is the rows of the current term with frequencies.
type scoredList struct {
	lengths       [][]uint8 // of each field, of each row; nil until a row has one
	rows          []uint32  // of the last block
	frequencies   []uint32  // of these, less 1
	n             int
	before        uint32 // the row behind that of the last block
	table, blocks []byte
	gaps          []uint32
}

func (l *scoredList) reset() {
	l.rows, l.frequencies, l.n, l.before = l.rows[:0], l.frequencies[:0], 0, 0
	l.table, l.blocks = l.table[:0], l.blocks[:0]
}

// add adds rows, of which equal ones follow each other.
func (l *scoredList) add(field int, rows []uint32) {
	for _, r := range rows {
		if k := len(l.rows); k > 0 && l.rows[k-1] == r {
			l.frequencies[k-1] = min(l.frequencies[k-1]+1, analysis.MaxFrequency-1)
			continue
		} else if k == scored.BlockRows {
			l.endBlock(field)
		}
		l.rows, l.frequencies = append(l.rows, r), append(l.frequencies, 0)
		l.n++
	}
}

// endBlock ends the last block.
func (l *scoredList) endBlock(field int) {
	from, bounds := len(l.blocks), analysis.NoRows
	l.gaps = l.gaps[:0]
	for i, r := range l.rows {
		l.gaps = append(l.gaps, r-l.before)
		l.before = r + 1
		bounds.Add(uint8(l.frequencies[i]+1), lengthAt(l.lengths[field], r))
	}
	l.blocks = postings.AppendPacked(postings.AppendPacked(l.blocks, l.gaps), l.frequencies)
	l.blocks = container.AppendChecksum(l.blocks, from)
	l.table = binary.LittleEndian.AppendUint32(l.table, l.before-1)
	l.table = binary.LittleEndian.AppendUint16(l.table, uint16(len(l.blocks)-from))
	l.table = append(append(l.table, bounds.Frequency), bounds.Lengths[:]...)
	l.rows, l.frequencies = l.rows[:0], l.frequencies[:0]
}

// lengthAt is the length code of a row. Rows behind the last that has one have none.
func lengthAt(lengths []uint8, row uint32) uint8 {
	if int(row) < len(lengths) {
		return lengths[row]
	}
	return 0
}

// setLengths sets the lengths of rows in the field of lengths.
func (l *scoredList) setLengths(field int, term []byte, rows []uint32, total int) error {
	code, err := lengthOf(term)
	if err != nil {
		return err
	}
	if l.lengths[field] == nil {
		l.lengths[field] = make([]uint8, total)
	}
	for _, r := range rows {
		l.lengths[field][r] = code
	}
	return nil
}

// List is the rows of an entry with frequencies.
type List = scored.List

// List reads the list of an entry of a field with frequencies.
func (x *Index) List(ctx context.Context, e Entry) (_ *List, err error) {
	defer func() { err = fault.InBlock(err, e.of, -1) }()
	if e.Field >= x.Scored {
		return nil, fault.Corruptf("field %d of a term index has no frequencies", e.Field)
	}
	if e.Rows <= shortRows {
		rows, counts, err := e.block.shortList(nil, nil, e.i, x.total)
		return scored.Short(rows, counts), err
	}
	data, err := x.longList(ctx, e)
	if err != nil {
		return nil, err
	}
	return scored.New(data, e.Rows, x.total)
}

// scoredParts calls yield with the rows of a list with frequencies, a block at a time, and with these if there are to be counts.
func (x *Index) scoredParts(ctx context.Context, e Entry, from, to uint32, wanted func(from, to uint32) bool, counts bool, yield func(rows, frequencies []uint32) error) error {
	l, err := x.List(ctx, e)
	if err != nil {
		return err
	}
	var rows, frequencies []uint32
	next := uint32(0)
	for i := range l.Blocks() {
		begin, last := next, l.Last(i)
		next = last + 1
		if last < from || begin >= to || wanted != nil && !wanted(max(begin, from), min(next, to)) {
			continue
		}
		if rows, err = l.Rows(i, rows); err == nil && counts {
			frequencies, err = l.Counts(i, frequencies)
		}
		if err != nil {
			return err
		}
		lo, hi := 0, len(rows)
		if begin < from || next > to {
			lo, hi = clip(rows, from, to)
		}
		if counts {
			err = yield(rows[lo:hi], frequencies[lo:hi])
		} else {
			err = yield(rows[lo:hi], nil)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// listsBytes of the lists of a block take about as long to arrive as another answer.
const listsBytes = 2 * storage.RemoteGap

// Ahead is the index with bytes in memory that [Index.Find] of terms, or of prefixes, and [Index.Lengths] of codes will read, which were asked for at once: the blocks, and the long lists of each
// if they are few bytes. Without latency it is the index as it is.
func (x *Index) Ahead(ctx context.Context, terms [][]byte) (*Index, error) {
	return x.with(ctx, func(add func(from, to int64)) {
		for of, end := 0, x.blockOf([]byte{1}); of < end; of++ {
			x.addBlock(of, add)
		}
		for _, t := range terms {
			x.addBlock(max(x.blockOf(analysis.AppendUpper(nil, t))-1, 0), add)
		}
	})
}

func (x *Index) addBlock(of int, add func(from, to int64)) {
	if of == len(x.blocks) {
		return
	}
	e := x.blocks[of]
	if e.block-e.lists > listsBytes {
		e.lists = e.block
	}
	add(e.lists, e.end)
}

// ListsAhead is likewise the index with the long lists of entries in memory.
func (x *Index) ListsAhead(ctx context.Context, entries []Entry) (*Index, error) {
	return x.with(ctx, func(add func(from, to int64)) {
		for _, e := range entries {
			if at := x.blocks[e.of].lists + int64(e.block.offset[e.i]); e.Rows > shortRows {
				add(at, at+int64(e.block.sizes[e.i]))
			}
		}
	})
}

// with is the index with more bytes in memory.
func (x *Index) with(ctx context.Context, each func(add func(from, to int64))) (*Index, error) {
	r := x.file.Reader
	if r.Capabilities().Latency != storage.LatencyHigh {
		return x, nil
	}
	var ranges []storage.ByteRange
	each(func(from, to int64) {
		ranges = append(ranges, storage.ByteRange{Reader: r, Offset: x.file.Offset + from, Size: to - from})
	})
	read, err := storage.Prefetch(ctx, x.ahead.Missing(ranges), storage.DefaultCoalesce(storage.LatencyHigh))
	y := *x
	y.ahead = slices.Concat(x.ahead, read)
	return &y, err
}

// Lengths are the number of rows of a field with frequencies that have terms, and the sum of the lengths of their codes.
type Lengths struct{ Rows, Terms int64 }

// Lengths counts the rows of a field with frequencies, and their terms. It sets their length codes in codes, which has a byte for each row of the table; nil reads no lists.
func (x *Index) Lengths(ctx context.Context, field int, codes []uint8) (l Lengths, err error) {
	if field < 0 || field >= x.Scored {
		return l, fault.Corruptf("field %d of a term index has no frequencies", field)
	}
	for e, err := range x.All(ctx) {
		if err != nil || len(e.Term) == 0 || e.Term[0] != 0 {
			return l, err
		}
		if e.Field != x.lengthField(field) {
			continue
		}
		code, err := lengthOf(e.Term)
		if err == nil && codes != nil {
			err = x.EachPart(ctx, e, 0, uint32(x.total), nil, func(rows []uint32) error {
				for _, r := range rows {
					codes[r] = code
				}
				return ctx.Err()
			})
		}
		if err != nil {
			return l, fault.InBlock(err, e.of, -1)
		}
		l.Rows, l.Terms = l.Rows+e.Rows, l.Terms+e.Rows*int64(analysis.Length(code))
	}
	return l, nil
}
