package stripe_test

import (
	"bytes"
	"context"
	"fmt"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/internal/format/arrowmap"
	"github.com/amudai/amudai-go/internal/testing/arrowgen"
	"github.com/amudai/amudai-go/internal/testing/sweep"
	"github.com/amudai/amudai-go/shard/internal/stripe/write"
)

// filled allocates memory in which every byte has the same value.
type filled struct {
	memory.Allocator
	b byte
}

func (f filled) Allocate(size int) []byte {
	out := f.Allocator.Allocate(size)
	for i := range out[:cap(out)] {
		out[:cap(out)][i] = f.b
	}
	return out
}

func (f filled) Reallocate(size int, b []byte) []byte {
	out := f.Allocate(size)
	copy(out, b)
	return out
}

// TestNoArbitraryBytes reads all types into memory with two different initial values. The results do not depend on
// them, even under nulls.
func TestNoArbitraryBytes(t *testing.T) {
	var fields []arrow.Field
	for i, dt := range arrowgen.Types() {
		fields = append(fields, arrow.Field{Name: fmt.Sprint(i), Type: dt, Nullable: true})
	}
	s := arrow.NewSchema(fields, nil)
	rows := sweep.Count(1300, 2500)
	var batches []arrow.RecordBatch
	for _, nulls := range []float64{0, 0.3, 1} {
		g := arrowgen.New(5)
		g.Nulls = nulls
		batches = append(batches, g.Batch(s, rows))
	}
	everyOption(t, func(t *testing.T, o write.Options) {
		for _, batch := range batches {
			a, columns := writeStripe(t, s, []arrow.RecordBatch{batch}, o)
			for i, col := range columns {
				for _, cut := range [][2]int64{{0, int64(rows)}, {7, 1100}} {
					zeros, ones := readFilled(t, a, col, cut, 0), readFilled(t, a, col, cut, 0xa5)
					requireSameBytes(t, zeros.Data(), ones.Data(), fields[i].Type.String())
				}
			}
		}
	})
}

func readFilled(t *testing.T, a *artifact, col arrowmap.Column, cut [2]int64, b byte) arrow.Array {
	c, err := openColumn(context.Background(), a, col, filled{memory.DefaultAllocator, b})
	require.NoError(t, err)
	arr, err := c.Read(context.Background(), cut[0], cut[1])
	require.NoError(t, err)
	return arr
}

func requireSameBytes(t *testing.T, a, b arrow.ArrayData, name string) {
	require.Equal(t, len(a.Buffers()), len(b.Buffers()), name)
	for i := range a.Buffers() {
		x, y := a.Buffers()[i], b.Buffers()[i]
		require.Equal(t, x == nil, y == nil, name)
		if x != nil {
			require.True(t, bytes.Equal(x.Bytes(), y.Bytes()), "%s: buffer %d", name, i)
		}
	}
	for i := range a.Children() {
		requireSameBytes(t, a.Children()[i], b.Children()[i], fmt.Sprintf("%s, child %d", name, i))
	}
	if d := a.Dictionary(); d != (*array.Data)(nil) {
		requireSameBytes(t, d, b.Dictionary(), name)
	}
}
