package shardtable

import (
	"context"
	"hash/maphash"

	"github.com/amudai/amudai-go/internal/engine/table"
	"github.com/amudai/amudai-go/shard/internal/stripe/read"
	"github.com/amudai/amudai-go/storage"
)

// columnKey identifies a column of a stripe, the schema nodes that are read of it, and the layout of its arrays.
type columnKey struct {
	stripe int
	nodes  uint64 // hash of their schema ids and layouts
	id     uint32
	count  int
}

var columnSeed = maphash.MakeSeed()

func keyOf(index int, c *table.Column) columnKey {
	ids := appendIDs(nil, c)
	var h maphash.Hash
	h.SetSeed(columnSeed)
	for _, id := range ids {
		h.Write([]byte{byte(id), byte(id >> 8), byte(id >> 16), byte(id >> 24)})
	}
	writeLayout(&h, c)
	return columnKey{index, h.Sum64(), c.ID, len(ids)}
}

// appendIDs appends the schema ids of a column's nodes.
func appendIDs(ids []uint32, c *table.Column) []uint32 {
	ids = append(ids, c.ID)
	for i := range c.Children {
		ids = appendIDs(ids, &c.Children[i])
	}
	return ids
}

// writeLayout writes the parts of Arrow types that distinguish columns of the same nodes.
func writeLayout(h *maphash.Hash, c *table.Column) {
	h.WriteByte(byte(c.Plain.ID()))
	if len(c.Wraps) > 0 {
		h.WriteString(c.Arrow.Type.String())
	}
	for i := range c.Children {
		writeLayout(h, &c.Children[i])
	}
}

// Open implements [table.Stripe].
func (s tableStripe) Open(ctx context.Context, col *table.Column, keep bool, prefetched func() (storage.Prefetched, error)) (table.ColumnReader, error) {
	t := s.table
	key := keyOf(s.Index(), col)
	if v, ok := t.cache.Get(key); ok {
		c := v.(*read.Column)
		t.cache.Resize(key, c.Size()) // it grows by the dictionaries that it reads
		return c, nil
	}
	have, err := prefetched() // reads descriptors, too
	if err != nil {
		return nil, err
	}
	x, err := t.references.Column(ctx, s.Stripe, col)
	if err != nil {
		return nil, err
	}
	if x != nil {
		return x.Open(ctx, col, keep, have)
	}
	o := read.Options{MaxBlockBytes: t.o.MaxBlockBytes, MaxDictionaryBytes: t.o.MaxDictionaryBytes, Prefetched: have}
	if keep {
		o.Kept = t.kept
	}
	c, err := read.OpenColumn(ctx, s.Stripe, *col, o)
	if err != nil {
		return nil, err
	}
	if keep {
		t.cache.Put(key, c, c.Size())
	}
	return c, nil
}
