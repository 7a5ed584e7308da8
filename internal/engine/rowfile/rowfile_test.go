package rowfile

import (
	"bytes"
	"io"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"
)

// temporary is a file in memory that ends early when it is read.
type temporary struct {
	bytes.Buffer
	end int64
}

func (f *temporary) ReadAt(p []byte, off int64) (int, error) {
	return bytes.NewReader(f.Bytes()[:f.end]).ReadAt(p, off)
}

func (f *temporary) Close() error { return nil }

// TestShorterFile reads files that became shorter: at every length there is an error.
func TestShorterFile(t *testing.T) {
	b := array.NewInt64Builder(memory.DefaultAllocator)
	defer b.Release()
	b.AppendValues(make([]int64, 20_000), nil) // more than two frames
	column := b.NewArray()
	defer column.Release()
	tmp := &temporary{}
	f := New(tmp, memory.DefaultAllocator)
	for range 2 {
		require.NoError(t, f.Write([]arrow.Array{column}, column.Len()))
	}
	require.NoError(t, f.Finish())
	read := func(end int64) (rows int, err error) {
		tmp.end = end
		err = f.Each(t.Context(), func(_ []arrow.Array, n int) error { rows += n; return nil })
		return rows, err
	}
	rows, err := read(f.Bytes())
	require.NoError(t, err)
	require.Equal(t, 40_000, rows)
	boundaries := []int64{frameHead + frameBytes, 2 * (frameHead + frameBytes), 2*frameHead + frameBytes}
	for end := int64(0); end < f.Bytes()-frameHead-32; end += 4001 {
		boundaries = append(boundaries, end)
	}
	for _, end := range boundaries {
		rows, err := read(end)
		require.Error(t, err, "%d of %d bytes gave %d rows", end, f.Bytes(), rows)
		require.NotErrorIs(t, err, io.EOF)
	}
}
