package column_test

import (
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/blockpack/internal/column"
	"github.com/amudai/amudai-go/blockpack/internal/column/encode"
	"github.com/amudai/amudai-go/blockpack/internal/otlp"
	"github.com/amudai/amudai-go/blockpack/internal/write"
	"github.com/amudai/amudai-go/internal/bench/measure"
	"github.com/amudai/amudai-go/internal/testing/microbench"
	"github.com/amudai/amudai-go/internal/testing/otlpgen"
	"github.com/amudai/amudai-go/storage"
)

// corpusBlocks writes a file of the corpus in blocks of up to rows spans, and gives these.
func corpusBlocks(t testing.TB, name string, rows int) []storedBlock {
	ctx := context.Background()
	m := storage.NewMemory()
	out, err := m.Create(ctx, "mem://f", storage.CreateOptions{})
	require.NoError(t, err)
	w := write.New(out, write.Options{})
	defer w.Close()
	b := otlp.NewBuilder(otlp.Options{})
	for _, message := range otlpgen.Corpus(t, name) {
		require.NoError(t, b.AddTraces(message))
		for b.Rows() >= rows {
			block, err := b.Take(rows)
			require.NoError(t, err)
			require.NoError(t, w.Window(ctx, block, block.Rows))
		}
	}
	if b.Rows() > 0 {
		require.NoError(t, w.Window(ctx, b.Finish(), 4000))
	}
	require.NoError(t, w.Finish(ctx))
	require.NoError(t, out.Publish(ctx))
	in, err := m.Open(ctx, "mem://f")
	require.NoError(t, err)
	size, err := in.Size(ctx)
	require.NoError(t, err)
	data := make([]byte, size)
	require.NoError(t, in.ReadAt(ctx, data, 0))
	return blocksOf(data)
}

// TestSizes prints the bytes of each column with AMUDAI_SIZES=file:rows,….
func TestSizes(t *testing.T) {
	for set := range strings.SplitSeq(os.Getenv("AMUDAI_SIZES"), ",") {
		var rows int
		name, _, ok := strings.Cut(set, ":")
		if !ok {
			continue
		}
		fmt.Sscanf(set[len(name)+1:], "%d", &rows)
		type sum struct {
			bytes, present int
			kinds          [allKinds + 1]int
		}
		sums := map[string]*sum{}
		spans, total := 0, 0
		for _, b := range corpusBlocks(t, name, rows) {
			spans += b.rows
			for _, c := range b.columns {
				if sums[c.name] == nil {
					sums[c.name] = &sum{}
				}
				s := sums[c.name]
				s.bytes += len(c.data)
				total += len(c.data)
				s.kinds[c.data[1]]++
				got := b.decode(t, c)
				s.present += got.PresentCount()
			}
		}
		fmt.Printf("%s: %d spans, %.2f B/span\n", set, spans, float64(total)/float64(spans))
		names := slices.SortedFunc(maps.Keys(sums), func(a, b string) int { return cmp.Compare(sums[b].bytes, sums[a].bytes) })
		for _, n := range names {
			s := sums[n]
			fmt.Printf("%-40s %9d B %7.3f B/span, present %3d%% ", n, s.bytes, float64(s.bytes)/float64(spans), 100*s.present/spans)
			for k, n := range s.kinds {
				if n > 0 {
					fmt.Printf(" %s %d", column.Kind(k), n)
				}
			}
			fmt.Println()
		}
	}
}

func BenchmarkEncode(b *testing.B) {
	for _, name := range []string{"hotrod.otlp.zst", "zipkin_lens.otlp"} {
		b.Run(name, func(b *testing.B) {
			var columns []*column.Column
			spans := 0
			var d column.Decoder
			for _, block := range corpusBlocks(b, name, 8000) {
				spans += block.rows
				for _, c := range block.columns {
					got, err := d.Decode(c.data, c.name, c.typ, block.rows, plain)
					require.NoError(b, err)
					columns = append(columns, got)
				}
			}
			e := new(encode.Encoder)
			var out []byte
			start := measure.CPU()
			for b.Loop() {
				for _, c := range columns {
					var err error
					if out, _, err = e.Append(out[:0], c); err != nil {
						b.Fatal(err)
					}
				}
			}
			b.ReportMetric(float64(spans)*float64(b.N)/(measure.CPU()-start), "spans/cpu-s")
		})
	}
}

