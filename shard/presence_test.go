package shard_test

import (
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/filter"
	shardpb "github.com/amudai/amudai-go/gen/amudai/shard"
	"github.com/amudai/amudai-go/shard"
)

// A PRESENCE buffer beside values of any type, with nulls of their own or a dictionary: what is null in either is null, for scans and for filters
// of nulls. Nulls in blocks that have none by their descriptor are an error.
func TestPresenceBesideValues(t *testing.T) {
	columns := map[string]int{"int": colInt, "text": colText, "code": colCode, "decimal": colDecimal, "fixed bytes": colFixedBytes}
	open := func(change func(p *Parts)) *shard.Shard {
		p := liesShard(t)
		change(p)
		root := p.Join()
		Mend(root)
		s, err := shard.Open(t.Context(), Location, shard.OpenOptions{Store: OneFile(root)})
		require.NoError(t, err)
		t.Cleanup(func() { s.Close() })
		return s
	}
	// The bits of the Booleans, which are true in every third row, are the presence of the others.
	beside := func(p *Parts) {
		for _, id := range columns {
			bits := *buffer(p, colBool, data)
			bits.Desc = &shardpb.EncodedBuffer{Kind: shardpb.BufferKind_PRESENCE, BlockChecksums: bits.Desc.BlockChecksums}
			f := p.Stripes[0].Fields[id]
			f.Buffers = append(f.Buffers, &bits)
			field(p, id).NullCount = nil
		}
	}
	plain, s := open(func(*Parts) {}), open(beside)
	valuesOf := func(s *shard.Shard, o shard.ScanOptions) (out []string) {
		for b, err := range s.Scan(t.Context(), o) {
			require.NoError(t, err)
			for i := range int(b.NumRows()) {
				out = append(out, b.Column(0).ValueStr(i))
			}
		}
		return out
	}
	for name := range columns {
		o := shard.ScanOptions{Columns: []string{name}}
		want := valuesOf(plain, o)
		nulls := 0
		for i := range want {
			if i%3 != 0 || i%10 == 3 {
				want[i] = array.NullValueStr
				nulls++
			}
		}
		require.Equal(t, want, valuesOf(s, o), name)
		for _, c := range []struct {
			condition string
			rows      int
		}{{name + " is null", nulls}, {name + " is not null", len(want) - nulls}} {
			f, err := filter.Parse(strings.ReplaceAll(c.condition, "fixed bytes", `"fixed bytes"`))
			require.NoError(t, err)
			require.Len(t, valuesOf(s, shard.ScanOptions{Columns: []string{"constant"}, Filter: f}), c.rows, c.condition)
		}
	}
	lie := open(func(p *Parts) {
		beside(p)
		buffer(p, colInt, data).Desc.EmbeddedPresence = false
	})
	for _, err := range lie.Scan(t.Context(), shard.ScanOptions{Columns: []string{"int"}}) {
		require.ErrorIs(t, err, shard.ErrCorrupt)
	}
}
