package shardtable

import (
	"cmp"
	"context"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"

	commonpb "github.com/amudai/amudai-go/gen/amudai/common"
	shardpb "github.com/amudai/amudai-go/gen/amudai/shard"
	"github.com/amudai/amudai-go/internal/arrow/kinds"
	"github.com/amudai/amudai-go/internal/engine/predicate"
	"github.com/amudai/amudai-go/internal/engine/table"
	"github.com/amudai/amudai-go/internal/format/arrowmap"
	"github.com/amudai/amudai-go/internal/format/schema"
	"github.com/amudai/amudai-go/sbbf"
	"github.com/amudai/amudai-go/shard/internal/index"
	"github.com/amudai/amudai-go/shard/internal/indexing"
	"github.com/amudai/amudai-go/shard/internal/shardfile"
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
	if n, ok := v.GetKind().(*commonpb.AnyValue_I64Value); ok && col.Plain.ID() == arrow.INT64 && col.Rule == arrowmap.Same {
		return predicate.IntLimit(n.I64Value) // what follows takes a hundred times as long
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

// Description describes an index.
type Description struct {
	Type       string
	Columns    []string // paths
	Together   bool     // an index of the values of all columns together
	Properties []shardfile.Property
	Size       int64    // bytes of the index
	Files      []string // URLs of files that only indexes are in
	Stripe     int      // of which it is the index, or fault.None
	Known      bool     // this version can use it
	Stats      []index.Stat
	Err        error // why it cannot be used
}

// DescribeIndexes describes all indexes, which it opens, and with check reads completely.
func (t *Table) DescribeIndexes(ctx context.Context, check bool) ([]Description, error) {
	out := []Description{}
	for x, err := range t.AllIndexes(ctx) {
		if err != nil {
			return nil, err
		}
		d, err := t.DescribeIndex(ctx, x, check)
		if err != nil {
			return nil, err
		}
		out = append(out, d)
	}
	return out, nil
}

// DescribeIndex describes an index.
func (t *Table) DescribeIndex(ctx context.Context, x *Index, check bool) (Description, error) {
	properties := slices.DeleteFunc(shardfile.PropertiesFromProto(x.Descriptor.GetProperties()), func(p shardfile.Property) bool { return p.Name == index.PropertyIdentity })
	out := Description{Type: x.Descriptor.GetIndexType(), Properties: properties,
		Size: int64(x.Descriptor.GetIndexSize()), Files: x.Files(ctx), Stripe: x.Stripe, Known: x.Kind != nil}
	for _, f := range x.Descriptor.GetIndexedFields() {
		out.Together = out.Together || len(f.SchemaIds) > 1
		for _, id := range f.SchemaIds {
			path, err := indexing.PathOf(t.schema, id)
			if err != nil {
				out.Err = err
			}
			out.Columns = append(out.Columns, path)
		}
	}
	if !out.Known {
		return out, nil
	}
	opened, err := x.Open(ctx)
	if err == nil && check { // comparing reads all of it
		var damage error
		err = opened.Compare(ctx, opened, func(err error) error { damage = cmp.Or(damage, err); return nil })
		err = cmp.Or(err, damage)
	}
	switch {
	case ctx.Err() != nil:
		return out, ctx.Err()
	case err != nil:
		out.Err = err
	default:
		out.Stats = opened.Stats()
	}
	return out, nil
}
