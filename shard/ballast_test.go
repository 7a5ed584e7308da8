package shard

import (
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"
)

// bytesOfLength is an array of so many bytes that nobody has looked at.
func bytesOfLength(n int) arrow.Array {
	d := array.NewData(arrow.PrimitiveTypes.Uint8, n, []*memory.Buffer{nil, memory.NewBufferBytes(make([]byte, n))}, nil, 0, 0)
	defer d.Release()
	return array.MakeFromData(d)
}

func TestOnlyLargeScansHoldBallast(t *testing.T) {
	for _, c := range []struct{ rows, batch, threads, want int }{
		{rows: 1 << 20, batch: 1 << 20, want: 0},                                      // a megabyte in all
		{rows: 64 << 20, batch: 1 << 20, want: 12 << 20},                              // the most
		{rows: 64 << 20, batch: 16 << 20, want: 8 << 20},                              // less beside large batches
		{rows: 64 << 20, batch: 40 << 20, want: 0},                                    // none beside very large ones
		{rows: 64 << 20, batch: 16 << 20, threads: 2, want: 16 << 20},                 // one for each thread
		{rows: 64 << 20, batch: 1 << 20, threads: 64, want: 48 << 20},                 // up to four
		{rows: 0, batch: 9 << 20, want: 12 << 20}, {rows: 0, batch: 7 << 20, want: 0}, // what came says it
	} {
		var b ballast
		b.rows, b.threads = int64(c.rows), max(c.threads, 1)
		b.add([]arrow.Array{bytesOfLength(c.batch)}, int64(c.batch))
		got := 0
		if b.held != nil {
			got = len(*b.held)
		}
		require.Equal(t, c.want, got, "%+v", c)
		b.end()
		require.Nil(t, b.held)
	}
}

func TestBallastOfAnotherScanIsReplacedIfItDoesNotFit(t *testing.T) {
	old := make([]byte, 5)
	b := ballast{rows: 64 << 20, threads: 1, held: &old}
	b.add([]arrow.Array{bytesOfLength(1 << 20)}, 1<<20)
	require.Len(t, *b.held, 12<<20)
	held := b.held
	b = ballast{rows: 64 << 20, threads: 1, held: held}
	b.add([]arrow.Array{bytesOfLength(2 << 20)}, 2<<20)
	require.Same(t, held, b.held)
}
