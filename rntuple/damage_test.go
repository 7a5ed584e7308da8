package rntuple

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
	"github.com/amudai/amudai-go/internal/engine/scan"
	"github.com/amudai/amudai-go/internal/testing/sweep"
	"github.com/amudai/amudai-go/table/provider"
)

// selection are files of the corpus that are in the repository.
func selection(t testing.TB, names ...string) (files map[string][]byte) {
	files = map[string][]byte{}
	for _, name := range names {
		b, err := os.ReadFile(filepath.Join("testdata", "corpus", name))
		require.NoError(t, err)
		files[name] = b
	}
	return files
}

// smallFiles are those whose every bit is flipped.
var smallFiles = []string{
	"plain.root", "no_page_checksum.root", "chunked.root", "large_locator.root", "big_header.root", "future_minor_trailing.root", "v1000_no_attr_list.root",
	"split_real16.root", "uproot_empty.root", "uproot_fixedarray.root", "uproot_subdir_two.root", "uproot_nested_zstd.root",
}

// content is what an ntuple of a file has.
type content struct {
	path    string
	schema  string
	batches []scan.Batch
	bare    [][2]int64 // bytes of pages without a checksum
}

func (c content) release() {
	for _, b := range c.batches {
		b.Release()
	}
}

// readContent reads an ntuple, and up to most batches of it.
func readContent(ctx context.Context, file []byte, path string, most int) (c content, err error) {
	n, err := open(ctx, file, path, Options{Binary: true, VariantsAsStructs: true})
	if err != nil {
		return c, err
	}
	c = content{path: path, schema: n.ArrowSchema().String()}
	for b, err := range n.scan(ctx, scan.Options{Parallelism: 1}) {
		if err != nil {
			c.release()
			return c, err
		}
		b.Retain()
		if c.batches = append(c.batches, b); len(c.batches) == most {
			break
		}
	}
	for i := range n.Clusters() {
		cluster := &n.Clusters()[i]
		for id := range cluster.Columns {
			for _, p := range cluster.Pages(uint32(id)) {
				if !p.Checksum {
					c.bare = append(c.bare, [2]int64{int64(p.Offset), int64(p.End())})
				}
			}
		}
	}
	return c, nil
}

// contents reads all ntuples of a file.
func contents(t testing.TB, file []byte) (all []content) {
	n, err := rootFile(t.Context(), file)
	require.NoError(t, err)
	for _, o := range n.NTuples() {
		c, err := readContent(t.Context(), file, o.Path(), 0)
		require.NoError(t, err)
		t.Cleanup(c.release)
		all = append(all, c)
	}
	return all
}

// sameContent tells whether two ntuples have the same schema and values.
func sameContent(a, b content) bool {
	if a.schema != b.schema || len(a.batches) != len(b.batches) {
		return false
	}
	for i := range a.batches {
		x, y := a.batches[i], b.batches[i]
		if x.NumRows() != y.NumRows() {
			return false
		}
		for k := range x.Columns() {
			if arrowutil.Difference(x.Column(k), y.Column(k)) >= 0 {
				return false
			}
		}
	}
	return true
}

// checkDamaged reads a file that was damaged from one byte up to another: there must be an error or what was in the
// file before, unless the damage is in a page without a checksum. The verification must find what reading finds.
func checkDamaged(t *testing.T, was []content, damaged []byte, from, to int64, what string) {
	t.Helper()
	var failed error
	for _, w := range was {
		got, err := readContent(t.Context(), damaged, w.path, 0)
		if err != nil {
			failed = err
			continue
		}
		bare := slices.ContainsFunc(w.bare, func(r [2]int64) bool { return from < r[1] && to > r[0] })
		if !bare && !sameContent(w, got) {
			t.Errorf("%s gives other values of %s", what, w.path)
		}
		got.release()
	}
	report, err := verifyBytes(t.Context(), damaged)
	if err == nil && report.OK() && failed != nil {
		t.Errorf("%s: the verification finds nothing, but reading fails: %v", what, failed)
	}
}

func verifyBytes(ctx context.Context, file []byte) (*provider.Report, error) {
	return New(FormatOptions{}).Verify(ctx, inputOf(file), provider.VerifyOptions{Parallelism: 1})
}

func inputOf(file []byte) provider.Input {
	return provider.Input{Name: "x", At: bytes.NewReader(file), Size: int64(len(file))}
}

// Every bit that is flipped gives an error or the same values.
func TestFlippedBits(t *testing.T) {
	for name, file := range selection(t, smallFiles...) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			was := contents(t, file)
			for bit := 0; bit < 8*len(file); bit += sweep.Step(101) {
				damaged := bytes.Clone(file)
				damaged[bit/8] ^= 1 << (bit % 8)
				checkDamaged(t, was, damaged, int64(bit/8), int64(bit/8+1), fmt.Sprintf("bit %d of byte %d", bit%8, bit/8))
			}
		})
	}
}

// A file that was cut is refused.
func TestCutFiles(t *testing.T) {
	for name, file := range selection(t, smallFiles...) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			was := contents(t, file)
			for n := 0; n < len(file); n += sweep.Step(59) {
				for _, w := range was {
					_, err := readContent(t.Context(), file[:n], w.path, 0)
					require.Error(t, err, "cut to %d bytes", n)
				}
			}
		})
	}
}

// Sectors that were lost, or written to the place of others, are noticed.
func TestMisplacedSectors(t *testing.T) {
	const sector = 512
	for name, file := range selection(t, append(slices.Clone(smallFiles), "column_zoo.root")...) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			was := contents(t, file)
			for to := 0; to < len(file); to += sector {
				end := min(to+sector, len(file))
				for from := -sector; from < len(file); from += sector * sweep.Step(7) {
					damaged := bytes.Clone(file)
					clear(damaged[to:end])
					if from >= 0 {
						copy(damaged[to:end], file[from:])
					}
					checkDamaged(t, was, damaged, int64(to), int64(end), fmt.Sprintf("sector %d in the place of %d", from/sector, to/sector))
				}
			}
		})
	}
}

// Bytes behind the end of the file change nothing.
func TestTrailingBytes(t *testing.T) {
	for name, file := range selection(t, smallFiles...) {
		t.Run(name, func(t *testing.T) {
			longer := append(bytes.Clone(file), make([]byte, 1000)...)
			for _, w := range contents(t, file) {
				got, err := readContent(t.Context(), longer, w.path, 0)
				require.NoError(t, err)
				require.True(t, sameContent(w, got))
				got.release()
			}
			report, err := verifyBytes(t.Context(), longer)
			require.NoError(t, err)
			require.Empty(t, report.Problems)
		})
	}
}
