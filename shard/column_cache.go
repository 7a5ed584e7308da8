package shard

import (
	"context"
	"hash/maphash"

	"github.com/amudai/amudai-go/internal/format/arrowmap"
	"github.com/amudai/amudai-go/storage"
	"github.com/amudai/amudai-go/stripe/read"
)

// columnKey names a column of a stripe, with the nodes that are read of it and the
// layout of their arrays.
type columnKey struct {
	stripe int
	nodes  uint64 // hash of their schema ids and layouts
	id     uint32
	count  int
}

var columnSeed = maphash.MakeSeed()

func keyOf(index int, c *arrowmap.Column) columnKey {
	ids := appendIDs(nil, c)
	var h maphash.Hash
	h.SetSeed(columnSeed)
	for _, id := range ids {
		h.Write([]byte{byte(id), byte(id >> 8), byte(id >> 16), byte(id >> 24)})
	}
	writeLayout(&h, c)
	return columnKey{index, h.Sum64(), c.ID, len(ids)}
}

// writeLayout adds what types of Arrow arrays tell a column from others of its nodes.
func writeLayout(h *maphash.Hash, c *arrowmap.Column) {
	h.WriteByte(byte(c.Plain.ID()))
	if len(c.Wraps) > 0 {
		h.WriteString(c.Arrow.Type.String())
	}
	for i := range c.Children {
		writeLayout(h, &c.Children[i])
	}
}

func (s *Shard) readOptions() read.Options {
	return read.Options{MaxBlockBytes: s.o.MaxBlockBytes, MaxDictionaryBytes: s.o.MaxDictionaryBytes}
}

// openColumn gives a column of a stripe that is open, or opens it with the bytes that
// fetch gives, and keeps it for others if they may want it.
func (s *Shard) openColumn(ctx context.Context, index int, col *arrowmap.Column, keep bool, fetch func() (storage.Prefetched, error)) (*read.Column, error) {
	key := keyOf(index, col)
	if c, ok := s.columns.Get(key); ok {
		return c, nil
	}
	o := s.readOptions()
	var err error
	if o.Prefetched, err = fetch(); err != nil {
		return nil, err
	}
	c, err := read.OpenColumn(ctx, s.file.Stripe(index), *col, o)
	if err == nil && keep {
		s.columns.Put(key, c, c.Size())
	}
	return c, err
}
