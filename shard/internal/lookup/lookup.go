// Package lookup finds the keys of rows that a scan for them returns.
package lookup

import (
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
	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/engine/order"
	"github.com/amudai/amudai-go/internal/engine/rowset"
	"github.com/amudai/amudai-go/internal/format/schema"
	"github.com/amudai/amudai-go/internal/text"
)

// atATime is the number of different keys of one scan.
const atATime = 1 << 15

// Keys are the keys of a lookup, and where their column is in batches.
type Keys struct {
	Columns []string // of the scans: those that the caller asked for, and that of the keys

	column  string
	added   bool // to the columns that the caller asked for
	encoder *order.Encoder
	values  order.KeySet
	keys    [][]int // of each value, by its number, which counts from 1
	value   func(key int) any
}

// New encodes keys for a top-level column of a schema. columns are those that the caller asked for, all if they are nil.
func New(s *arrow.Schema, column string, keys arrow.Array, columns []string) (*Keys, error) {
	at := s.FieldIndices(column)
	if len(at) != 1 {
		return nil, fmt.Errorf("lookup: %d top-level columns have the name %q", len(at), column)
	}
	dt := s.Field(at[0]).Type
	if d, is := dt.(*arrow.DictionaryType); is {
		dt = d.ValueType
	}
	l := &Keys{Columns: columns, column: column, value: goValue(keys)}
	if same := arrow.TypeEqual(dt, keys.DataType()) || kinds.IsText(dt) && kinds.IsText(keys.DataType()); !same || l.value == nil {
		return nil, fmt.Errorf("lookup: keys of type %s for the column %q of type %s", text.Type(keys.DataType()), column, text.Type(dt))
	}
	var err error
	if l.encoder, err = order.NewEncoder([]order.Key{{Type: keys.DataType()}}); err != nil {
		return nil, err
	}
	numbers := make([]uint32, keys.Len())
	l.values.NumberRows(numbers, l.encoder, true, keys)
	l.keys = make([][]int, l.values.Len()+1)
	for i, n := range numbers {
		if keys.IsValid(i) {
			l.keys[n] = append(l.keys[n], i)
		}
	}
	if l.added = columns != nil && !slices.ContainsFunc(columns, l.is); l.added {
		l.Columns = append(slices.Clip(columns), schema.Escape(column))
	}
	return l, nil
}

// is reports whether a path is that of the column.
func (l *Keys) is(path string) bool {
	return slices.Equal(schema.SplitPath(path), []string{l.column})
}

// Conditions are those of the scans, each for many keys.
func (l *Keys) Conditions() iter.Seq[filter.Expr] {
	return func(yield func(filter.Expr) bool) {
		for part := range slices.Chunk(l.keys[1:], atATime) {
			var values []any
			for _, keys := range part {
				if len(keys) > 0 { // nulls have a number, too
					values = append(values, l.value(keys[0]))
				}
			}
			if len(values) > 0 && !yield(filter.In(filter.Col(schema.Escape(l.column)), values...)) {
				return
			}
		}
	}
}

// Find returns the rows of a batch of a scan, once for each of their keys, with the indexes of these and the numbers of the rows, which are those of
// ranges in their order. The caller releases the result.
func (l *Keys) Find(batch arrow.RecordBatch, ranges []rowset.Range) (_ arrow.RecordBatch, keys []int, numbers []int64, err error) {
	at := batch.Schema().FieldIndices(l.column)[0]
	values := make([]uint32, batch.NumRows())
	l.values.NumberRows(values, l.encoder, false, batch.Column(at))
	keys, numbers = make([]int, 0, batch.NumRows()), make([]int64, 0, batch.NumRows())
	var places []int64
	place := 0
	for _, r := range ranges {
		for row := r.From; row < r.To; row++ {
			same := l.keys[values[place]]
			if len(same) == 0 {
				return nil, nil, nil, fmt.Errorf("lookup: row %d has none of the keys", row)
			}
			for _, key := range same {
				keys, numbers, places = append(keys, key), append(numbers, row), append(places, int64(place))
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
			return nil, nil, nil, fmt.Errorf("%w: %w", fault.ErrBatchTooLarge, err)
		}
		defer columns[i].Release()
	}
	meta := batch.Schema().Metadata()
	return array.NewRecordBatch(arrow.NewSchema(fields, &meta), columns, int64(len(places))), keys, numbers, nil
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
