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
)

// parquetFile is Parquet through arrow-go: what the others are compared with.
type parquetFile struct {
	title string
	codec compress.Compression
	late  bool // answers questions as late does
}

func (k parquetFile) name() string { return k.title }

// can leaves takes to the base, and filters to it and to late: the codec makes no
// other kind of reader.
func (k parquetFile) can(d *dataset, op string) bool {
	if k.late {
		return op == opWrite && len(questions[d.name]) > 0 || strings.HasPrefix(op, opFilter)
	}
	return k.title == baseName || op == opWrite || op == opScan || op == opProject || op == opOpen
}

func (k parquetFile) write(_ context.Context, path string, s *arrow.Schema, next source, _ int) error {
	return create(path, func(f *os.File) error {
		// The file writer closes what it writes to if that can be closed.
		w, err := pqarrow.NewFileWriter(s, struct{ io.Writer }{f}, parquet.NewWriterProperties(
			parquet.WithCompression(k.codec), parquet.WithDictionaryDefault(true), parquet.WithPageIndexEnabled(true),
			parquet.WithMaxRowGroupLength(1<<20)), pqarrow.NewArrowWriterProperties(pqarrow.WithStoreSchema()))
		if err != nil {
			return err
		}
		if err := next.each(w.WriteBuffered); err != nil {
			return err
		}
		return w.Close()
	})
}

func (k parquetFile) read(ctx context.Context, path string, q query, out *outcome) error {
	r, err := file.OpenParquetFile(path, false)
	if err != nil {
		return err
	}
	defer r.Close()
	properties := pqarrow.ArrowReadProperties{BatchSize: batchRows, Parallel: q.threads > 1}
	fr, err := pqarrow.NewFileReader(r, properties, memory.DefaultAllocator)
	if err != nil {
		return err
	}
	groups, spans, err := prune(r, q.where)
	if err != nil || len(spans) == 0 {
		return err
	}
	if k.late {
		s, err := fr.Schema()
		if err != nil {
			return err
		}
		if done, err := late(ctx, fr, s, groups, q, out); done || err != nil {
			return err
		}
	}
	columns := q.columns
	if q.count {
		columns = q.where.columns()
	}
	rr, err := fr.GetRecordReader(ctx, leaves(r, columns), groups)
	if err != nil {
		return err
	}
	defer rr.Release()
	take := taker{rows: q.take}
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

// answer gives the rows of a decoded batch that a query asks for to out.
func answer(ctx context.Context, b arrow.RecordBatch, q query, take *taker, out *outcome) error {
	defer b.Release()
	if q.take == nil && len(q.where) == 0 {
		out.batch(b)
		return ctx.Err()
	}
	var keep []bool
	if q.take != nil {
		keep = take.next(b.NumRows())
	} else {
		keep = q.where.rows(b)
	}
	mask, kept := maskOf(keep)
	defer mask.Release()
	if kept == 0 || q.count {
		out.rows += kept
		return ctx.Err()
	}
	picked, err := compute.FilterRecordBatch(ctx, b, mask, compute.DefaultFilterOptions())
	if err != nil {
		return err
	}
	out.batch(picked)
	picked.Release()
	return ctx.Err()
}

// maskOf turns what to keep into an Arrow array.
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

// taker walks through rows in ascending order beside the batches of a scan.
type taker struct {
	rows []int64
	at   int64
}

// next tells which of the next n rows are asked for.
func (t *taker) next(n int64) []bool {
	keep := make([]bool, n)
	for len(t.rows) > 0 && t.rows[0] < t.at+n {
		keep[t.rows[0]-t.at] = true
		t.rows = t.rows[1:]
	}
	t.at += n
	return keep
}
