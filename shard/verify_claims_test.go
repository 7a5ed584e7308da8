package shard_test

import (
	"context"
	"encoding/binary"
	"errors"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/encoding"
	commonpb "github.com/amudai/amudai-go/gen/amudai/common"
	shardpb "github.com/amudai/amudai-go/gen/amudai/shard"
	"github.com/amudai/amudai-go/internal/format/schema"
	"github.com/amudai/amudai-go/shard"
	"github.com/amudai/amudai-go/storage"
	"github.com/amudai/amudai-go/table/provider"
)

// claiming is a store whose artifact "huge" claims a size of 2^50 bytes. It has head, then zeros up to the end, or
// until the server closes the connection.
type claiming struct {
	storage.Store
	root  []byte
	head  []byte
	stops bool
	most  atomic.Int64 // largest number of bytes of a read
}

var errStopped = errors.New("connection closed")

func (s *claiming) Open(_ context.Context, location string) (storage.Reader, error) {
	if strings.HasSuffix(location, "huge") {
		return &claimingReader{Reader: storage.FromBytes(location, nil), s: s}, nil
	}
	return storage.FromBytes(location, s.root), nil
}

type claimingReader struct {
	storage.Reader
	s *claiming
}

func (r *claimingReader) Size(context.Context) (int64, error) { return 1 << 50, nil }

func (r *claimingReader) ReadAt(_ context.Context, p []byte, off int64) error {
	for n := int64(len(p)); ; {
		most := r.s.most.Load()
		if n <= most || r.s.most.CompareAndSwap(most, n) {
			break
		}
	}
	if r.s.stops && off+int64(len(p)) > 1<<20 {
		return errStopped
	}
	clear(p)
	if off < int64(len(r.s.head)) {
		copy(p, r.s.head[off:])
	}
	return nil
}

// claimedShard has a column of numbers with a range index, and a column of strings with a value dictionary.
func claimedShard(t *testing.T) *Parts {
	const rows = 1000
	numbers, texts := array.NewInt64Builder(memory.DefaultAllocator), array.NewStringBuilder(memory.DefaultAllocator)
	var values [][]byte
	for i := range rows {
		numbers.Append(int64(i) * int64(i) % 997)
		values = append(values, []byte{'a' + byte(i%7)})
		texts.Append(string(values[i]))
	}
	s := arrow.NewSchema([]arrow.Field{{Name: "n", Type: arrow.PrimitiveTypes.Int64}, {Name: "s", Type: arrow.BinaryTypes.String}}, nil)
	batch := array.NewRecordBatch(s, []arrow.Array{numbers.NewArray(), texts.NewArray()}, rows)
	p, err := Split(NewKind(t, "claims", batch, shard.WriterOptions{}).Root)
	require.NoError(t, err)
	p.Stripes[0].Fields[0].AddRangeIndex(batch.Column(0).(*array.Int64))
	p.Stripes[0].Fields[1].SetDictionary(schema.String, 0, values)
	return p
}

// hugeDictionary is the start of a dictionary whose values claim n bytes. Its lengths and the checksum of its
// header are valid.
func hugeDictionary(n uint64) []byte {
	le := binary.LittleEndian
	b := make([]byte, 136)
	b[0] = byte(schema.String)
	le.PutUint32(b[1:], 7)
	const header, extra = 128, 8 + 64 + 4 // added to the bytes of a section
	end := header + (n+extra+15)&^15
	le.PutUint64(b[14:], header)
	le.PutUint64(b[22:], end)
	le.PutUint64(b[30:], end)
	le.PutUint64(b[38:], end+144)
	le.PutUint64(b[46:], end+144)
	le.PutUint64(b[54:], end+144+112)
	le.PutUint32(b[124:], encoding.BlockChecksum(b[:124]))
	le.PutUint64(b[128:], n)
	return b
}

