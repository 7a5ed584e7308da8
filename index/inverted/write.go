package inverted

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/amudai/amudai-go/encoding"
	"github.com/amudai/amudai-go/index/analysis"
	"github.com/amudai/amudai-go/index/term"
	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/format/edition"
	"github.com/amudai/amudai-go/internal/format/shardwriter"
	"github.com/amudai/amudai-go/storage"
	"github.com/amudai/amudai-go/stripe/write"
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
	err = term.Each(o.Collation, func(text []byte, field int, rows func(func(uint32)) error) error {
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
		err = w.terms.publish(ctx, create("terms"))
	}
	if err == nil {
		err = w.positions.publish(ctx, create("positions"))
	}
	return err
}

// writer writes the pages and the positions.
type writer struct {
	ctx              context.Context
	o                Options
	terms, positions *shardOut
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
	if w.terms, err = newShardOut(termsSchema, o.TempDir); err != nil {
		return nil, err
	}
	if w.positions, err = newShardOut(positionsSchema, o.TempDir); err != nil {
		w.terms.close()
		return nil, err
	}
	w.tree.out = w.terms
	return w, nil
}

func (w *writer) close() {
	w.terms.close()
	w.positions.close()
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
	out := w.positions.build.Field(0).(*array.Uint64Builder)
	for i := range w.lists {
		l := &w.lists[i]
		start := w.numbers
		var err error
		l.each(func(v uint64) {
			out.Append(v)
			if w.numbers++; out.Len() == readNumbers && err == nil {
				err = w.positions.flush(w.ctx)
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

// shardOut is a shard of one stripe in the making.
type shardOut struct {
	message []byte
	build   *array.RecordBuilder
	stripe  *write.Writer
	rows    int64
}

// stagedBytes is the memory for encoded values of a shard, beyond which they are in temporary files.
const stagedBytes = 4 << 20

func newShardOut(s *arrow.Schema, tempDir string) (*shardOut, error) {
	message, columns, err := columnsOf(s)
	if err != nil {
		return nil, err
	}
	w, err := write.NewWriter(columns, write.Options{
		Encoding: encoding.Options{Profile: encoding.MinimalCompression}, Parallelism: 1,
		Budget: storage.NewBudget(stagedBytes), TempDir: tempDir,
	})
	return &shardOut{message: message, build: array.NewRecordBuilder(memory.DefaultAllocator, s), stripe: w}, err
}

// flush gives the rows that were built to the stripe.
func (s *shardOut) flush(ctx context.Context) error {
	batch := s.build.NewRecordBatch()
	defer batch.Release()
	s.rows += batch.NumRows()
	return s.stripe.Write(ctx, batch.Columns(), int(batch.NumRows()))
}

// publish writes the shard.
func (s *shardOut) publish(ctx context.Context, out io.Writer) error {
	if err := s.flush(ctx); err != nil {
		return err
	}
	f, err := s.stripe.Finish(ctx)
	if err != nil {
		return err
	}
	defer f.Release()
	w, err := shardwriter.Create(ctx, shardLocation, s.message, shardwriter.Options{
		Store: storage.ToWriter(shardLocation, out), CreationTime: shardTime, Edition: edition.Reference,
	})
	if err != nil {
		return err
	}
	if err := w.AppendStripe(ctx, f, shardwriter.StripeOptions{}); err != nil {
		return errors.Join(err, w.Abort(context.WithoutCancel(ctx)))
	}
	return w.Close(ctx)
}

func (s *shardOut) close() {
	s.build.Release()
	s.stripe.Close()
}
