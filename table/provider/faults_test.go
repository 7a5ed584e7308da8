package provider_test

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/stretchr/testify/require"

	_ "github.com/amudai/amudai-go/blockpack/otlp"
	"github.com/amudai/amudai-go/internal/testing/faultstore"
	"github.com/amudai/amudai-go/internal/testing/tabletest"
	_ "github.com/amudai/amudai-go/rntuple"
	_ "github.com/amudai/amudai-go/shard"
	_ "github.com/amudai/amudai-go/table/parquet"
	"github.com/amudai/amudai-go/table/provider"
)

// cutInput is an input whose reads fail from the k-th one on.
type cutInput struct {
	in    string
	reads int
	k     int
	err   error
	off   int64 // of the next Read
}

// ReadAt implements io.ReaderAt.
func (f *cutInput) ReadAt(p []byte, off int64) (int, error) {
	if f.reads++; f.k > 0 && f.reads >= f.k {
		return 0, f.err
	}
	return strings.NewReader(f.in).ReadAt(p, off)
}

// Read implements io.Reader, a few bytes at a time.
func (f *cutInput) Read(p []byte) (int, error) {
	n, err := f.ReadAt(p[:min(len(p), 50_000)], f.off)
	f.off += int64(n)
	if n > 0 {
		err = nil
	}
	return n, err
}

// input is the whole input, or a pipe.
func (f *cutInput) input(pipe bool) provider.Input {
	in := provider.Input{Name: "in", Reader: f, Size: -1}
	if !pipe {
		in.At, in.Size = f, int64(len(f.in))
	}
	return in
}

// textOf is the values of a table.
func textOf(t arrow.Table) string { return fmt.Sprint(t) }

// TestFaults makes reads of an input fail with every error, in every format. The source fails, or gives all rows.
func TestFaults(t *testing.T) {
	var text strings.Builder
	for i := range 20_000 {
		fmt.Fprintf(&text, "{\"id\":%d,\"name\":\"name %d\"}\n", i, i*7919%20_000)
	}
	rows := tabletest.MustRead(t, jsonLines, text.String(), provider.ReadOptions{})
	lineRows := tabletest.MustRead(t, logs, text.String(), provider.ReadOptions{})
	for _, f := range provider.Registered() {
		if f.Writer == nil || strings.HasPrefix(f.Name, "otlp") || f.Name == "blockpack" {
			continue // spans only
		}
		data := rows
		if f.Name == "lines" {
			data = lineRows
		}
		in := tabletest.Write(t, f, data)
		for _, pipe := range []bool{false, true} {
			t.Run(fmt.Sprint(f.Name, " pipe=", pipe), func(t *testing.T) {
				whole := &cutInput{in: in}
				got, err := tabletest.Read(t, f, whole.input(pipe), provider.ReadOptions{})
				require.NoError(t, err)
				want := textOf(got)
				errs := slices.Clone(faultstore.Errors)
				for _, err := range errs {
					errs = append(errs, fmt.Errorf("injected: %w", err))
				}
				for k := 1; k <= whole.reads; k++ {
					for _, err := range errs {
						if pipe && err == io.EOF || !faultstore.Chosen(fmt.Sprint(f.Name, pipe, k, err), whole.reads*len(errs), 60) {
							continue // bare, it is the end of a pipe
						}
						cut := &cutInput{in: in, k: k, err: err}
						got, rerr := tabletest.Read(t, f, cut.input(pipe), provider.ReadOptions{})
						if rerr == nil {
							require.Equal(t, want, textOf(got), "%v at read %d of %d", err, k, whole.reads)
						}
					}
				}
			})
		}
	}
}
