package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	pgo "github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress/zstd"
	"github.com/parquet-go/parquet-go/encoding"

	"github.com/amudai/amudai-go/internal/bench/measure"
	"github.com/amudai/amudai-go/internal/bench/suite"
)

// parquetGo is Parquet through parquet-go, read page by page into buffers that
// are used again: it makes no Arrow arrays.
type parquetGo struct{}

// Name implements [suite.Contender].
func (k parquetGo) Name() string { return "parquet-go zstd" }

// Can excludes nested columns, and operations that would need code on top of pages.
func (k parquetGo) Can(d *suite.Dataset, op string) bool {
	for _, f := range d.Schema.Fields() {
		if _, err := pgoNode(f.Type); err != nil {
			return false
		}
	}
	return d.Times <= 1 && (op == measure.OpWrite || op == measure.OpScan || op == measure.OpProject || op == measure.OpOpen || measure.IsPeak(op))
}

// pgoNode is the Parquet type of a column without nulls.
func pgoNode(t arrow.DataType) (pgo.Node, error) {
	switch t := t.(type) {
	case *arrow.Int32Type:
		return pgo.Int(32), nil
	case *arrow.Int64Type:
		return pgo.Int(64), nil
	case *arrow.Float64Type:
		return pgo.Leaf(pgo.DoubleType), nil
	case *arrow.StringType, *arrow.LargeStringType:
		return pgo.String(), nil
	case *arrow.Date32Type:
		return pgo.Date(), nil
	case *arrow.TimestampType:
		units := map[arrow.TimeUnit]pgo.TimeUnit{arrow.Millisecond: pgo.Millisecond, arrow.Microsecond: pgo.Microsecond, arrow.Nanosecond: pgo.Nanosecond}
		if unit, ok := units[t.Unit]; ok {
			return pgo.Timestamp(unit), nil
		}
	case *arrow.Decimal128Type:
		if t.Precision <= 18 {
			return pgo.Decimal(int(t.Scale), int(t.Precision), pgo.Int64Type), nil
		}
	}
	return nil, fmt.Errorf("no Parquet type for %s", t)
}

func pgoSchema(s *arrow.Schema) (*pgo.Schema, error) {
	group := pgo.Group{}
	for _, f := range s.Fields() {
		node, err := pgoNode(f.Type)
		if err != nil {
			return nil, err
		}
		node = pgo.Encoded(node, &pgo.RLEDictionary)
		if f.Nullable {
			node = pgo.Optional(node)
		}
		group[f.Name] = node
	}
	return pgo.NewSchema("table", group), nil
}

// Write implements [suite.Contender].
func (k parquetGo) Write(_ context.Context, path string, s *arrow.Schema, next suite.Source, _ int) error {
	schema, err := pgoSchema(s)
	if err != nil {
		return err
	}
	return suite.Create(path, func(f *os.File) error {
		w := pgo.NewWriter(f, schema, pgo.Compression(&zstd.Codec{Level: zstd.DefaultLevel}))
		places := make([]int, s.NumFields()) // positions of the columns in the file, which sorts them
		for i, field := range s.Fields() {
			leaf, _ := schema.Lookup(field.Name)
			places[i] = leaf.ColumnIndex
		}
		rows, values := int64(0), []pgo.Value(nil)
		err := next.Each(func(b arrow.RecordBatch) error {
			writers := w.ColumnWriters()
			for i, col := range b.Columns() {
				values = appendValues(values[:0], col, s.Field(i).Nullable, places[i])
				if _, err := writers[places[i]].WriteRowValues(values); err != nil {
					return err
				}
			}
			if rows += b.NumRows(); rows >= 1<<20 {
				rows = 0
				return w.Flush()
			}
			return nil
		})
		if err != nil {
			return err
		}
		return w.Close()
	})
}

// appendValues turns an Arrow array into values.
func appendValues(out []pgo.Value, col arrow.Array, nullable bool, place int) []pgo.Value {
	value := pgoValue(col)
	level := 0
	if nullable {
		level = 1
	}
	for i := range col.Len() {
		if col.IsNull(i) {
			out = append(out, pgo.Value{}.Level(0, 0, place))
		} else {
			out = append(out, value(i).Level(0, level, place))
		}
	}
	return out
}

func pgoValue(col arrow.Array) func(i int) pgo.Value {
	switch a := col.(type) {
	case *array.Int32:
		return func(i int) pgo.Value { return pgo.Int32Value(a.Value(i)) }
	case *array.Date32:
		return func(i int) pgo.Value { return pgo.Int32Value(int32(a.Value(i))) }
	case *array.Int64:
		return func(i int) pgo.Value { return pgo.Int64Value(a.Value(i)) }
	case *array.Timestamp:
		return func(i int) pgo.Value { return pgo.Int64Value(int64(a.Value(i))) }
	case *array.Decimal128:
		return func(i int) pgo.Value { return pgo.Int64Value(int64(a.Value(i).LowBits())) }
	case *array.Float64:
		return func(i int) pgo.Value { return pgo.DoubleValue(a.Value(i)) }
	}
	if a, ok := col.(*array.LargeString); ok {
		return stringValue(a.ValueBytes(), a.ValueOffsets())
	}
	a := col.(*array.String)
	return stringValue(a.ValueBytes(), a.ValueOffsets())
}