// BenchmarkScan decodes all rows of all columns.
func BenchmarkScan(b *testing.B) {
	blocks := corpusBlocks(b, "hotrod.otlp.zst", 2000)
	var d column.Decoder
	spans := 0
	start := measure.CPU()
	for b.Loop() {
		for _, block := range blocks {
			spans += block.rows
			for _, c := range block.columns {
				if _, err := d.Decode(c.data, c.name, c.typ, block.rows, plain); err != nil {
					b.Fatal(err)
				}
			}
		}
	}
	b.ReportMetric(float64(spans)/(measure.CPU()-start), "spans/cpu-s")
}

// BenchmarkTrace takes the 37 rows of a trace from all columns of a block.
func BenchmarkTrace(b *testing.B) {
	for _, rows := range []int{1000, 2000, 4000, 8000} {
		b.Run(fmt.Sprint(rows), func(b *testing.B) {
			block := corpusBlocks(b, "hotrod.otlp.zst", rows)[3]
			var d column.Decoder
			var take []int
			for row := range 37 {
				take = append(take, row*block.rows/37)
			}
			start := measure.CPU()
			for b.Loop() {
				for _, c := range block.columns {
					r, err := d.Open(c.data, c.name, c.typ, block.rows, plain)
					if err != nil {
						b.Fatal(err)
					}
					if _, err := r.Take(take); err != nil {
						b.Fatal(err)
					}
				}
			}
			b.ReportMetric((measure.CPU()-start)/float64(b.N)*1e6, "cpu-µs/op")
		})
	}
}

// BenchmarkDecode decodes columns of 8,000 rows in each kind.
func BenchmarkDecode(b *testing.B) {
	const n = 8000
	r := rand.New(rand.NewPCG(1, 2))
	rows := func(nulls int, value func(row int) any) []any {
		rows := make([]any, n)
		for row := range rows {
			if row/10%10 >= nulls {
				rows[row] = value(row)
			}
		}
		return rows
	}
	id := func(int) any { return string(binary.LittleEndian.AppendUint64(nil, r.Uint64())) }
	path := func(int) any { return fmt.Sprintf("/api/v1/customers/%d", r.IntN(1000)) }
	start := func(row int) any { return 1_700_000_000_000_000_000 + r.Uint64N(1<<31) }
	route := func(row int) any { return fmt.Sprintf("/route/%d", row/100%7) }
	values := map[column.Kind]func(row int) any{column.Dictionary: path, column.InlineBytes: id, column.DeltaUint64: start,
		column.RLEIndexes: route, column.XORBytes: id, column.PrefixBytes: path, column.DeltaDictionary: path}
	e := new(encode.Encoder)
	var d column.Decoder
	for k := column.Dictionary; k <= allKinds; k++ {
		dense, nulls := k, 0
		if values[k] == nil {
			dense, nulls = k-1, 6
		}
		typ := column.Bytes
		if k == column.DeltaUint64 {
			typ = column.Uint64
		}
		c := columnOf(typ, rows(nulls, values[dense]), false)
		data, ok := inKind(b, e, c, k)
		require.True(b, ok)
		b.Run(k.String(), func(b *testing.B) {
			c, err := d.Decode(data, "c", typ, n, plain)
			require.NoError(b, err)
			microbench.Output(b, 8*len(c.Values.Numbers)+len(c.Values.Data)+4*len(c.Values.Offsets)+4*len(c.Codes))
			for b.Loop() {
				if _, err := d.Decode(data, "c", typ, n, plain); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
