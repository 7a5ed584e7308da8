//go:build linux

package session

import (
	"bytes"
	"context"
	"encoding/binary"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/amudai/amudai-go/internal/testing/arrowgen"
)

// process is the other process.
type process struct {
	t       *testing.T
	data    *os.File
	answers io.WriteCloser
	frames  *io.PipeReader
	printed *io.PipeWriter
	bodies  int64  // taken
	schema  []byte // its message
}

// start begins to share memory.
func start(t *testing.T) (*process, *Memory) {
	data, err := os.Create(filepath.Join(t.TempDir(), "memory"))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, data.Close()) })
	returns, answers := io.Pipe()
	frames, printed := io.Pipe()
	return &process{t: t, data: data, answers: answers, frames: frames, printed: printed}, newMemory(data, returns, &output{w: printed})
}

// message reads a frame, and the body of its message.
func (p *process) message() (metadata, body []byte) {
	var head [16]byte
	_, err := io.ReadFull(p.frames, head[:])
	require.NoError(p.t, err)
	metadata = make([]byte, binary.LittleEndian.Uint64(head[:]))
	_, err = io.ReadFull(p.frames, metadata)
	require.NoError(p.t, err)
	if size := int64(binary.LittleEndian.Uint64(head[8:])); size > 0 {
		end := int64(0)
		b, err := message(metadata[8:]).buffers()
		require.NoError(p.t, err)
		for ; len(b) > 0; b = b[bufferSize:] {
			end = max(end, int64(binary.LittleEndian.Uint64(b)+binary.LittleEndian.Uint64(b[8:])))
		}
		require.LessOrEqual(p.t, end, size)
		message(metadata[8:]).setBody(end) // what is behind is not worth a copy
		body = make([]byte, end)
		_, err = p.data.ReadAt(body, 0)
		require.NoError(p.t, err)
		p.bodies++
	}
	return metadata, body
}

// next reads the messages up to the next batch, which has number number.
func (p *process) next() (number int64, batch arrow.RecordBatch) {
	if p.schema == nil {
		p.schema, _ = p.message()
	}
	stream := bytes.Clone(p.schema)
	for {
		metadata, body := p.message()
		stream = append(append(stream, metadata...), body...)
		kind, err := message(metadata[8:]).kind()
		require.NoError(p.t, err)
		if kind == batchKind {
			break
		}
		p.answer(2 * (p.bodies - 1))
	}
	r, err := ipc.NewReader(bytes.NewReader(stream))
	require.NoError(p.t, err)
	require.True(p.t, r.Next(), r.Err())
	return p.bodies - 1, r.RecordBatch()
}

func (p *process) answer(number int64) {
	_, err := p.answers.Write(binary.LittleEndian.AppendUint64(nil, uint64(number)))
	require.NoError(p.t, err)
}

// numbers is a batch of n numbers from first on, in memory of mem.
func numbers(mem memory.Allocator, first, n int64) arrow.RecordBatch {
	b := array.NewInt64Builder(mem)
	defer b.Release()
	b.Reserve(int(n))
	for i := range n {
		b.Append(first + i)
	}
	column := b.NewArray()
	defer column.Release()
	return array.NewRecordBatch(schema, []arrow.Array{column}, n)
}

var schema = arrow.NewSchema([]arrow.Field{{Name: "n", Type: arrow.PrimitiveTypes.Int64}}, nil)

// send writes batches to a sink in another goroutine. An error ends the frames, too.
func (p *process) send(ctx context.Context, m *Memory, schema *arrow.Schema, batch func(i int64) arrow.RecordBatch, n int64) chan error {
	done := make(chan error, 1)
	go func() {
		s, err := m.Create(ctx, schema)
		for i := int64(0); err == nil && i < n; i++ {
			b := batch(i)
			err = s.Write(ctx, b)
			b.Release()
		}
		p.printed.CloseWithError(err)
		done <- err
	}()
	return done
}

// TestBatches shares batches of various sizes with a process that keeps some of them for a while.
func TestBatches(t *testing.T) {
	p, m := start(t)
	const batches = 40
	size := func(i int64) int64 { return 1 + i*i*i%100_000 }
	done := p.send(t.Context(), m, schema, func(i int64) arrow.RecordBatch {
		mem := m.Allocator()
		if i%4 == 3 {
			mem = memory.DefaultAllocator
		}
		return numbers(mem, i<<32, size(i))
	}, batches)
	held := map[int64]arrow.RecordBatch{}
	for i := int64(0); i < batches; i++ {
		number, batch := p.next()
		require.Equal(t, i, number)
		got := batch.Column(0).(*array.Int64).Int64Values()
		require.Len(t, got, int(size(i)))
		require.Equal(t, i<<32, got[0])
		require.Equal(t, i<<32+size(i)-1, got[len(got)-1])
		p.answer(2 * number)
		held[number] = batch
		if i%3 == 2 { // two thirds of them end, in another order than they came
			for number := range held {
				if len(held) > 1 {
					delete(held, number)
					p.answer(2*number + 1)
				}
			}
		}
	}
	require.NoError(t, <-done)
	info, err := p.data.Stat()
	require.NoError(t, err)
	require.LessOrEqual(t, info.Size(), int64(leastGrowth), "memory is used again")
}

