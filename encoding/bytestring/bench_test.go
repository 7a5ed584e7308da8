package bytestring

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/amudai/amudai-go/encoding"
	"github.com/amudai/amudai-go/internal/base/bitmap"
	"github.com/amudai/amudai-go/internal/testing/microbench"
)

// benchColumns are a block each of values of some kinds.
func benchColumns() map[string]Values {
	rnd := rand.New(rand.NewPCG(1, 2))
	levels := []string{"INFO", "INFO", "INFO", "WARN", "ERROR"}
	parts := []string{"dfs.DataNode$PacketResponder", "dfs.FSNamesystem", "mapreduce.v2.app.job.impl", "kernel", "sshd(pam_unix)"}
	acts := []string{"Received block blk_%d of size %d", "PacketResponder %d for block blk_%d terminating", "authentication failure uid=%d euid=%d"}
	return map[string]Values{
		"log": makeValues(1024, func(i int) []byte {
			v := fmt.Appendf(nil, "2026-11-%02d %02d:%02d:%02d,%03d %s %s: ", 1+i/100, i/60%24, i%60, rnd.IntN(60), rnd.IntN(1000), levels[rnd.IntN(5)], parts[rnd.IntN(5)])
			return fmt.Appendf(v, acts[rnd.IntN(3)], rnd.Int64(), rnd.IntN(1<<20))
		}),
		"code": makeValues(16<<10, func(int) []byte { return fmt.Appendf(nil, "%03X", rnd.IntN(300)) }),
		"city": makeValues(8<<10, func(int) []byte { return fmt.Appendf(nil, "%s %d", parts[rnd.IntN(5)], rnd.IntN(40)) }),
	}
}

func makeValues(n int, of func(i int) []byte) Values {
	v := Values{Offsets: []int64{0}, N: n}
	for i := range n {
		v.Data = append(v.Data, of(i)...)
		v.Offsets = append(v.Offsets, int64(len(v.Data)))
	}
	return v
}

// BenchmarkDecode decodes a block of each encoding.
func BenchmarkDecode(b *testing.B) {
	for name, v := range benchColumns() {
		for _, shape := range []string{"Plain", "BlockDictionary(FLBitPack,raw)", "FSST(Delta(FFOR))", "OnPair(FLBitPack,FLBitPack,FLBitPack)", "LZ4(Delta(FFOR))", "FlatLZ(Delta(FFOR))", "Template(FLBitPack,FFOR)", "RadixPack(FFOR)", "Zstd(Delta(FFOR))"} {
			tree, err := AppendTreeAs(nil, v, bitmap.All(v.N), shape)
			if err != nil {
				b.Fatal(err)
			}
			blk := withTree(tree, bitmap.All(v.N))
			b.Run(name+"/"+root(shape), func(b *testing.B) {
				var s Scratch
				dst, ends := make([]byte, len(v.Data), len(v.Data)+64), make([]int32, v.N)
				microbench.Output(b, len(v.Data))
				b.ReportAllocs()
				for b.Loop() {
					p, err := Parse(blk, v.N, 0, BlockOptions{Checksums: true}, &s)
					if err == nil {
						err = Decode(p, dst, ends, 0)
					}
					if err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(len(blk))/float64(len(v.Data)), "ratio")
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(v.N), "ns/value")
			})
		}
	}
}

func BenchmarkEncode(b *testing.B) {
	for name, v := range benchColumns() {
		for _, p := range profiles {
			b.Run(fmt.Sprintf("%s/%v", name, p), func(b *testing.B) {
				e := NewEncoder(encoding.Options{Profile: p}, 0)
				var blk []byte
				var err error
				microbench.Output(b, len(v.Data))
				b.ReportAllocs()
				for b.Loop() {
					if blk, err = e.AppendBlock(blk[:0], v, bitmap.All(v.N)); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(len(blk))/float64(len(v.Data)), "ratio")
			})
		}
	}
}
