package shard

import (
	"context"
	"fmt"
	"iter"
	"math/big"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/amudai/amudai-go/filter"
	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
	"github.com/amudai/amudai-go/internal/arrow/kinds"
	"github.com/amudai/amudai-go/internal/engine/order"
	"github.com/amudai/amudai-go/internal/format/schema"
	"github.com/amudai/amudai-go/internal/text"
)

// Found is a batch of rows that a lookup found. All of them are in one stripe.
type Found struct {
	arrow.RecordBatch
	Keys []int   // for each row, the index of its key among those of the lookup
	Rows []int64 // for each row, its number in the shard, as Take has it
}

// keysAtATime is the number of keys of one scan of a lookup.
const keysAtATime = 1 << 15

// Lookup returns the rows whose value in a top-level column is one of the keys, as [Shard.Scan] with the same options returns rows that meet a filter: it uses
// an index of hashes if that pays, else statistics, Bloom filters, dictionaries and range indexes, and joins the requests of all keys. Deleted rows are left out. Options may
// name a filter, ranges and a limit, which counts a row once.
//
// Keys are of the type of the column; of strings any layout will do. A key that is null or NaN equals no value. A key of several rows gives all of them, and a row whose key is
// named several times is repeated for each. Rows come in the order of the shard, not that of the keys; of more than 32,768 different keys, for so many after so many.
//
// A batch is valid until the next step of the loop. Keys and Rows are the caller's. The keys must not be released before the loop ends.
func (s *Shard) Lookup(ctx context.Context, column string, keys arrow.Array, o ScanOptions) iter.Seq2[Found, error] {
	return func(yield func(Found, error) bool) {
		l, err := s.newLookup(ctx, column, keys, &o)
		if err != nil {
			yield(Found{}, err)
			return
		}
		left := o.Limit
		for part := range slices.Chunk(l.first, keysAtATime) {
			values := make([]any, len(part))
			for i, key := range part {
				values[i] = l.value(key)
			}
			scan := o
			scan.Limit = left
			scan.Filter = filter.And(o.Filter, filter.In(filter.Col(schema.Escape(column)), values...))
			for batch, err := range s.Scan(ctx, scan) {
				var found Found
				if err == nil {
					found, err = l.found(batch)
				}
				if err != nil {
					yield(Found{}, err)
					return
				}
				more := yield(found, nil)
				found.Release()
				if o.Limit > 0 {
					left -= batch.NumRows()
				}
				if !more || o.Limit > 0 && left == 0 {
					return
				}
			}
		}
	}
}

// lookup is the keys of a lookup, and where its column is in batches.
type lookup struct {
	column  string
	added   bool // to the columns that the caller asked for
	encoder *order.Encoder
	keys    map[string][]int // by encoded value
	first   []int            // of the keys of each value
	value   func(key int) any
}

// newLookup encodes the keys, and makes the column a part of the result.
func (s *Shard) newLookup(ctx context.Context, column string, keys arrow.Array, o *ScanOptions) (*lookup, error) {
	all, err := s.ArrowSchema(ctx)
	if err != nil {
		return nil, err
	}
	at := all.FieldIndices(column)
	if len(at) != 1 {
		return nil, fmt.Errorf("lookup: %d top-level columns have the name %q", len(at), column)
	}
	dt := all.Field(at[0]).Type
	if d, is := dt.(*arrow.DictionaryType); is {
		dt = d.ValueType
	}
	l := &lookup{column: column, keys: map[string][]int{}, value: goValue(keys)}
	if same := arrow.TypeEqual(dt, keys.DataType()) || kinds.IsText(dt) && kinds.IsText(keys.DataType()); !same || l.value == nil {
		return nil, fmt.Errorf("lookup: keys of type %s for the column %q of type %s", text.Type(keys.DataType()), column, text.Type(dt))
	}
	if l.encoder, err = order.NewEncoder([]order.Key{{Type: keys.DataType()}}); err != nil {
		return nil, err
	}
	encode := l.encoder.Rows(keys)
	var buf []byte
	for i := range keys.Len() {
		if keys.IsNull(i) {
			continue
		}
		buf = encode(buf[:0], i)
		if l.keys[string(buf)] == nil {
			l.first = append(l.first, i)
		}
		l.keys[string(buf)] = append(l.keys[string(buf)], i)
	}
	if l.added = o.Columns != nil && !slices.ContainsFunc(o.Columns, l.is); l.added {
		o.Columns = append(slices.Clip(o.Columns), schema.Escape(column))
	}
	return l, nil
}

// is reports whether a path is that of the column.
func (l *lookup) is(path string) bool {
	return slices.Equal(schema.SplitPath(path), []string{l.column})
}

// found finds the keys of the rows of a batch.
func (l *lookup) found(batch Batch) (f Found, err error) {
	at := batch.Schema().FieldIndices(l.column)[0]
	encode := l.encoder.Rows(batch.Column(at))
	f.Keys, f.Rows = make([]int, 0, batch.NumRows()), make([]int64, 0, batch.NumRows())
	var places []int64
	var buf []byte
	place := 0
	for _, r := range batch.RowRanges() {
		for row := r.From; row < r.To; row++ {
			buf = encode(buf[:0], place)
			keys := l.keys[string(buf)]
			if len(keys) == 0 {
				return f, fmt.Errorf("lookup: row %d has none of the keys", row)
			}
			for _, key := range keys {
				f.Keys, f.Rows, places = append(f.Keys, key), append(f.Rows, row), append(places, int64(place))
			}
			place++
		}
	}
	fields, columns := batch.Schema().Fields(), slices.Clone(batch.Columns())
	if l.added {
		fields, columns = slices.Delete(fields, at, at+1), slices.Delete(columns, at, at+1)
	}
	for i := range columns {
		if len(places) == place { // no key is repeated
			break
		}
		if columns[i], err = arrowutil.Take(memory.DefaultAllocator, columns[i], places); err != nil {
			return f, fmt.Errorf("%w: %w", ErrBatchTooLarge, err)
		}
		defer columns[i].Release()
	}
	meta := batch.Schema().Metadata()
	f.RecordBatch = array.NewRecordBatch(arrow.NewSchema(fields, &meta), columns, int64(len(places)))
	return f, nil
}

// goValue returns a function for the values of an array as [filter.Lit] takes them, nil if it takes none of the type.
func goValue(arr arrow.Array) func(i int) any {
	switch a := arr.(type) {
	case *array.Boolean:
		return func(i int) any { return a.Value(i) }
	case *array.Float64:
		return func(i int) any { return a.Value(i) }
	case *array.Float32:
		return func(i int) any { return a.Value(i) }
	case *array.Date32:
		return func(i int) any { return a.Value(i) }
	case *array.Timestamp:
		unit := a.DataType().(*arrow.TimestampType).Unit
		return func(i int) any { return a.Value(i).ToTime(unit) }
	}
	value := arrowutil.BytesOf(arr)
	switch dt := arr.DataType(); {
	case kinds.IsText(dt):
		return func(i int) any { return string(value(i)) }
	case kinds.IsBinary(dt):
		return func(i int) any { return value(i) }
	case arrow.IsDecimal(dt.ID()):
		return func(i int) any {
			v, _ := new(big.Rat).SetString(arr.ValueStr(i))
			return v
		}
	case arrow.IsUnsignedInteger(dt.ID()):
		integer := arrowutil.Integers(arr)
		return func(i int) any { return uint64(integer(i)) }
	case arrow.IsSignedInteger(dt.ID()):
		integer := arrowutil.Integers(arr)
		return func(i int) any { return integer(i) }
	}
	return nil
}
