package tree

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/rntuple/internal/rootfile"
	"github.com/amudai/amudai-go/storage"
)

// openAll opens the trees of a file that can be opened.
func openAll(t *testing.T, file []byte) (all []*Table) {
	r, err := storage.FromReaderAt("x.root", bytes.NewReader(file), int64(len(file))).Open(t.Context(), "x.root")
	require.NoError(t, err)
	f, err := rootfile.Open(t.Context(), r)
	if err != nil {
		return nil
	}
	for _, o := range f.Trees() {
		table, err := Open(t.Context(), f, o, Options{Binary: true})
		require.NoError(t, err)
		all = append(all, table)
	}
	return all
}

// A branch of whole objects whose first basket is damaged is not left out, as those are whose class is not stored as it is described: it is damage.
func TestDamagedObjects(t *testing.T) {
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "go-hep.org/x/hep").Output()
	require.NoError(t, err)
	files, err := filepath.Glob(filepath.Join(strings.TrimSpace(string(out)), "groot", "testdata", "*.root"))
	require.NoError(t, err)
	tried := 0
	for _, name := range files {
		file, err := os.ReadFile(name)
		require.NoError(t, err)
		for i, table := range openAll(t, file) {
			for k, f := range table.tops {
				if !f.perhaps || f.branch.baskets[0].object != nil {
					continue
				}
				at := f.branch.baskets[0]
				key, _, payload, err := rootfile.ParseBasket(file[at.offset:at.offset+at.size], at.offset)
				require.NoError(t, err)
				if at.size-key.HeaderSize == int64(len(payload)) { // it is not packed, and has no redundance
					continue
				}
				damaged := bytes.Clone(file)
				copy(damaged[at.offset+key.HeaderSize:], "no codec")
				again := openAll(t, damaged)[i]
				require.Equal(t, table.tops[k].Name, again.tops[k].Name, name)
				var problems []error
				require.NoError(t, again.Check(t.Context(), func(err error) error {
					if err != nil {
						problems = append(problems, err)
					}
					return nil
				}))
				require.Len(t, problems, 1, name)
				require.True(t, fault.Is(problems[0]), problems[0])
				require.ErrorContains(t, problems[0], f.branch.name)
				tried++
			}
		}
	}
	require.NotZero(t, tried)
}
