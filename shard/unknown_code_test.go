package shard_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/internal/format/container"
	"github.com/amudai/amudai-go/shard"
)

// TestUnknownCodes holds testdata/unknown together with the writer: shards whose first block has a code that no edition knows, of
// this edition and of one that is to come. Tests of the command read the files, too. UPDATE=1 writes them.
func TestUnknownCodes(t *testing.T) {
	ctx := context.Background()
	s := arrow.NewSchema([]arrow.Field{{Name: "n", Type: arrow.PrimitiveTypes.Int64}}, nil)
	b := array.NewRecordBuilder(memory.DefaultAllocator, s)
	for i := range 3000 {
		b.Field(0).(*array.Int64Builder).Append(int64(i % 3))
	}
	var out bytes.Buffer
	w, err := shard.NewWriter(ctx, &out, s, shard.WriterOptions{CreationTime: time.Date(2026, 11, 23, 0, 0, 0, 0, time.UTC)})
	require.NoError(t, err)
	require.NoError(t, w.Write(ctx, b.NewRecordBatch()))
	require.NoError(t, w.Close(ctx))
	p, err := Split(out.Bytes())
	require.NoError(t, err)
	block := p.Stripes[0].Fields[0].Buffers[0].Blocks[0].Bytes
	at := container.MarkSize // of the tree, behind the header of the block, which has no nulls
	block[at], block[at+1] = 0x05, 0x01
	known := p.Join()
	Mend(known)
	later := []byte(strings.Replace(string(known), "amudai.edition\x12\x06B\x042026", "amudai.edition\x12\x06B\x042099", 1))
	require.NotEqual(t, known, later)
	Mend(later)
	for name, want := range map[string][]byte{"known": known, "later": later} {
		path := filepath.Join("testdata", "unknown", name+".amudai.shard")
		if os.Getenv("UPDATE") != "" {
			require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o777))
			require.NoError(t, os.WriteFile(path, want, 0o666))
		}
		got, err := os.ReadFile(path)
		require.NoError(t, err)
		require.True(t, bytes.Equal(want, got), "%s: the writer gives other bytes: UPDATE=1 writes the files anew", path)
	}
}
