package rntuple

import (
	"bytes"
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/filter"
	"github.com/amudai/amudai-go/internal/engine/scan"
)

// largePages is a file of three clusters with one page for each of 8 columns of 64-bit numbers and 2 of lists.
func largePages(t *testing.T, entries int) []byte {
	var all []arrow.Field
	for i := range 8 {
		all = append(all, arrow.Field{Name: fmt.Sprintf("n%d", i), Type: arrow.PrimitiveTypes.Int64})
	}
	for i := range 2 {
		all = append(all, arrow.Field{Name: fmt.Sprintf("v%d", i), Type: arrow.ListOfNonNullable(arrow.PrimitiveTypes.Float32)})
	}
	s := arrow.NewSchema(all, nil)
	b := array.NewRecordBuilder(memory.DefaultAllocator, s)
	defer b.Release()
	for row := range entries {
		for i := range 8 {
			b.Field(i).(*array.Int64Builder).Append(int64(row * (i + 1)))
		}
		for i := range 2 {
			l := b.Field(8 + i).(*array.ListBuilder)
			l.Append(true)
			for range (row + i) % 4 {
				l.ValueBuilder().(*array.Float32Builder).Append(float32(row))
			}
		}
	}
	batch := b.NewRecordBatch()
	defer batch.Release()
	var file bytes.Buffer
	w, err := NewWriter(t.Context(), &file, s, WriterOptions{PageBytes: maxPageBytes, ClusterRows: int64(entries / 3)})
	require.NoError(t, err)
	require.NoError(t, w.Write(t.Context(), batch))
	require.NoError(t, w.Close(t.Context()))
	return file.Bytes()
}

// peak is an allocator that knows the most bytes that were in use at once.
type peak struct {
	memory.Allocator
	used, most atomic.Int64
}

func (p *peak) add(n int) {
	used := p.used.Add(int64(n))
	for most := p.most.Load(); used > most && !p.most.CompareAndSwap(most, used); most = p.most.Load() {
	}
}

func (p *peak) Allocate(n int) []byte { p.add(n); return p.Allocator.Allocate(n) }
func (p *peak) Free(b []byte)         { p.add(-len(b)); p.Allocator.Free(b) }

// A page is unpacked once by a scan, also if the pages of a cluster are larger than the cache and batches are small, or as
// often as the parts of a cluster that memory has room for.
func TestPagesOnce(t *testing.T) {
	const entries, cluster = 300_000, 100_000 * (8*8 + 2*(8+6))
	file := largePages(t, entries)
	for name, c := range map[string]struct {
		limit int64
		again int64 // how often a page may be unpacked once more
		where string
	}{
		"all":            {},
		"two clusters":   {limit: 2.5 * cluster},
		"one cluster":    {limit: 1.2 * cluster},
		"half a cluster": {limit: cluster * 6 / 10, again: 1},
		"third":          {limit: cluster * 4 / 10, again: 2},
		"filter":         {where: "n3 % 2 == 0"},
		"few":            {where: "n3 % 1000 == 0"},
	} {
		t.Run(name, func(t *testing.T) {
			n, err := open(t.Context(), file, "", Options{CacheBytes: 1})
			require.NoError(t, err)
			mem := &peak{Allocator: memory.DefaultAllocator}
			o := scan.Options{BatchRows: 10_000, MemoryLimit: c.limit, Allocator: mem, Parallelism: 2}
			if c.where != "" {
				where, err := filter.Parse(c.where)
				require.NoError(t, err)
				o.Filter = where.Node()
			}
			o, err = n.Prepare(t.Context(), o)
			require.NoError(t, err)
			x, err := scan.Analyze(t.Context(), n.Table, o)
			require.NoError(t, err)
			distinct := x.Run.Blocks - x.Run.BlocksAgain
			require.EqualValues(t, 3*(8+2*2), distinct)
			require.LessOrEqual(t, x.Run.BlocksAgain, distinct*c.again)
			if c.limit > 0 {
				require.LessOrEqual(t, mem.most.Load(), c.limit+c.limit/8+2*maxPageBytes) // sizes of buffers are rounded
			}
			require.GreaterOrEqual(t, x.Run.Batches, x.Run.Rows/10_000)
		})
	}
}
