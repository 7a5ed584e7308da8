package main

import (
	"context"
	"fmt"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"
	"github.com/apache/arrow-go/v18/parquet/schema"

	"github.com/amudai/amudai-go/internal/bench/suite"
)

// lateShare is the least number of rows per matching row for late materialization. With more
// matches it is faster to decode whole columns.
const lateShare = 64

// late filters as a patient user of arrow-go would by hand: it decodes the columns of the
// conditions, and of the others only the matching rows, skipping the rows between. ok is false
// if too many rows match.
func late(ctx context.Context, fr *pqarrow.FileReader, s *arrow.Schema, groups []int, q suite.Query, out *suite.Outcome) (ok bool, err error) {
	keep, err := survivors(ctx, fr, groups, byHand[q.Where])
	if err != nil {
		return false, err
	}
	runs := make([][]span, len(groups))
	kept, total := int64(0), int64(0)
	for i, g := range groups {
		rows := fr.ParquetReader().MetaData().RowGroup(g).NumRows()
		for row := range rows {
			if keep[total+row] {
				runs[i] = appendRow(runs[i], row)
				kept++
			}
		}
		total += rows
	}
	if kept*lateShare > total {
		return false, nil
	}
	b := array.NewRecordBuilder(memory.DefaultAllocator, s)
	defer b.Release()
	for i, g := range groups {
		if len(runs[i]) == 0 {
			continue
		}
		group := fr.ParquetReader().RowGroup(g)
		for c := range s.NumFields() {
			chunk, err := group.Column(c)
			if err == nil {
				err = pick(chunk, b.Field(c), runs[i])
			}
			if err != nil {
				return false, err
			}
		}
	}
	batch := b.NewRecordBatch()
	defer batch.Release()
	out.Batch(batch)
	return true, ctx.Err()
}

// survivors is a mask of the rows of the row groups that satisfy the conditions.
func survivors(ctx context.Context, fr *pqarrow.FileReader, groups []int, where conds) ([]bool, error) {
	rr, err := fr.GetRecordReader(ctx, leaves(fr.ParquetReader(), where.columns()), groups)
	if err != nil {
		return nil, err
	}
	defer rr.Release()
	var keep []bool
	for rr.Next() {
		keep = append(keep, where.rows(rr.RecordBatch())...)
	}
	return keep, rr.Err()
}

// appendRow adds a row behind all others.
func appendRow(runs []span, row int64) []span {
	if n := len(runs); n > 0 && runs[n-1].to == row {
		runs[n-1].to++
		return runs
	}
	return append(runs, span{row, row + 1})
}

// pick appends the values of some rows of a column that is not nested.
func pick(chunk file.ColumnChunkReader, to array.Builder, rows []span) error {
	switch b := to.(type) {
	case *array.Int64Builder:
		return pickRows(chunk.(*file.Int64ColumnChunkReader), rows, b, b.Append)
	case *array.TimestampBuilder:
		return pickRows(chunk.(*file.Int64ColumnChunkReader), rows, b, func(v int64) { b.Append(arrow.Timestamp(v)) })
	case *array.Int32Builder:
		return pickRows(chunk.(*file.Int32ColumnChunkReader), rows, b, b.Append)
	case *array.Date32Builder:
		return pickRows(chunk.(*file.Int32ColumnChunkReader), rows, b, func(v int32) { b.Append(arrow.Date32(v)) })
	case array.StringLikeBuilder:
		return pickRows(chunk.(*file.ByteArrayColumnChunkReader), rows, b, func(v parquet.ByteArray) { b.Append(string(v)) })
	case *array.Decimal128Builder:
		return pickRows(chunk.(*file.FixedLenByteArrayColumnChunkReader), rows, b, func(v parquet.FixedLenByteArray) {
			b.Append(decimal128.FromI64(bigEndian(v))) // all values of the conditions are small
		})
	}
	return fmt.Errorf("no values of %v are picked out of Parquet", to.Type())
}

// values is a reader of a column's values in Go's type T.
type values[T any] interface {
	Descriptor() *schema.Column
	Skip(n int64) (int64, error)
	ReadBatch(n int64, values []T, defs, reps []int16) (total int64, read int, err error)
}

func pickRows[T any](from values[T], rows []span, to array.Builder, add func(T)) error {
	var room []T
	var defs []int16
	present := from.Descriptor().MaxDefinitionLevel() // 0 in a column without nulls, which has no levels
	at := int64(0)
	for _, run := range rows {
		if _, err := from.Skip(run.from - at); err != nil {
			return err
		}
		for at = run.from; at < run.to; {
			n := run.to - at
			room, defs = slices.Grow(room[:0], int(n))[:n], slices.Grow(defs[:0], int(n))[:n]
			total, _, err := from.ReadBatch(n, room, defs, nil)
			if err != nil || total == 0 {
				return fmt.Errorf("row %d of a row group: %d values: %w", at, total, err)
			}
			value := room
			for _, d := range defs[:total] {
				if d < present {
					to.AppendNull()
					continue
				}
				add(value[0])
				value = value[1:]
			}
			at += total
		}
	}
	return nil
}

// bigEndian is a number of at most eight bytes, or one that fits into them.
func bigEndian(b []byte) int64 {
	v := int64(int8(b[0]))
	for _, x := range b[1:] {
		v = v<<8 | int64(x)
	}
	return v
}
