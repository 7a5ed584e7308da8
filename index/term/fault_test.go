package term

import (
	"bytes"
	"fmt"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/internal/testing/faultstore"
	"github.com/amudai/amudai-go/internal/testing/sweep"
	"github.com/amudai/amudai-go/internal/text/analysis"
	"github.com/amudai/amudai-go/storage"
)

// Whatever temporary file fails, building is an error or right, and no file is left.
func TestBuilderFaults(t *testing.T) {
	build := func(faults *faultstore.Faults, dir string) ([]byte, error) {
		b := NewBuilder(BuilderOptions{Tokenizers: []analysis.Tokenizer{analysis.Word}, Phrases: true, Scores: true, Memory: 1,
			Spool: func() *storage.Spool { return storage.NewSpool(faults.Budget(1), dir) }})
		defer b.Close()
		for i := range 400 {
			if err := b.Add(0, uint32(i), fmt.Appendf(nil, "word%d common %0100d", i, i)); err != nil {
				return nil, err
			}
			if b.o.Memory = 1 << 30; i%100 == 99 {
				b.o.Memory = 1 // spill
			}
		}
		var out bytes.Buffer
		err := Write(tctx, &out, Options{Rows: 400, Fields: 3, Scored: 1}, b)
		return out.Bytes(), err
	}
	want, err := build(faultstore.New(), t.TempDir())
	require.NoError(t, err)
	failed := 0
	for _, op := range faultstore.Ops {
		for k := 1; ; k += sweep.Step(3) {
			dir := t.TempDir()
			faults := faultstore.New()
			faults.FailAt(op, k)
			got, err := build(faults, dir)
			if err != nil {
				require.ErrorIs(t, err, faultstore.Err)
				failed++
			} else {
				require.Equal(t, want, got)
			}
			if op != faultstore.Remove {
				left, err := os.ReadDir(dir)
				require.NoError(t, err)
				require.Empty(t, left)
			}
			if faults.Count(op) < k {
				break
			}
		}
	}
	require.Positive(t, failed)
}
