package inverted

import (
	"bytes"
	"context"

	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/amudai/amudai-go/shard/internal/index/internal/columns"
)

// The sizes from which on pages end.
const (
	leafBytes  = 8192
	innerBytes = 4096
)

// leafEntry is a list of a term.
type leafEntry struct {
	term       []byte
	stripe     uint16
	field      uint32
	form       Form
	start, end uint64 // in the positions
}

// tree writes pages from the leaves on: each page when it is full, followed by that of its parents which that makes full.
type tree struct {
	out   *columns.Writer
	leaf  []leafEntry // terms that are equal share memory
	size  int
	inner []innerPage // by level, the parents of leaves first
}

// innerPage is the last terms of pages, and their numbers.
type innerPage struct {
	terms    [][]byte
	children []uint64
	size     int
}

// push adds a list behind the others.
func (t *tree) push(ctx context.Context, e leafEntry) error {
	if n := len(t.leaf); n > 0 && bytes.Equal(t.leaf[n-1].term, e.term) {
		e.term = t.leaf[n-1].term
	} else {
		e.term = bytes.Clone(e.term)
		t.size += len(e.term)
	}
	t.leaf = append(t.leaf, e)
	if t.size += 16; t.size > leafBytes {
		return t.endLeaf(ctx)
	}
	return nil
}

// page completes a page, and returns its number.
func (t *tree) page(ctx context.Context) (uint64, error) {
	n := t.out.Rows + int64(t.out.Build.Field(0).Len()) - 1
	if t.out.Build.Field(0).Len() == pagesAtOnce {
		return uint64(n), t.out.Flush(ctx)
	}
	return uint64(n), nil
}

// pagesAtOnce is how many pages are built as Arrow arrays before they are encoded.
const pagesAtOnce = 64

// entryBuilders build the columns of entries.
type entryBuilders struct {
	page      *array.LargeListBuilder
	item      *array.StructBuilder
	term      *array.BinaryBuilder
	child     *array.Uint64Builder
	stripes   *array.LargeListBuilder
	stripe    *array.StructBuilder
	stripeID  *array.Uint16Builder
	fields    *array.LargeListBuilder
	field     *array.StructBuilder
	fieldID   *array.Uint32Builder
	form      *array.Uint8Builder
	end       *array.Uint64Builder
	level     *array.Uint8Builder
	pageStart *array.Uint64Builder
}

func (t *tree) builders() (b entryBuilders) {
	r := t.out.Build
	b.level, b.pageStart = r.Field(0).(*array.Uint8Builder), r.Field(2).(*array.Uint64Builder)
	b.page = r.Field(1).(*array.LargeListBuilder)
	b.item = b.page.ValueBuilder().(*array.StructBuilder)
	b.term, b.child = b.item.FieldBuilder(0).(*array.BinaryBuilder), b.item.FieldBuilder(1).(*array.Uint64Builder)
	b.stripes = b.item.FieldBuilder(2).(*array.LargeListBuilder)
	b.stripe = b.stripes.ValueBuilder().(*array.StructBuilder)
	b.stripeID, b.fields = b.stripe.FieldBuilder(0).(*array.Uint16Builder), b.stripe.FieldBuilder(1).(*array.LargeListBuilder)
	b.field = b.fields.ValueBuilder().(*array.StructBuilder)
	b.fieldID, b.form = b.field.FieldBuilder(0).(*array.Uint32Builder), b.field.FieldBuilder(1).(*array.Uint8Builder)
	b.end = b.field.FieldBuilder(2).(*array.Uint64Builder)
	return b
}

// endLeaf writes the open leaf.
func (t *tree) endLeaf(ctx context.Context) error {
	b := t.builders()
	b.level.Append(0)
	b.pageStart.Append(t.leaf[0].start)
	b.page.Append(true)
	for i, e := range t.leaf {
		another := i == 0 || !bytes.Equal(e.term, t.leaf[i-1].term)
		if another {
			b.item.Append(true)
			b.term.Append(e.term)
			b.child.AppendNull()
			b.stripes.Append(true)
		}
		if another || e.stripe != t.leaf[i-1].stripe {
			b.stripe.Append(true)
			b.stripeID.Append(e.stripe)
			b.fields.Append(true)
		}
		b.field.Append(true)
		b.fieldID.Append(e.field)
		b.form.Append(uint8(e.form))
		b.end.Append(e.end)
	}
	last := t.leaf[len(t.leaf)-1].term
	t.leaf, t.size = t.leaf[:0], 0
	n, err := t.page(ctx)
	if err != nil {
		return err
	}
	return t.pushChild(ctx, 0, last, n)
}

// pushChild adds a page to the open page of a level above it.
func (t *tree) pushChild(ctx context.Context, level int, last []byte, n uint64) error {
	if level == len(t.inner) {
		t.inner = append(t.inner, innerPage{})
	}
	p := &t.inner[level]
	p.terms, p.children = append(p.terms, last), append(p.children, n)
	if p.size += len(last) + 24; p.size <= innerBytes {
		return nil
	}
	last, n, err := t.endInner(ctx, level)
	if err != nil {
		return err
	}
	return t.pushChild(ctx, level+1, last, n)
}

// endInner writes the open page of a level.
func (t *tree) endInner(ctx context.Context, level int) (last []byte, n uint64, err error) {
	p := &t.inner[level]
	b := t.builders()
	b.level.Append(uint8(level + 1))
	b.pageStart.AppendNull()
	b.page.Append(true)
	for i, term := range p.terms {
		b.item.Append(true)
		b.term.Append(term)
		b.child.Append(p.children[i])
		b.stripes.AppendNull()
	}
	last = p.terms[len(p.terms)-1]
	*p = innerPage{}
	n, err = t.page(ctx)
	return last, n, err
}

// finish writes the open pages. The last one is the root.
func (t *tree) finish(ctx context.Context) error {
	if len(t.leaf) > 0 {
		if err := t.endLeaf(ctx); err != nil {
			return err
		}
	}
	for level := 0; level < len(t.inner); level++ {
		if len(t.inner[level].terms) == 0 {
			continue
		}
		last, n, err := t.endInner(ctx, level)
		if err == nil && level+1 < len(t.inner) {
			err = t.pushChild(ctx, level+1, last, n)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