// Memory is allocated neither for claimed bytes before they arrive, nor for more bytes than the positions can
// need.
func TestVerifyClaimedSizes(t *testing.T) {
	const claim = 900 << 20
	for name, c := range map[string]struct {
		field int
		kind  shardpb.BufferKind
		lie   func(b *shardpb.EncodedBuffer)
		stops bool // the server stops; else a sparse file may have the bytes
	}{
		"range index": {field: 0, kind: shardpb.BufferKind_RANGE_INDEX},
		"dictionary":  {field: 1, kind: shardpb.BufferKind_VALUE_DICTIONARY, stops: true},
		"block": {field: 0, kind: shardpb.BufferKind_DATA, lie: func(b *shardpb.EncodedBuffer) {
			var m encoding.BlockMapBuilder
			m.Add(1000, claim)
			b.InlineBlockMap, b.BlockMap = m.Append(nil), nil
		}},
		"single block": {field: 0, kind: shardpb.BufferKind_DATA, lie: func(b *shardpb.EncodedBuffer) {
			one := uint64(1)
			b.InlineBlockMap, b.BlockMap, b.BlockCount = nil, nil, &one
		}},
		"block of strings": {field: 1, kind: shardpb.BufferKind_DATA, lie: func(b *shardpb.EncodedBuffer) {
			var m encoding.BlockMapBuilder
			m.Add(1000, claim)
			b.InlineBlockMap, b.BlockMap = m.Append(nil), nil
		}},
		"block map": {field: 0, kind: shardpb.BufferKind_DATA, lie: func(b *shardpb.EncodedBuffer) {
			b.InlineBlockMap, b.BlockMap = nil, b.Buffer
		}},
	} {
		t.Run(name, func(t *testing.T) {
			p := claimedShard(t)
			b := p.Stripes[0].Fields[c.field].Buffer(c.kind)
			require.NotNil(t, b)
			b.Edit = func(b *shardpb.EncodedBuffer) {
				b.Buffer = &commonpb.DataRef{Url: "huge", Range: &commonpb.UInt64Range{End: claim}}
				if c.lie != nil {
					c.lie(b)
				}
			}
			root := p.Join()
			for _, stops := range []bool{true, false} {
				if c.stops && !stops {
					continue
				}
				s := &claiming{root: root, head: hugeDictionary(claim - 1<<10), stops: stops}
				open := shard.OpenOptions{Store: s}
				r, err := shard.Verify(t.Context(), Location, open, provider.VerifyOptions{Parallelism: 1})
				if err != nil || c.stops {
					require.ErrorIs(t, err, errStopped)
				} else {
					require.NotZero(t, len(r.Problems)+r.Unchecked)
				}
				require.LessOrEqual(t, s.most.Load(), int64(16<<20), "verify")
				_, err = shard.Recover(t.Context(), Location, "mem://x/out", shard.RecoverOptions{Open: open, Store: storage.NewMemory(), Parallelism: 1})
				require.Error(t, err)
				require.LessOrEqual(t, s.most.Load(), int64(16<<20), "recover")
				_, _ = Read(Location, open, shard.ScanOptions{Parallelism: 1})
				require.LessOrEqual(t, s.most.Load(), int64(16<<20), "scan")
			}
		})
	}
}

// The limits of the options also apply to parts that are only verified.
func TestVerifyLimits(t *testing.T) {
	b := claimedShard(t).Join()
	o := shard.OpenOptions{Store: OneFile(b)}
	r, err := shard.Verify(t.Context(), Location, o, provider.VerifyOptions{})
	require.NoError(t, err)
	require.EqualValues(t, 1, r.Number("dictionary"))
	require.Zero(t, r.Unchecked)
	o.MaxDictionaryBytes = 100
	r, err = shard.Verify(t.Context(), Location, o, provider.VerifyOptions{})
	require.NoError(t, err)
	require.Zero(t, r.Number("dictionary"))
	require.NotZero(t, r.Unchecked)
}
