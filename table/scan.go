package table

import (
	"context"
	"iter"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/amudai/amudai-go/filter"
	"github.com/amudai/amudai-go/internal/format/schema"
	"github.com/amudai/amudai-go/internal/inputs"
	"github.com/amudai/amudai-go/table/internal/tables"
	"github.com/amudai/amudai-go/table/provider"
)

// RowRange is the rows from position From up to, but without, To. The first row has position 0. Negative positions count
// from the end: -1 is the last row. A range may be longer than the table. See [provider.RowRange].
type RowRange = provider.RowRange

// ScanOptions ask for rows of a table in their order. The zero value asks for all.
type ScanOptions struct {
	// Columns are paths of columns, or of parts of nested ones, as in [provider.ReadOptions]. Nil means all columns. With
	// an empty list, batches have a number of rows only.
	Columns []string
	// Filter selects the rows that meet a condition. It may use columns that are not in Columns.
	Filter filter.Expr
	// Rows selects rows by their position, before the filter. The ranges ascend and do not overlap; only a single one may
	// count from the end. Nil means all rows, an empty list none.
	Rows []RowRange
	// Limit is the maximum number of rows of the result; 0 for all.
	Limit int64
	// BatchRows is the maximum number of rows of a batch; default [provider.DefaultBatchRows].
	BatchRows int
	// Dictionaries allows columns of strings to come as dictionaries where files have them.
	Dictionaries bool
	// Decimals64 are paths of columns whose decimals may come with 64 bits, as in [provider.ReadOptions].
	Decimals64 []string
	// Lengths are names of columns that may come as lengths of values, as in [provider.ReadOptions].
	Lengths []string
	// Reuse promises that nothing of a batch is kept when the next one is asked for, so that its memory may be used again.
	Reuse bool
	// Silent leaves out messages.
	Silent bool
	// Messages takes the rows of one file of OTLP as messages, as in [provider.ReadOptions].
	Messages func(next func(ctx context.Context) ([]byte, error))

	anyOrder bool // as provider.ReadOptions has it
}

// Query is a question to a table: the options of one of its methods.
type Query interface {
	open(ctx context.Context, t *Table) (provider.Source, error)
}

// Reader returns the rows of the answer to a question as a source, which tells their schema, and perhaps their number, before
// the first batch. It belongs to one goroutine. Close it before the table.
func (t *Table) Reader(ctx context.Context, q Query) (provider.Source, error) {
	return q.open(inputs.Question(ctx), t)
}

// rows are the batches of the answer to a question.
func (t *Table) rows(ctx context.Context, q Query) iter.Seq2[arrow.RecordBatch, error] {
	return func(yield func(arrow.RecordBatch, error) bool) {
		src, err := t.Reader(ctx, q)
		if err != nil {
			yield(nil, err)
			return
		}
		tables.Batches(ctx, src)(yield)
	}
}

// Scan returns rows as record batches. A batch is valid until the next step of the loop; Retain keeps it longer. An error
// ends the loop. A loop that is left early ends all reading.
func (t *Table) Scan(ctx context.Context, o ScanOptions) iter.Seq2[arrow.RecordBatch, error] {
	return t.rows(ctx, o)
}

func (o ScanOptions) open(ctx context.Context, t *Table) (provider.Source, error) {
	if o.BatchRows == 0 && o.Limit > 0 && o.Limit < provider.DefaultBatchRows {
		o.BatchRows = int(o.Limit)
	}
	return t.union.Open(ctx, t.options(o))
}

// options are those of a scan for sources.
func (t *Table) options(o ScanOptions) provider.ReadOptions {
	ro := provider.ReadOptions{
		Allocator: t.o.Allocator, TempDir: t.o.TempDir, BatchRows: o.BatchRows, Notice: t.o.Notice, Warning: t.o.Warning,
		Columns: o.Columns, Filter: o.Filter, Rows: o.Rows, Limit: o.Limit, Dictionaries: o.Dictionaries, Decimals64: o.Decimals64, Lengths: o.Lengths, AnyOrder: o.anyOrder, Reuse: o.Reuse, Messages: o.Messages,
	}
	if o.Silent {
		ro.Notice, ro.Warning = nil, nil
	}
	return ro
}

// openChosen opens the table with what o.Choose chooses. Formats that filter are opened once for it. Others are opened again if they need not
// read all columns, and can be.
func (t *Table) openChosen(ctx context.Context, o provider.ReadOptions) (provider.Source, error) {
	choose, fewer := o.Choose, false
	o.Choose = func(in *arrow.Schema) (columns []string, where filter.Expr, err error) {
		columns, where, err = choose(in)
		needed := map[string]bool{}
		for _, path := range slices.Concat(columns, where.Columns()) {
			needed[schema.SplitPath(path)[0]] = true
		}
		fewer = columns != nil && len(needed) < in.NumFields()
		o.Columns, o.Filter = columns, where
		return columns, where, err
	}
	src, err := t.union.Open(ctx, o)
	if err != nil || !fewer || !t.Rereadable() || len(t.locations) > 1 || t.filters() {
		return src, err
	}
	if err := src.Close(); err != nil {
		return nil, err
	}
	o.Choose = nil
	return t.union.Open(ctx, o)
}

// filters reports whether all inputs, which were opened, are in formats that filter.
func (t *Table) filters() bool {
	return !slices.ContainsFunc(t.Formats(), func(f provider.Format) bool { return !f.Filters })
}

// Schema returns the columns of the table. Of a single input it reads what tells them, the first time; a pipe is then read by this, so
// that nothing else can read it: ask the source of a [Table.Reader] for the schema instead.
func (t *Table) Schema(ctx context.Context) (*arrow.Schema, error) {
	t.lock.Lock()
	s := t.schema
	t.lock.Unlock()
	if s != nil {
		return s, nil
	}
	src, err := t.Reader(ctx, ScanOptions{BatchRows: 1})
	if err != nil {
		return nil, err
	}
	s = src.Schema()
	t.lock.Lock()
	t.schema = s
	t.lock.Unlock()
	return s, src.Close()
}

// NumRows is the number of rows that a scan returns, if it is known without reading any.
func (t *Table) NumRows(ctx context.Context, o ScanOptions) (n int64, known bool, err error) {
	if !t.Rereadable() || !o.Filter.IsZero() {
		return 0, false, nil
	}
	o.Silent = true
	return t.union.NumRows(ctx, t.options(o))
}

// Count returns the number of rows that a scan returns. It reads only inputs that do not record their number of rows, or the columns of
// the filter.
func (t *Table) Count(ctx context.Context, o ScanOptions) (int64, error) {
	return t.union.Count(ctx, t.options(o))
}

// ParseRows parses a range of rows: "100:200", "100:", ":100", or "-100:" for the last 100 rows.
func ParseRows(text string) (RowRange, error) { return tables.ParseRange(text) }

// NoRowError is the error of a position that is not in the table.
type NoRowError = tables.NoRowError
