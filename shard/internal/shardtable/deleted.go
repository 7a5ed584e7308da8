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
	v, err := s.visible(ctx)
	if err != nil {
		return nil, fault.Of(err, s.table.file.Location())
	}
	size := int64(0)
	if v != nil {
		size = 16 * int64(v.NumRanges())
	}
	s.table.visible.Put(s.Index(), v, size)
	return v, nil
}

// Deleted are the deleted records of a stripe, by their numbers in it.
func (t *Table) Deleted(ctx context.Context, i int) (rowset.Set, error) {
	s := tableStripe{t.file.Stripe(i), t}
	visible, err := s.Visible(ctx)
	if visible == nil || err != nil {
		return rowset.Set{}, err
	}
	return rowset.All(s.Rows()).Minus(*visible), nil
}

// visible are the rows that are not deleted, nil if none is.
func (s tableStripe) visible(ctx context.Context) (*rowset.Set, error) {
	count := int64(s.Directory().DeletedRecordCount)
	marker, err := s.table.marker()
	switch {
	case err != nil:
		return nil, err
	case marker == nil && count > 0:
		return nil, fault.Unsupportedf("%d records are deleted, and no column marks which", count)
	case marker == nil:
		return nil, nil
	}
	v, err := s.unmarked(ctx, *marker)
	if deleted := s.Rows() - v.Len(); err == nil && deleted != count {
		err = fault.InColumn(fault.Corruptf("%d records are marked as deleted, the directory has %d", deleted, count), schema.Escape(marker.Name()))
	}
	if err != nil || count == 0 {
		return nil, err
	}
	return &v, nil
}

// unmarked are the rows whose marker is not true. Its statistics are asked first, because equal values take no bytes, however many they are.
func (s tableStripe) unmarked(ctx context.Context, marker schema.Node) (rowset.Set, error) {
	all := rowset.All(s.Rows())
	d, err := s.Descriptor(ctx, marker.ID())
	if err != nil || d == nil {
		return all, err
	}
	if c := d.Field.GetConstantValue(); c != nil {
		if c.GetBoolValue() {
			return rowset.Set{}, nil
		}
		return all, nil
	}
	if b := d.Field.GetBooleanStats(); b != nil && b.TrueCount == 0 {
		return all, nil
	}
	column, err := arrowmap.ColumnOf(marker, arrowmap.ReadOptions{IgnoreAnnotations: true})
	if err != nil {
		return all, err
	}
	reader, err := read.OpenColumn(ctx, s.Stripe, column, read.Options{MaxBlockBytes: s.table.o.MaxBlockBytes, MaxDictionaryBytes: s.table.o.MaxDictionaryBytes})
	if err != nil {
		return all, err
	}
	var ranges []rowset.Range
	for from := int64(0); from < s.Rows(); from += markerRows {
		rows := rowset.Range{From: from, To: min(from+markerRows, s.Rows())}
		arr, err := reader.Read(ctx, rowset.Of(rows), nil)
		if err != nil {
			return all, err
		}
		a := arr.(*array.Boolean)
		unmarked := rowset.FromClearBits(a.Data().Buffers()[1].Bytes(), a.Data().Offset(), a.Len(), from)
		if a.NullN() > 0 {
			unmarked = unmarked.Or(rowset.FromClearBits(a.NullBitmapBytes(), a.Data().Offset(), a.Len(), from))
		}
		arr.Release()
		if s.Rows() <= markerRows { // these are all
			return unmarked, nil
		}
		for r := range unmarked.Ranges() {
			ranges = append(ranges, r)
		}
	}
	return rowset.Of(ranges...), nil
}
