package bytestring

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/encoding"
	"github.com/amudai/amudai-go/internal/base/bitmap"
	"github.com/amudai/amudai-go/internal/bench/measure"
	"github.com/amudai/amudai-go/internal/format/edition"
	"github.com/amudai/amudai-go/internal/testing/testdata"
)

// documents are JSON texts of about a kilobyte.
func documents(rows int) Values {
	words := strings.Fields("order shipped customer region billing address street city postal country amount currency tax discount item quantity warehouse carrier tracking status pending confirmed delivered returned note gift express standard economy fragile heavy insured priority")
	r := rand.New(rand.NewPCG(4, 4))
	some := func(n int) string {
		out := make([]string, n)
		for i := range out {
			out[i] = words[r.IntN(len(words))]
		}
		return strings.Join(out, " ")
	}
	return makeValues(rows, func(int) []byte {
		var items []string
		for range 3 + r.IntN(4) {
			items = append(items, fmt.Sprintf(`{"sku":"SKU-%06d","title":%q,"price":%.2f,"quantity":%d}`, r.IntN(1e6), some(5), 500*r.Float64(), 1+r.IntN(9)))
		}
		return fmt.Appendf(nil, `{"id":"%016x","time":"2026-%02d-%02dT%02d:%02d:%02dZ","type":"order.%s","customer":{"id":%d,"email":"user%d@example.com","tier":"%s"},"items":[%s],"comment":%q}`,
			r.Uint64(), 1+r.IntN(12), 1+r.IntN(28), r.IntN(24), r.IntN(60), r.IntN(60), words[r.IntN(9)], r.IntN(1e5), r.IntN(1e5), []string{"gold", "silver"}[r.IntN(2)], strings.Join(items, ","), some(30))
	})
}

// corpusLines are the log lines of the corpus.
func corpusLines(b *testing.B) Values {
	files, err := filepath.Glob(filepath.Join(testdata.Shared(b), "corpus", "logs", "*.log"))
	require.NoError(b, err)
	var lines [][]byte
	for _, name := range files {
		data, err := os.ReadFile(name)
		require.NoError(b, err)
		lines = append(lines, bytes.Split(data, []byte("\n"))...)
	}
	return makeValues(len(lines), func(i int) []byte { return lines[i] })
}

// BenchmarkSharedDictionary compares blocks that share a dictionary with those that writers make without one, long and as short: the bytes of all, and the time
// to read single values, which begins with the checksum of their block.
func BenchmarkSharedDictionary(b *testing.B) {
	for _, column := range []struct {
		name   string
		values Values
	}{{"documents", documents(32_000)}, {"logs", corpusLines(b)}} {
		for _, p := range []encoding.Profile{encoding.Balanced, encoding.HighCompression} {
			b.Run(fmt.Sprintf("%s/%v", column.name, p), func(b *testing.B) {
				v := column.values
				shared, parts, raw := sharing(b, v, p)
				var d *Dictionary
				if raw != nil {
					var err error
					d, err = ParseDictionary(raw, DictionaryID)
					require.NoError(b, err)
				}
				long, longParts := written(b, v, p, nil)
				short, _ := written(b, v, p, parts)
				size := func(blocks [][]byte) (n float64) {
					for _, blk := range blocks {
						n += float64(len(blk))
					}
					return n
				}
				var s Scratch
				var buf []byte
				take := func(blocks [][]byte, parts []Values) float64 {
					r := rand.New(rand.NewPCG(5, 5))
					before := measure.CPU()
					for range 100 {
						i := r.IntN(len(blocks))
						blk, err := Parse(blocks[i], parts[i].N, 0, BlockOptions{Checksums: true, Dictionary: d}, &s)
						require.NoError(b, err)
						row := r.IntN(parts[i].N)
						buf = append(buf[:0], make([]byte, blk.RangeLen(row, row+1))...)
						require.NoError(b, DecodeRange(blk, row, row+1, buf, make([]int64, 1), 0))
					}
					return 1e4 * (measure.CPU() - before)
				}
				var took [3][]float64
				for b.Loop() {
					took[0] = append(took[0], take(shared, parts))
					took[1] = append(took[1], take(long, longParts))
					took[2] = append(took[2], take(short, parts))
				}
				all := size(shared) + float64(len(raw))
				for i, name := range []string{"shared", "long", "short"} {
					b.ReportMetric(measure.Median(took[i]), "µs/value-"+name)
				}
				b.ReportMetric(all/size(long), "of-long-size")
				b.ReportMetric(all/size(short), "of-short-size")
			})
		}
	}
}

// written writes values without a shared dictionary, in blocks of given values, or as planned if there are none.
func written(b *testing.B, v Values, p encoding.Profile, parts []Values) (blocks [][]byte, of []Values) {
	e := NewEncoder(encoding.Options{Profile: p, Features: edition.E2026.Features()}, 0)
	for at := 0; at < v.N; at += of[len(of)-1].N {
		n := e.Plan(int64(at), v.Slice(at, v.N), bitmap.All(v.N-at))
		if parts != nil {
			n = parts[len(of)].N
		}
		blk, err := e.AppendBlock(nil, v.Slice(at, at+n), bitmap.All(n))
		require.NoError(b, err)
		blocks, of = append(blocks, blk), append(of, v.Slice(at, at+n))
	}
	return blocks, of
}
