package shardtable

import (
	"context"

	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/engine/rowset"
	"github.com/amudai/amudai-go/internal/format/arrowmap"
	"github.com/amudai/amudai-go/internal/format/schema"
	"github.com/amudai/amudai-go/shard/internal/stripe/read"
)

// markerRows is the number of rows whose marker is decoded at a time: 128 KiB of bits, which are two blocks, as blocks are decoded whole.
const markerRows = 1 << 20

// Visible implements [table.Stripe]. It fails if the marker of deleted records and their number in the directory contradict each other.
func (s tableStripe) Visible(ctx context.Context) (*rowset.Set, error) {
	if v, ok := s.table.visible.Get(s.Index()); ok {
		return v, nil
	}
	deleted, err := s.deleted(ctx)
	if err != nil {
		return nil, fault.Of(err, s.table.file.Location())
	}
	var v *rowset.Set
	size := int64(0)
	if !deleted.Empty() {
		set := rowset.All(s.Rows()).Minus(deleted)
		v, size = &set, 16*int64(set.NumRanges())
	}
	s.table.visible.Put(s.Index(), v, size)
	return v, nil
}

// Deleted are the deleted records of a stripe, by their numbers in it.
func (t *Table) Deleted(ctx context.Context, i int) (rowset.Set, error) {
	deleted, err := tableStripe{t.file.Stripe(i), t}.deleted(ctx)
	return deleted, fault.Of(err, t.file.Location())
}

// deleted are the deleted rows.
func (s tableStripe) deleted(ctx context.Context) (deleted rowset.Set, err error) {
	count := int64(s.Directory().DeletedRecordCount)
	marker, err := s.table.marker()
	switch {
	case err != nil:
		return deleted, err
	case marker == nil && count > 0:
		return deleted, fault.Unsupportedf("%d records are deleted, and no column marks which", count)
	case marker == nil:
		return deleted, nil
	}
	deleted, err = s.marked(ctx, *marker)
	if err == nil && deleted.Len() != count {
		err = fault.InColumn(fault.Corruptf("%d records are marked as deleted, the directory has %d", deleted.Len(), count), schema.Escape(marker.Name()))
	}
	return deleted, err
}

// marked are the rows whose marker is true. Its statistics are asked first, because equal values take no bytes, however many they are.
func (s tableStripe) marked(ctx context.Context, marker schema.Node) (deleted rowset.Set, err error) {
	d, err := s.Descriptor(ctx, marker.ID())
	if err != nil || d == nil {
		return deleted, err
	}
	if c := d.Field.GetConstantValue(); c != nil {
		if c.GetBoolValue() {
			deleted = rowset.All(s.Rows())
		}
		return deleted, nil
	}
	if b := d.Field.GetBooleanStats(); b != nil && b.TrueCount == 0 {
		return deleted, nil
	}
	column, err := arrowmap.ColumnOf(marker, arrowmap.ReadOptions{IgnoreAnnotations: true})
	if err != nil {
		return deleted, err
	}
	reader, err := read.OpenColumn(ctx, s.Stripe, column, read.Options{MaxBlockBytes: s.table.o.MaxBlockBytes, MaxDictionaryBytes: s.table.o.MaxDictionaryBytes})
	if err != nil {
		return deleted, err
	}
	var ranges []rowset.Range
	for from := int64(0); from < s.Rows(); from += markerRows {
		rows := rowset.Range{From: from, To: min(from+markerRows, s.Rows())}
		arr, err := reader.Read(ctx, rowset.Of(rows), nil)
		if err != nil {
			return deleted, err
		}
		a := arr.(*array.Boolean)
		marked := rowset.FromBits(a.Data().Buffers()[1].Bytes(), a.Data().Offset(), a.Len(), from)
		if a.NullN() > 0 {
			marked = marked.And(rowset.FromBits(a.NullBitmapBytes(), a.Data().Offset(), a.Len(), from))
		}
		arr.Release()
		if s.Rows() <= markerRows { // these are all
			return marked, nil
		}
		for r := range marked.Ranges() {
			ranges = append(ranges, r)
		}
	}
	return rowset.Of(ranges...), nil
}
