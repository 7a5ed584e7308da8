package read

import (
	"math"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/memory"
	pq "github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/schema"

	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
	"github.com/amudai/amudai-go/internal/engine/predicate"
	"github.com/amudai/amudai-go/table/parquet/internal/chunk"
	"github.com/amudai/amudai-go/table/parquet/internal/convert"
)

// leaf is a leaf of the file without repetition, and the types in which its values are read: see column.
type leaf struct {
	index                int
	read, shape, restore arrow.DataType
}

// bounds are the minimum and the maximum of some values, as arrays of one value; either may be nil.
type bounds struct {
	low, high arrow.Array
	exact     bool // they are values of the column
}

// order tells whether the order of the values of a leaf, which bounds depend on, is the one that filters know.
type order struct {
	current    bool // of min_value and max_value, and of page indexes
	deprecated bool // of min and max, in which old writers compared as signed numbers
}

func (f *File) orderOf(index int) order {
	col := f.meta().Schema.Column(index)
	sort := col.SortOrder()
	physical := col.PhysicalType()
	isBytes := physical == pq.Types.ByteArray || physical == pq.Types.FixedLenByteArray
	if sort == schema.SortUNKNOWN || f.unordered[index] {
		return order{}
	}
	o := order{deprecated: sort == schema.SortSIGNED && !isBytes}
	if orders := f.meta().ColumnOrders; index < len(orders) && orders[index] != nil {
		isFloat := physical == pq.Types.Float || physical == pq.Types.Double || isBytes && physical == pq.Types.FixedLenByteArray && col.TypeLength() == 2
		o.current = orders[index].TYPE_ORDER != nil || orders[index].IEEE_754_TOTAL_ORDER != nil && isFloat
	}
	return o
}

// facts are the facts about a leaf in a row group.
func (f *File) facts(group int, l *leaf) predicate.Facts {
	facts := predicate.Facts{}
	nulls, nans := f.nulls(group, l.index)
	facts.NoNulls = nulls == 0
	facts.NoNaNs = nans == 0
	facts.NoValues = nulls >= 0 && nulls == f.groups[group].rows
	b := f.bounds(group, l)
	if b.low != nil {
		facts.Min = limitsOf(b.low)(0)
	}
	if b.high != nil {
		facts.Max = limitsOf(b.high)(0)
	}
	return facts
}

// nulls are the numbers of nulls and NaNs of a leaf in a row group; -1 if they are not known.
func (f *File) nulls(group, index int) (nulls, nans int64) {
	col := f.meta().Schema.Column(index)
	nulls, nans = -1, -1
	column := f.meta().RowGroups[group].Columns[index].MetaData
	if s := column.GetStatistics(); s != nil {
		if n := s.NullCount; n != nil && *n >= 0 && *n <= column.NumValues {
			nulls = *n
		}
		if n := s.NanCount; n != nil && *n >= 0 && *n <= column.NumValues {
			nans = *n
		}
	}
	if col.MaxDefinitionLevel() == 0 {
		nulls = 0
	}
	return nulls, nans
}

// bounds are those of a leaf in a row group.
func (f *File) bounds(group int, l *leaf) (b bounds) {
	s := f.meta().RowGroups[group].Columns[l.index].MetaData.GetStatistics()
	if s == nil {
		return b
	}
	o := f.orderOf(l.index)
	low, high := s.MinValue, s.MaxValue
	if low == nil && high == nil {
		if low, high = s.Min, s.Max; !o.deprecated {
			return b
		}
	} else if !o.current {
		return b
	}
	err := convert.Guard(func() error {
		column, err := f.groups[group].meta.ColumnChunk(l.index)
		if err != nil {
			return err
		}
		ok, err := column.StatsSet() // knows writers whose statistics are wrong
		if err != nil || !ok {
			low, high = nil, nil
		}
		return err
	})
	if err != nil {
		return b
	}
	if low != nil {
		b.low = f.values(l, [][]byte{low})
	}
	if high != nil {
		b.high = f.values(l, [][]byte{high})
	}
	physical := f.meta().Schema.Column(l.index).PhysicalType()
	b.exact = physical != pq.Types.ByteArray && physical != pq.Types.FixedLenByteArray
	if low, high := s.IsMinValueExact, s.IsMaxValueExact; low != nil && high != nil {
		b.exact = *low && *high
	}
	return b.checked()
}

// checked leaves out bounds of NaN, which bound nothing, and widens zeros: old writers take -0.0 and 0.0 for the same.
func (b bounds) checked() bounds {
	for _, a := range []arrow.Array{b.low, b.high} {
		if a != nil && isNaN(a) {
			return bounds{}
		}
	}
	return b
}

func isNaN(a arrow.Array) bool {
	float := arrowutil.Floats(a)
	return float != nil && math.IsNaN(float(0))
}

// values are the values of a leaf that statistics name, as an array of the type that columns come in. It is nil if they
// are no such values.
func (f *File) values(l *leaf, plain [][]byte) (out arrow.Array) {
	s, ok := chunk.ScalarOf(f.meta().Schema.Column(l.index), l.read)
	if !ok {
		return nil
	}
	_ = convert.Guard(func() error {
		if a := s.PlainValues(plain); a != nil {
			c := column{read: l.read, shape: l.shape, restored: l.restore}
			var err error
			if out, err = c.restore(memory.DefaultAllocator, a); err != nil {
				out = nil
			}
		}
		return nil
	})
	return out
}

// limitsOf are values as bounds for filters.
func limitsOf(a arrow.Array) func(i int) predicate.Limit {
	a = arrowutil.Storage(a)
	if bytes := arrowutil.BytesOf(a); bytes != nil {
		return func(i int) predicate.Limit { return predicate.BytesLimit(bytes(i)) }
	}
	if limits := predicate.LimitsOf(a); limits != nil {
		return limits
	}
	return func(int) predicate.Limit { return predicate.Limit{} }
}
