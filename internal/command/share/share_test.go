//go:build unix

package share_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/internal/command/share"
	"github.com/amudai/amudai-go/table"
	"github.com/amudai/amudai-go/table/arrowipc"
)

// process is the other process.
type process struct {
	t       *testing.T
	data    *os.File
	answers io.WriteCloser
	places  *io.PipeReader
}

// start begins to share memory.
func start(t *testing.T) (*process, *share.Memory) {
	data, err := os.Create(filepath.Join(t.TempDir(), "memory"))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, data.Close()) })
	returns, answers := io.Pipe()
	places, printed := io.Pipe()
	return &process{t, data, answers, places}, share.New(data, returns, printed)
}

// next reads the place of a stream, and the stream.
func (p *process) next() (offset int64, stream *ipc.Reader) {
	var place [16]byte
	_, err := io.ReadFull(p.places, place[:])
	require.NoError(p.t, err)
	offset = int64(binary.LittleEndian.Uint64(place[:]))
	require.Zero(p.t, offset%(2<<20))
	b := make([]byte, binary.LittleEndian.Uint64(place[8:]))
	_, err = p.data.ReadAt(b, offset)
	require.NoError(p.t, err)
	stream, err = ipc.NewReader(bytes.NewReader(b))
	require.NoError(p.t, err)
	return offset, stream
}

func (p *process) answer(number int64) {
	_, err := p.answers.Write(binary.LittleEndian.AppendUint64(nil, uint64(number)))
	require.NoError(p.t, err)
}

// numbers is a batch of n numbers from first on.
func numbers(first, n int64) arrow.RecordBatch {
	b := array.NewInt64Builder(memory.DefaultAllocator)
	for i := range n {
		b.Append(first + i)
	}
	return array.NewRecordBatch(schema, []arrow.Array{b.NewArray()}, n)
}

var schema = arrow.NewSchema([]arrow.Field{{Name: "n", Type: arrow.PrimitiveTypes.Int64}}, nil)

// TestBatches shares batches of various sizes with a process that keeps some of them for a while.
func TestBatches(t *testing.T) {
	p, m := start(t)
	const batches = 40
	size := func(i int64) int64 { return 1 + i*i*i%300_000 }
	done := make(chan error, 1)
	go func() {
		s, err := m.Create(t.Context(), arrowipc.Stream, schema, table.WriteOptions{})
		for i := int64(0); err == nil && i < batches; i++ {
			err = s.Write(t.Context(), numbers(i<<32, size(i)))
		}
		done <- err
	}()
	offset, stream := p.next()
	require.True(t, stream.Schema().Equal(schema))
	p.answer(offset)
	p.answer(offset + 1)
	held := map[int64]int64{} // numbers of batches by their regions
	for i := int64(0); i < batches; i++ {
		offset, stream := p.next()
		require.NotContains(t, held, offset, "a region that is in use was overwritten")
		require.True(t, stream.Next())
		got := stream.RecordBatch().Column(0).(*array.Int64).Int64Values()
		require.Len(t, got, int(size(i)))
		require.Equal(t, i<<32, got[0])
		require.Equal(t, i<<32+size(i)-1, got[len(got)-1])
		p.answer(offset)
		held[offset] = i
		if i%3 == 2 { // two thirds of them end, in another order than they came
			for offset := range held {
				if len(held) > 1 {
					delete(held, offset)
					p.answer(offset + 1)
				}
			}
		}
	}
	require.NoError(t, <-done)
	info, err := p.data.Stat()
	require.NoError(t, err)
	require.Less(t, info.Size(), int64(40<<20), "regions are used again")
}

// TestProcessThatLeaves ends writes that wait.
func TestProcessThatLeaves(t *testing.T) {
	for name, c := range map[string]struct {
		leave func(*process, context.CancelFunc)
		text  string
	}{
		"ends":      {func(p *process, _ context.CancelFunc) { require.NoError(t, p.answers.Close()) }, "nobody reads the shared memory"},
		"cancelled": {func(_ *process, cancel context.CancelFunc) { cancel() }, "context canceled"},
		"lies":      {func(p *process, _ context.CancelFunc) { p.answer(6 << 20) }, "no region of the shared memory"},
		"lies twice": {func(p *process, _ context.CancelFunc) {
			p.answer(1)
			p.answer(1)
		}, "no region of the shared memory"},
	} {
		t.Run(name, func(t *testing.T) {
			p, m := start(t)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			done := make(chan error, 1)
			go func() {
				s, err := m.Create(ctx, arrowipc.Stream, schema, table.WriteOptions{})
				for err == nil {
					err = s.Write(ctx, numbers(0, 10))
				}
				done <- err
			}()
			for range 3 { // none of them is taken over
				p.next()
			}
			c.leave(p, cancel)
			require.ErrorContains(t, <-done, c.text)
		})
	}
}

func TestOpen(t *testing.T) {
	for _, wrong := range []string{"3", "a,b", "3,-1", ","} {
		_, err := share.Open(wrong, io.Discard)
		require.ErrorContains(t, err, "not two numbers")
	}
}