// TestArraysOfAllTypes shares slices of random batches with dictionaries, nested types, and memory of several kinds.
func TestArraysOfAllTypes(t *testing.T) {
	for seed := range uint64(2) {
		p, m := start(t)
		var fields []arrow.Field
		for i, dt := range arrowgen.Types() {
			switch dt.ID() {
			case arrow.RUN_END_ENCODED, arrow.LIST_VIEW, arrow.LARGE_LIST_VIEW: // arrow-go cannot write slices of them
			default:
				fields = append(fields, arrow.Field{Name: strconv.Itoa(i), Type: dt, Nullable: true})
			}
		}
		schema := arrow.NewSchema(fields, nil)
		batches := func() (all []arrow.RecordBatch) {
			g := arrowgen.New(seed)
			for range 2 {
				b := g.Batch(schema, 300)
				from := int64(seed) % 7 * 8
				all = append(all, b, b.NewSlice(from, b.NumRows()), b.NewSlice(0, 0))
			}
			return all
		}
		sent := batches()
		done := p.send(t.Context(), m, schema, func(i int64) arrow.RecordBatch { sent[i].Retain(); return sent[i] }, int64(len(sent)))
		for _, want := range batches() { // not those that are sent meanwhile: arrow-go counts nulls when it is asked
			before := p.bodies
			number, got := p.next()
			for i, column := range want.Columns() {
				require.True(t, array.ApproxEqual(column, got.Column(i), array.WithNaNsEqual(true), array.WithAbsTolerance(0)), "%v", column.DataType())
			}
			if p.bodies > before {
				p.answer(2 * number)
			}
		}
		require.NoError(t, <-done)
	}
}

// TestMemoryIsGivenBack holds much memory, which goes back to the system when nobody needs it.
func TestMemoryIsGivenBack(t *testing.T) {
	f, err := os.Create("/dev/shm/" + filepath.Base(t.TempDir()))
	if err != nil {
		t.Skip("no /dev/shm:", err)
	}
	require.NoError(t, os.Remove(f.Name()))
	defer f.Close()
	m := newMemory(f, bytes.NewReader(nil), nil)
	var all [][]byte
	for range 9 {
		b := m.mem.Allocate(kept / 8)
		for i := 0; i < len(b); i += 4096 {
			b[i] = 1
		}
		all = append(all, b)
	}
	before := used(t, f)
	for _, b := range all {
		m.mem.Free(b)
	}
	require.Less(t, used(t, f), before, "one of them is too much")
	m.mem.Close()
	require.Less(t, used(t, f), int64(1<<20))
	b := m.mem.Allocate(kept / 8)
	require.Equal(t, bytes.Repeat([]byte{0}, len(b)), b)
	require.GreaterOrEqual(t, m.file.offset(b), int64(0))
}

// TestFile allocates and frees buffers of all sizes in any order: each is cleared and has one owner, and what nobody has takes no memory.
func TestFile(t *testing.T) {
	data, err := os.CreateTemp("/dev/shm", "")
	if err != nil {
		t.Skip("no /dev/shm:", err)
	}
	require.NoError(t, os.Remove(data.Name()))
	defer data.Close()
	f := &file{File: data}
	rapid.Check(t, func(r *rapid.T) {
		var all [][]byte
		for i := range rapid.IntRange(1, 40).Draw(r, "steps") {
			if len(all) > 0 && rapid.Bool().Draw(r, "free") {
				k := rapid.IntRange(0, len(all)-1).Draw(r, "which")
				f.Free(all[k])
				all = append(all[:k], all[k+1:]...)
				continue
			}
			size := rapid.SampledFrom([]int{smallest, 70_001, extent - unit, extent, extent + 1, 5 << 20}).Draw(r, "size")
			b := f.Allocate(size)
			require.Len(r, b, size)
			require.Equal(r, size, bytes.Count(b, []byte{0}))
			b[0], b[size-1] = byte(i+1), byte(i+1)
			for _, other := range all {
				require.Equal(r, other[0], other[len(other)-1], "shared")
			}
			all = append(all, b)
		}
		for _, b := range all {
			f.Free(b)
		}
		require.LessOrEqual(r, used(t, data), int64(extents(len(f.rest))*extent))
	})
	require.LessOrEqual(t, f.size(), int64(8*leastGrowth), "memory is used again")
}

// TestProcessThatLeaves ends writes that wait.
func TestProcessThatLeaves(t *testing.T) {
	for name, c := range map[string]struct {
		leave func(*process, context.CancelFunc)
		text  string
	}{
		"ends":      {func(p *process, _ context.CancelFunc) { require.NoError(t, p.answers.Close()) }, "nobody reads the shared memory"},
		"cancelled": {func(_ *process, cancel context.CancelFunc) { cancel() }, "context canceled"},
		"lies":      {func(p *process, _ context.CancelFunc) { p.answer(12) }, "message 6 has no body"},
		"lies twice": {func(p *process, _ context.CancelFunc) {
			p.answer(1)
			p.answer(1)
		}, "message 0 has no body"},
	} {
		t.Run(name, func(t *testing.T) {
			p, m := start(t)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			done := p.send(ctx, m, schema, func(int64) arrow.RecordBatch { return numbers(m.Allocator(), 0, 10) }, 1000)
			for range ahead { // none of them is taken over
				p.next()
			}
			c.leave(p, cancel)
			require.ErrorContains(t, <-done, c.text)
		})
	}
}

// TestMemoryThatCannotGrow fails without a panic.
func TestMemoryThatCannotGrow(t *testing.T) {
	f, err := os.Open(os.DevNull)
	require.NoError(t, err)
	defer f.Close()
	returns, _ := io.Pipe()
	m := newMemory(f, returns, &output{w: io.Discard})
	batch := numbers(m.Allocator(), 0, 100_000)
	s, err := m.Create(t.Context(), schema)
	require.NoError(t, err)
	require.ErrorContains(t, s.Write(t.Context(), batch), "shared memory")
}

func TestOpenMemory(t *testing.T) {
	for _, wrong := range []string{"3", "a,b", "3,-1", ","} {
		_, err := openMemory(wrong, nil)
		require.ErrorContains(t, err, "not two numbers")
	}
}
