package main

import (
	"context"
	"io"
	"os"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/compute"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/compress"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"

	"github.com/amudai/amudai-go/internal/bench/measure"
	"github.com/amudai/amudai-go/internal/bench/suite"
)

// parquetFile is Parquet through arrow-go, the base of all comparisons.
type parquetFile struct {
	title string
	codec compress.Compression
}

// Name implements [suite.Contender].
func (k parquetFile) Name() string { return k.title }

// Can leaves takes and filters to the base, because the codec of a file does not change how it is read.
func (k parquetFile) Can(d *suite.Dataset, op string) bool {
	if k.title == baseName || d.Times > 1 {
		return k.title == baseName && op != measure.OpViews
	}
	return op == measure.OpWrite || op == measure.OpScan || op == measure.OpProject || op == measure.OpOpen ||
		measure.IsPeak(op)
}

// Write implements [suite.Contender].
func (k parquetFile) Write(_ context.Context, path string, s *arrow.Schema, next suite.Source, _ int) error {
	return suite.Create(path, func(f *os.File) error {
		// The file writer closes its output if it has a Close method.
		w, err := pqarrow.NewFileWriter(s, struct{ io.Writer }{f}, parquet.NewWriterProperties(
			parquet.WithCompression(k.codec), parquet.WithDictionaryDefault(true), parquet.WithPageIndexEnabled(true),
			parquet.WithMaxRowGroupLength(1<<20)), pqarrow.NewArrowWriterProperties(pqarrow.WithStoreSchema()))
		if err != nil {
			return err
		}
		if err := next.Each(w.WriteBuffered); err != nil {
			return err
		}
		return w.Close()
	})
}

// Read implements [suite.Contender].
func (k parquetFile) Read(ctx context.Context, path string, q suite.Query, out *suite.Outcome) error {
	r, err := file.OpenParquetFile(path, false)
	if err != nil {
		return err
	}
	defer r.Close()
	properties := pqarrow.ArrowReadProperties{BatchSize: suite.BatchRows, Parallel: q.Threads > 1}
	fr, err := pqarrow.NewFileReader(r, properties, memory.DefaultAllocator)
	if err != nil {
		return err
	}
	groups, spans, err := prune(r, byHand[q.Where])
	if err != nil || len(spans) == 0 {
		return err
	}
	columns := q.Columns
	if q.Count {
		columns = byHand[q.Where].columns()
	}
	rr, err := fr.GetRecordReader(ctx, leaves(r, columns), groups)
	if err != nil {
		return err
	}
	defer rr.Release()
	take := taker{rows: q.Take}
	for _, s := range spans {
		if s.from > 0 {
			if err := rr.SeekToRow(s.from); err != nil {
				return err
			}
		}
		for at := s.from; at < s.to && rr.Next(); {
			b := rr.RecordBatch()
			at += b.NumRows()
			if err := answer(ctx, b.NewSlice(0, b.NumRows()-max(0, at-s.to)), q, &take, out); err != nil {
				return err
			}
		}
		if err := rr.Err(); err != nil {
			return err
		}
	}
	return nil
}

// leaves are the numbers of the Parquet columns below the named ones.
func leaves(r *file.Reader, columns []string) []int {
	var numbers []int
	s := r.MetaData().Schema
	for _, c := range columns {
		if i := s.ColumnIndexByName(c); i >= 0 {
			numbers = append(numbers, i)
			continue
		}
		for i := range s.NumColumns() {
			if strings.HasPrefix(s.Column(i).Path(), c+".") {
				numbers = append(numbers, i)
			}
		}
	}
	return numbers
}

// answer passes the rows of a decoded batch that match a query to out.
func answer(ctx context.Context, b arrow.RecordBatch, q suite.Query, take *taker, out *suite.Outcome) error {
	defer b.Release()
	if q.Take == nil && q.Where == "" {
		out.Batch(b)
		return ctx.Err()
	}
	var keep []bool
	if q.Take != nil {
		keep = take.next(b.NumRows())
	} else {
		keep = byHand[q.Where].rows(b)
	}
	mask, kept := maskOf(keep)
	defer mask.Release()
	if kept == 0 || q.Count {
		out.Rows += kept
		return ctx.Err()
	}
	picked, err := compute.FilterRecordBatch(ctx, b, mask, compute.DefaultFilterOptions())
	if err != nil {
		return err
	}
	out.Batch(picked)
	picked.Release()
	return ctx.Err()
}

// maskOf converts a mask to an Arrow array.
func maskOf(keep []bool) (mask arrow.Array, kept int64) {
	b := array.NewBooleanBuilder(memory.DefaultAllocator)
	defer b.Release()
	b.AppendValues(keep, nil)
	for _, k := range keep {
		if k {
			kept++
		}
	}
	return b.NewArray(), kept
}

// taker walks through ascending row numbers along with the batches of a scan.
type taker struct {
	rows []int64
	at   int64
}

// next is the mask of the requested rows among the next n.
func (t *taker) next(n int64) []bool {
	keep := make([]bool, n)
	for len(t.rows) > 0 && t.rows[0] < t.at+n {
		keep[t.rows[0]-t.at] = true
		t.rows = t.rows[1:]
	}
	t.at += n
	return keep
}
