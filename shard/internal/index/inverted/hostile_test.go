package inverted

import (
	"bytes"
	"context"
	"encoding/binary"
	"testing"

	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/internal/text/analysis"
	"github.com/amudai/amudai-go/shard/internal/index/internal/columns"
	"github.com/amudai/amudai-go/storage"
)

// script takes numbers from the bytes of a fuzzer; there are zeros behind its end.
type script []byte

func (s *script) next() (n byte) {
	if len(*s) > 0 {
		n, *s = (*s)[0], (*s)[1:]
	}
	return n
}

// big is a small number, rarely a large one.
func (s *script) big() uint64 {
	n := s.next()
	if n > 250 {
		return uint64(n-250) << (8 * (s.next() % 8))
	}
	return uint64(n % 16)
}

// hostileShards makes sound shards of pages and positions that need not be an index.
func hostileShards(t require.TestingT, s script) (terms, positions []byte) {
	w, err := columns.NewWriter(termsSchema, "")
	require.NoError(t, err)
	defer w.Close()
	b := (&tree{out: w}).builders()
	for range s.next() % 6 {
		b.level.Append(s.next() % 3)
		if null := s.next()%8 == 0; null {
			b.pageStart.AppendNull()
		} else {
			b.pageStart.Append(s.big())
		}
		b.page.Append(true)
		for range s.next() % 4 {
			b.item.Append(true)
			b.term.Append([]byte{'A' + s.next()%8})
			if s.next()%4 == 0 {
				b.child.AppendNull()
			} else {
				b.child.Append(s.big())
			}
			b.stripes.Append(s.next()%8 > 0)
			for range s.next() % 3 {
				b.stripe.Append(true)
				b.stripeID.Append(uint16(s.next()))
				b.fields.Append(true)
				for range s.next() % 3 {
					b.field.Append(true)
					b.fieldID.Append(uint32(s.next()))
					b.form.Append(s.next() % 5)
					b.end.Append(s.big())
				}
			}
		}
	}
	var out bytes.Buffer
	require.NoError(t, w.Publish(context.Background(), &out))
	p, err := columns.NewWriter(positionsSchema, "")
	require.NoError(t, err)
	defer p.Close()
	for range s.next() % 20 {
		p.Build.Field(0).(*array.Uint64Builder).Append(s.big())
	}
	var numbers bytes.Buffer
	require.NoError(t, p.Publish(context.Background(), &numbers))
	return out.Bytes(), numbers.Bytes()
}

// Pages that make no tree, and lists that are none, are errors.
func FuzzPages(f *testing.F) {
	f.Add([]byte{2, 0, 1, 0, 1, 0, 0, 1, 1, 0, 1, 0, 0, 1, 1, 8, 1, 0, 1, 1, 0, 3})
	f.Add(binary.LittleEndian.AppendUint64(nil, 0x0102030401020304))
	f.Fuzz(func(t *testing.T, s []byte) {
		terms, positions := hostileShards(t, s)
		_ = walk(terms, positions)
	})
}

// A page must not be below itself, or below one of its children.
func TestCircles(t *testing.T) {
	w, err := columns.NewWriter(termsSchema, "")
	require.NoError(t, err)
	defer w.Close()
	tr := &tree{out: w}
	require.NoError(t, tr.push(ctx, leafEntry{term: []byte("A")}))
	require.NoError(t, tr.endLeaf(ctx))
	tr.inner[0].children[0] = 1 // itself
	require.NoError(t, tr.finish(ctx))
	var terms bytes.Buffer
	require.NoError(t, w.Publish(ctx, &terms))
	p, err := columns.NewWriter(positionsSchema, "")
	require.NoError(t, err)
	defer p.Close()
	var positions bytes.Buffer
	require.NoError(t, p.Publish(ctx, &positions))
	at := func(b *bytes.Buffer) storage.ByteRange {
		return storage.ByteRange{Reader: storage.FromBytes("x", b.Bytes()), Size: int64(b.Len())}
	}
	x, err := Open(ctx, at(&terms), at(&positions), analysis.CaseInsensitive, 10)
	require.NoError(t, err)
	for _, err := range x.Find(ctx, []byte("a"), false) {
		require.ErrorContains(t, err, "page 1 has a child 1")
	}
}
