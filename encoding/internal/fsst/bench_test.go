package fsst

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/internal/testing/microbench"
	"github.com/amudai/amudai-go/internal/testing/testdata"
)

// corpus returns the log files of the shared data by name.
func corpus(t testing.TB) map[string][]byte {
	files, err := filepath.Glob(filepath.Join(testdata.Shared(t), "corpus", "logs", "*.log"))
	require.NoError(t, err)
	require.NotEmpty(t, files)
	logs := make(map[string][]byte)
	for _, file := range files {
		logs[filepath.Base(file)], err = os.ReadFile(file)
		require.NoError(t, err)
	}
	return logs
}

// TestCorpus limits the compressed size of real log lines.
func TestCorpus(t *testing.T) {
	for name, src := range corpus(t) {
		codes := roundTrip(t, train(src), src)
		ratio := float64(len(src)) / float64(len(codes))
		t.Logf("%s: %.2f", name, ratio)
		require.Greater(t, ratio, 2.0, name)
	}
}

func BenchmarkCorpus(b *testing.B) {
	for name, src := range corpus(b) {
		src = src[:64<<10]
		var trainer Trainer
		table := trainer.Train(src)
		codes := table.Encode(nil, src)
		stored := table.Append(nil)
		d, err := newDecoder(stored[:8*table.Len()], stored[8*table.Len():])
		require.NoError(b, err)
		dst := make([]byte, len(src), len(src)+64)
		run := func(what string, f func()) {
			b.Run(name+"/"+what, func(b *testing.B) {
				microbench.Output(b, len(src))
				for b.Loop() {
					f()
				}
			})
		}
		run("train", func() { trainer.Train(src) })
		run("encode", func() { codes = table.Encode(codes[:0], src) })
		run("decode", func() {
			if _, err := d.Decode(dst, codes); err != nil {
				b.Fatal(err)
			}
		})
	}
}
