package reference

import (
	"context"
	"errors"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/amudai/amudai-go/encoding"
	commonpb "github.com/amudai/amudai-go/gen/amudai/common"
	shardpb "github.com/amudai/amudai-go/gen/amudai/shard"
	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
	"github.com/amudai/amudai-go/internal/arrow/kinds"
	"github.com/amudai/amudai-go/internal/engine/external"
	"github.com/amudai/amudai-go/internal/engine/table"
	"github.com/amudai/amudai-go/internal/format/edition"
	"github.com/amudai/amudai-go/shard/internal/shardfile"
	"github.com/amudai/amudai-go/shard/internal/shardwriter"
	"github.com/amudai/amudai-go/shard/internal/stripe"
	"github.com/amudai/amudai-go/shard/internal/stripe/write"
)

// Stripe describes a stripe of columns of a shard, which refers to a row group of a Parquet file, in which they are the columns of. url is the reference
// to the file.
func Stripe(ctx context.Context, f external.File, group int, url string, columns, of []table.Column) (*stripe.Finished, shardwriter.StripeOptions, error) {
	o := shardwriter.StripeOptions{
		Features: edition.Only(edition.ExternalParquet),
		Standard: []shardfile.Property{{Name: shardfile.PropertyFooters, Value: []any{f.Checksum()}}},
	}
	d := &describer{file: f, group: group, ref: &commonpb.DataRef{Url: url, Range: &commonpb.UInt64Range{End: uint64(f.StoredBytes())}}}
	d.out.Rows = f.Stripe(group).Rows()
	for i := range columns {
		if err := d.add([]*table.Column{&of[i]}, &columns[i], false); err != nil {
			return nil, o, err
		}
	}
	if err := d.addBounds(ctx); err != nil {
		return nil, o, err
	}
	return &d.out, o, nil
}

// describer describes a stripe.
type describer struct {
	file  external.File
	group int
	ref   *commonpb.DataRef // to the file
	out   stripe.Finished

	bounded []table.Column // columns with exact bounds
	bounds  []arrow.Array  // of them
	fields  []*shardpb.FieldDescriptor
}

// add describes the node of a column, and the nodes below it. path leads to it in the file, nested tells whether through lists.
func (d *describer) add(path []*table.Column, own *table.Column, nested bool) error {
	last := path[len(path)-1]
	leaf := d.file.Leaf(last)
	c, err := d.file.Chunk(d.group, leaf)
	if err != nil {
		return err
	}
	field := &shardpb.FieldDescriptor{PositionCount: uint64(d.out.Rows)}
	if nested {
		field.PositionCount = uint64(c.Values)
	} else {
		d.record(field, d.file.Recorded(d.group, path), own)
	}
	encoding := &shardpb.ExternalParquetDataEncoding{FileColumnRefs: []*shardpb.ParquetFileColumnRef{
		{FileRef: d.ref, ColumnChunks: []*shardpb.ParquetColumnChunkRef{refTo(c, d.group, leaf)}},
	}}
	nested = nested || kinds.Of(last.Plain) == kinds.List
	for i := range own.Children {
		below := path
		if i < len(last.Children) { // intervals have parts in a shard only
			below = append(slices.Clone(path), &last.Children[i])
		}
		if err := d.add(below, &own.Children[i], nested || len(below) == len(path)); err != nil {
			return err
		}
	}
	d.out.Nodes = append(d.out.Nodes, stripe.Node{ID: own.ID, Field: field, Parquet: encoding})
	return nil
}

// record adds statistics to a descriptor, but for bounds, which follow for all columns together.
func (d *describer) record(field *shardpb.FieldDescriptor, r external.Recorded, own *table.Column) {
	if r.Nulls < 0 {
		return
	}
	nulls := uint64(r.Nulls)
	field.NullCount = &nulls
	none := nulls == field.PositionCount
	if len(own.Children) > 0 || !none && r.Low == nil {
		return
	}
	c := *own
	c.Arrow.Type, c.Arrow.Nullable, c.Wraps = c.Plain, true, nil
	bounds := arrowutil.Nulls(memory.DefaultAllocator, c.Plain, 2)
	if !none {
		both, err := arrowutil.Concatenate(memory.DefaultAllocator, []arrow.Array{r.Low, r.High})
		if err != nil {
			return
		}
		bounds = both
	}
	d.bounded, d.bounds, d.fields = append(d.bounded, c), append(d.bounds, bounds), append(d.fields, field)
}

// addBounds adds bounds as a writer records them of rows that have them as values.
func (d *describer) addBounds(ctx context.Context) error {
	all, err := d.written(ctx, d.bounded, d.bounds)
	for i, field := range d.fields {
		if err != nil { // because of a value that a shard cannot store
			one, oneErr := d.written(ctx, d.bounded[i:i+1], d.bounds[i:i+1])
			if oneErr == nil {
				field.RangeStats = one[0].Field.RangeStats
			}
			continue
		}
		field.RangeStats = all[i].Field.RangeStats
	}
	return ctx.Err()
}

// written are the nodes of a stripe of two rows.
func (d *describer) written(ctx context.Context, columns []table.Column, arrays []arrow.Array) ([]stripe.Node, error) {
	w, err := write.NewWriter(columns, write.Options{Parallelism: 1, Encoding: encoding.Options{Features: edition.E2026.Features()}})
	if err != nil {
		return nil, err
	}
	if err := w.Write(ctx, arrays, 2); err != nil {
		w.Close()
		return nil, err
	}
	f, err := w.Finish(ctx)
	if err != nil {
		return nil, err
	}
	f.Release()
	if len(f.Nodes) != len(columns) {
		return nil, errors.New("columns have other nodes than expected")
	}
	return f.Nodes, nil
}

// refTo is the reference to a column chunk.
func refTo(c external.Chunk, group, leaf int) *shardpb.ParquetColumnChunkRef {
	out := &shardpb.ParquetColumnChunkRef{
		StorageType: shardpb.ParquetStorageType(c.Type), SchemaElementId: uint32(c.Element), RowGroupId: uint32(group), ColumnChunkId: uint32(leaf),
		DataPagesRange: rangeOf(c.Pages), DataPageCount: uint64(c.PageCount),
	}
	if c.Dictionary.Start < c.Dictionary.End {
		out.DictionaryRange = rangeOf(c.Dictionary)
	}
	return out
}

func rangeOf(r external.Range) *commonpb.UInt64Range {
	return &commonpb.UInt64Range{Start: uint64(r.Start), End: uint64(r.End)}
}
