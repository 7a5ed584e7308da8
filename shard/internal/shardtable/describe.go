package shardtable

import (
	"cmp"
	"context"
	"slices"

	"github.com/amudai/amudai-go/shard/internal/index"
	"github.com/amudai/amudai-go/shard/internal/indexing"
	"github.com/amudai/amudai-go/shard/internal/shardfile"
)

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
