package inverted

import (
	"bytes"
	"cmp"
	"context"
	"io"
	"slices"

	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/amudai/amudai-go/index/term"
	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/text/analysis"
	"github.com/amudai/amudai-go/shard/internal/index/internal/columns"
)

// Options are the options of [Write].
type Options struct {
	Collation analysis.Collation
	Fields    []uint32 // schema id of each field of the builders
	Stripes   []int64  // the row behind the last one of each stripe but the last
	TempDir   string   // folder of temporary files; empty means that of the system
}

// Write writes an index of what builders have collected, of which each has the rows that follow those of the one before. create begins an
// artifact, which ends with the next one: the shard of the terms, then that of their positions. Besides what is staged in temporary files, it
// takes memory for all rows of a term. Terms of a case-insensitive index are in upper case.
func Write(ctx context.Context, create func(name string) io.Writer, o Options, builders ...*term.Builder) error {
	if len(o.Stripes) > 1<<16-1 {
		return fault.Limitf("inverted index of %d stripes", len(o.Stripes)+1)
	}
	w, err := newWriter(ctx, o)
	if err != nil {
		return err
	}
	defer w.close()
	err = term.Each(ctx, o.Collation, func(text []byte, field int, rows func(func(uint32)) error) error {
		if !bytes.Equal(w.term, text) {
			if err := w.endTerm(); err != nil {
				return err
			}
			w.term = append(w.term[:0], text...)
		}
		return w.add(o.Fields[field], rows)
	}, builders...)
	if err == nil {
		err = w.finish()
	}
	if err == nil {
		err = w.terms.Publish(ctx, create("terms"))
	}
	if err == nil {
		err = w.positions.Publish(ctx, create("positions"))
	}
	return err
}

// writer writes the pages and the positions.
type writer struct {
	ctx              context.Context
	o                Options
	terms, positions *columns.Writer
	term             []byte
	lists            []fieldList // of the current term
	tree             tree
	numbers          uint64 // written to the positions
}

// fieldList is the rows of the current term in a stripe and a field.
type fieldList struct {
	stripe uint16
	field  uint32
	list
}

func newWriter(ctx context.Context, o Options) (w *writer, err error) {
	w = &writer{ctx: ctx, o: o}
	if w.terms, err = columns.NewWriter(termsSchema, o.TempDir); err != nil {
		return nil, err
	}
	if w.positions, err = columns.NewWriter(positionsSchema, o.TempDir); err != nil {
		w.terms.Close()
		return nil, err
	}
	w.tree.out = w.terms
	return w, nil
}

func (w *writer) close() {
	w.terms.Close()
	w.positions.Close()
}

// add adds the rows of the current term in a field, divided by stripes.
func (w *writer) add(field uint32, rows func(func(uint32)) error) error {
	stripe, open := 0, false
	err := rows(func(row uint32) {
		for stripe < len(w.o.Stripes) && int64(row) >= w.o.Stripes[stripe] {
			stripe, open = stripe+1, false
		}
		if !open {
			w.lists = append(w.lists, fieldList{stripe: uint16(stripe), field: field})
			open = true
		}
		w.lists[len(w.lists)-1].add(row)
	})
	if err != nil {
		return err
	}
	return w.ctx.Err()
}

// endTerm writes the lists of the current term.
func (w *writer) endTerm() error {
	slices.SortStableFunc(w.lists, func(a, b fieldList) int {
		return cmp.Or(cmp.Compare(a.stripe, b.stripe), cmp.Compare(a.field, b.field))
	})
	out := w.positions.Build.Field(0).(*array.Uint64Builder)
	for i := range w.lists {
		l := &w.lists[i]
		start := w.numbers
		var err error
		l.each(func(v uint64) {
			out.Append(v)
			if w.numbers++; out.Len() == readNumbers && err == nil {
				err = w.positions.Flush(w.ctx)
			}
		})
		if err == nil {
			err = w.tree.push(w.ctx, leafEntry{w.term, l.stripe, l.field, l.form, start, w.numbers})
		}
		if err != nil {
			return err
		}
	}
	w.lists = w.lists[:0]
	return nil
}

func (w *writer) finish() error {
	if err := w.endTerm(); err != nil {
		return err
	}
	return w.tree.finish(w.ctx)
}
