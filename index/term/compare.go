package term

import (
	"cmp"
	"context"
	"encoding/binary"
	"iter"
	"slices"

	"github.com/zeebo/xxh3"

	"github.com/amudai/amudai-go/index/term/internal/runs"
	"github.com/amudai/amudai-go/internal/base/fault"
)

// Compare calls found with each difference to another index of the same options, and with each gram whose blocks are not those of the terms.
func (x *Index) Compare(ctx context.Context, other *Index, found func(error) error) error {
	if err := x.compareTerms(ctx, other, found); err != nil {
		return err
	}
	return x.compareGrams(ctx, found)
}

// compareTerms compares the terms and their rows.
func (x *Index) compareTerms(ctx context.Context, other *Index, found func(error) error) error {
	nextHave, stopHave := iter.Pull2(x.All(ctx))
	defer stopHave()
	nextWant, stopWant := iter.Pull2(other.All(ctx))
	defer stopWant()
	have, err, isHere := nextHave()
	want, wantErr, isThere := nextWant()
	for err = cmp.Or(err, wantErr); err == nil && (isHere || isThere); err = cmp.Or(err, wantErr) {
		order := 1
		if !isHere {
			order = -1
		} else if isThere {
			order = runs.Compare(x.Collation, want.Term, want.Field, have.Term, have.Field)
		}
		switch {
		case order < 0:
			err = found(fault.Corruptf("term %q of field %d is missing", want.Term, want.Field))
		case order > 0:
			err = found(fault.Corruptf("term %q of field %d is not in the data", have.Term, have.Field))
		default:
			err = x.compareRows(ctx, have, other, want, found)
		}
		if err == nil && order >= 0 {
			have, err, isHere = nextHave()
		}
		if order <= 0 {
			want, wantErr, isThere = nextWant()
		}
	}
	return err
}

// compareRows compares the rows of a term.
func (x *Index) compareRows(ctx context.Context, e Entry, other *Index, want Entry, found func(error) error) error {
	n, hash, err := x.digest(ctx, e)
	if err != nil {
		return err
	}
	wantN, wantHash, err := other.digest(ctx, want)
	if err != nil || n == wantN && hash == wantHash {
		return err
	}
	return found(fault.Corruptf("term %q of field %d has %d rows, the data %d, or others", e.Term, e.Field, n, wantN))
}

// digest returns the number of rows of an entry, and the hash of these with their frequencies and bounds. Each list is read once, a part at a time.
func (x *Index) digest(ctx context.Context, e Entry) (n int, hash uint64, err error) {
	h := xxh3.New()
	var buf []byte
	err = x.each(ctx, e, 0, uint32(x.total), nil, lists{counts: true, yield: func(rows, frequencies []uint32) error {
		n += len(rows)
		for _, numbers := range [][]uint32{rows, frequencies} {
			buf, _ = binary.Append(buf[:0], binary.LittleEndian, numbers)
			_, _ = h.Write(buf) // neither fails
		}
		return nil
	}})
	if err == nil && e.Field < x.Scored && e.Rows > shortRows {
		var l *List
		if l, err = x.List(ctx, e); err == nil {
			_, _ = h.Write(l.Table())
		}
	}
	return n, h.Sum64(), err
}

// compareGrams compares the blocks of grams with the terms of the blocks.
func (x *Index) compareGrams(ctx context.Context, found func(error) error) error {
	if x.pages == nil {
		return nil
	}
	want, err := x.collectGrams(ctx)
	if err != nil {
		return err
	}
	cut, err := x.cutBlocks(ctx, nil)
	if err != nil {
		return err
	}
	if !slices.Equal(cut, want.cut) {
		if err := found(fault.Corruptf("list of %d blocks with terms that may have been cut, which are %d, or others", len(cut), len(want.cut))); err != nil {
			return err
		}
	}
	var p *page
	perPage := gramNumbers / x.numPages()
	for number := range gramNumbers {
		if number%perPage == 0 {
			if p, err = x.page(ctx, number/perPage, nil); err != nil {
				return err
			}
		}
		have, all, err := p.find(uint16(number), len(x.blocks))
		if err != nil {
			return fault.In(err, "grams", x.pages[number/perPage])
		}
		l := want.list(uint16(number))
		if all || l == nil && len(have) == 0 || l != nil && (l.all || slices.Equal(have, l.blocks(nil))) {
			continue
		}
		if err := found(fault.Corruptf("gram %d has %d blocks, or others than its terms", number, len(have))); err != nil {
			return err
		}
	}
	return nil
}

// collectGrams collects the blocks of the grams of all terms.
func (x *Index) collectGrams(ctx context.Context) (*gramWriter, error) {
	g := &gramWriter{collation: x.Collation, memory: gramMemory}
	for i := range x.blocks {
		b, err := x.block(ctx, i)
		if err != nil {
			return nil, err
		}
		for k := range b.len() {
			g.add(b.term(k), 0)
		}
		g.endBlock(uint32(i))
	}
	return g, nil
}
