package shardtable

import (
	commonpb "github.com/amudai/amudai-go/gen/amudai/common"
	shardpb "github.com/amudai/amudai-go/gen/amudai/shard"
	"github.com/amudai/amudai-go/internal/arrow/kinds"
	"github.com/amudai/amudai-go/internal/engine/predicate"
	"github.com/amudai/amudai-go/internal/engine/table"
	"github.com/amudai/amudai-go/internal/format/arrowmap"
	"github.com/amudai/amudai-go/internal/format/schema"
	"github.com/amudai/amudai-go/sbbf"
	"github.com/amudai/amudai-go/shard/internal/stats"
	"github.com/amudai/amudai-go/shard/internal/stripe/read"
)

// FactsOf combines the descriptors of the nodes on a path, the column's own last. A nil descriptor means a missing
// field, in which all rows are null. So are rows of a union that choose another alternative, which need not have positions there.
func FactsOf(path []*table.Column, nodes []*shardpb.FieldDescriptor) predicate.Facts {
	f := predicate.Facts{NoNulls: true}
	last := len(nodes) - 1
	for k, d := range nodes {
		nulls, known := NullsOf(d)
		f.NoNulls = f.NoNulls && known && nulls == 0 && (k == last || path[k].Stored.Type != schema.Union)
		f.NoValues = f.NoValues || d == nil || known && nulls == d.PositionCount
	}
	col, d := path[last], nodes[last]
	if d == nil {
		f.NoNaNs = true
		return f
	}
	if s := d.GetFloatingStats(); s != nil {
		f.NoNaNs = s.NanCount == 0
		nulls, known := NullsOf(d)
		f.NoValues = f.NoValues || known && nulls+s.NanCount == d.PositionCount
	}
	if s := d.GetBooleanStats(); s != nil && s.TrueCount == 0 {
		f.Max = predicate.BoolLimit(false)
	}
	if s := d.GetBooleanStats(); s != nil && s.FalseCount == 0 {
		f.Min = predicate.BoolLimit(true)
	}
	lo, hi := d.GetRangeStats().GetMinValue(), d.GetRangeStats().GetMaxValue()
	if c := d.ConstantValue; c != nil && !isNull(c) && d.DictionarySize == nil {
		f.Min = limitOf(col, c)
		f.Max, f.NoNaNs = f.Min, f.Min.IsKnown()
		return f
	}
	if lo != nil {
		f.Min = limitOf(col, lo)
	}
	if hi != nil {
		f.Max = limitOf(col, hi)
	}
	return f
}

func isNull(v *commonpb.AnyValue) bool {
	_, ok := v.GetKind().(*commonpb.AnyValue_NullValue)
	return ok
}

// NullsOf is the number of nulls. known is false if descriptors do not tell it.
func NullsOf(d *shardpb.FieldDescriptor) (n uint64, known bool) {
	switch {
	case d == nil:
		return 0, false
	case d.NullCount != nil:
		return *d.NullCount, true
	case d.ConstantValue != nil && d.DictionarySize == nil && isNull(d.ConstantValue):
		return d.PositionCount, true
	case d.ConstantValue != nil && d.DictionarySize == nil:
		return 0, true
	}
	return 0, false
}

// limitOf converts a bound to the form of the column's Arrow arrays. It returns none if there is no such bound.
func limitOf(col *table.Column, v *commonpb.AnyValue) predicate.Limit {
	if isText(col) {
		b, ok := stats.TextOf(v)
		if !ok {
			return predicate.Limit{}
		}
		return predicate.BytesLimit([]byte(b))
	}
	if len(col.Children) > 0 {
		return predicate.Limit{}
	}
	arr, err := read.ValueOf(*col, v)
	if err != nil {
		return predicate.Limit{}
	}
	defer arr.Release()
	at := predicate.LimitsOf(arr)
	if at == nil {
		return predicate.Limit{}
	}
	return at(0)
}

// isText reports whether the Arrow values of a column are the stored byte strings.
func isText(col *table.Column) bool {
	return (kinds.IsText(col.Plain) || kinds.IsBinary(col.Plain)) && (col.Rule == arrowmap.Same || col.Rule == arrowmap.Text)
}

// bloomOf opens the Bloom filter of a column. It returns nil if there is none.
func bloomOf(col *table.Column, d *shardpb.FieldDescriptor) func() func(value []byte) bool {
	b := d.GetMembershipFilters().GetSbbf()
	if b == nil || !isText(col) {
		return nil
	}
	return func() func([]byte) bool {
		f, ok := sbbf.Open(b.HashAlgorithm, b.HashSeed, b.Data)
		if !ok {
			return nil
		}
		return f.MayContain
	}
}