func stringValue[T int32 | int64](bytes []byte, ends []T) func(i int) pgo.Value {
	return func(i int) pgo.Value { return pgo.ByteArrayValue(bytes[ends[i]-ends[0] : ends[i+1]-ends[0]]) }
}

// Read implements [suite.Contender].
func (k parquetGo) Read(ctx context.Context, path string, q suite.Query, out *suite.Outcome) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	r, err := pgo.OpenFile(f, info.Size(), pgo.SkipBloomFilters(true))
	if err != nil {
		return err
	}
	columns, err := pgoColumns(r, q.Columns)
	if err != nil {
		return err
	}
	var to pageBuffer
	for _, g := range r.RowGroups() {
		for _, i := range columns {
			rows, err := to.readChunk(g.ColumnChunks()[i])
			if err == nil && rows != g.NumRows() {
				err = fmt.Errorf("%d rows in column %d of a row group of %d", rows, i, g.NumRows())
			}
			if err = errors.Join(err, ctx.Err()); err != nil {
				return err
			}
		}
		out.Rows += g.NumRows()
	}
	return nil
}

func pgoColumns(r *pgo.File, names []string) ([]int, error) {
	if names == nil {
		all := make([]int, len(r.Schema().Columns()))
		for i := range all {
			all[i] = i
		}
		return all, nil
	}
	var out []int
	for _, name := range names {
		leaf, ok := r.Schema().Lookup(name)
		if !ok {
			return nil, fmt.Errorf("no column %s", name)
		}
		out = append(out, leaf.ColumnIndex)
	}
	return out, nil
}

// pageBuffer receives the values of a page.
type pageBuffer struct {
	int32s  []int32
	int64s  []int64
	doubles []float64
	bytes   []byte
	ends    []uint32
}

// readChunk reads all values of a column chunk and counts its rows, nulls too.
func (to *pageBuffer) readChunk(chunk pgo.ColumnChunk) (rows int64, err error) {
	pages := chunk.Pages()
	defer pages.Close()
	for {
		page, err := pages.ReadPage()
		if err == io.EOF {
			return rows, nil
		}
		if err != nil {
			return rows, err
		}
		if n := int64(to.readPage(page)); n != page.NumValues()-page.NumNulls() {
			return rows, fmt.Errorf("%d values in a page of %d", n, page.NumValues()-page.NumNulls())
		}
		rows += page.NumRows()
		pgo.Release(page)
	}
}

// readPage copies the values of a page, taken from the dictionary if it has one.
func (to *pageBuffer) readPage(page pgo.Page) int {
	data := page.Data()
	if dict := page.Dictionary(); dict != nil {
		values := dict.Page().Data()
		return to.gather(values, data.Int32())
	}
	switch data.Kind() {
	case encoding.Int32:
		to.int32s = append(to.int32s[:0], data.Int32()...)
		return len(to.int32s)
	case encoding.Int64:
		to.int64s = append(to.int64s[:0], data.Int64()...)
		return len(to.int64s)
	case encoding.Double:
		to.doubles = append(to.doubles[:0], data.Double()...)
		return len(to.doubles)
	}
	bytes, offsets := data.ByteArray()
	to.bytes = append(to.bytes[:0], bytes...)
	to.ends = append(to.ends[:0], offsets[1:]...)
	return len(to.ends)
}

// gather copies the values of a dictionary that indices name.
func (to *pageBuffer) gather(values encoding.Values, indices []int32) int {
	switch values.Kind() {
	case encoding.Int32:
		to.int32s = gather(to.int32s, values.Int32(), indices)
		return len(to.int32s)
	case encoding.Int64:
		to.int64s = gather(to.int64s, values.Int64(), indices)
		return len(to.int64s)
	case encoding.Double:
		to.doubles = gather(to.doubles, values.Double(), indices)
		return len(to.doubles)
	}
	bytes, offsets := values.ByteArray()
	to.bytes, to.ends = to.bytes[:0], to.ends[:0]
	for _, i := range indices {
		to.bytes = append(to.bytes, bytes[offsets[i]:offsets[i+1]]...)
		to.ends = append(to.ends, uint32(len(to.bytes)))
	}
	return len(to.ends)
}

func gather[T any](out, values []T, indices []int32) []T {
	out = out[:0]
	for _, i := range indices {
		out = append(out, values[i])
	}
	return out
}
