package rntuple

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go-hep.org/x/hep/groot"
	"go-hep.org/x/hep/groot/riofs"
	"go-hep.org/x/hep/groot/rtree"

	"github.com/amudai/amudai-go/filter"
	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/testing/faultstore"
	"github.com/amudai/amudai-go/internal/testing/sweep"
	"github.com/amudai/amudai-go/table/provider"
)

// event is an entry of a tree that groot writes.
type event struct {
	B   bool        `groot:"B"`
	I8  int8        `groot:"I8"`
	U8  uint8       `groot:"U8"`
	I16 int16       `groot:"I16"`
	U16 uint16      `groot:"U16"`
	I32 int32       `groot:"I32"`
	U32 uint32      `groot:"U32"`
	I64 int64       `groot:"I64"`
	U64 uint64      `groot:"U64"`
	F32 float32     `groot:"F32"`
	F64 float64     `groot:"F64"`
	Str string      `groot:"Str"`
	Arr [3]uint16   `groot:"Arr"`
	Mat [2][2]int32 `groot:"Mat"`
	N   int32       `groot:"N"`
	Pt  []float32   `groot:"Pt[N]"`
	Ok  []bool      `groot:"Ok[N]"`
}

// eventOf has the least and the greatest of integers, and floats whose text is exact.
func eventOf(i int) event {
	e := event{
		B: i%3 == 0, I8: int8(-128 + i), U8: uint8(255 - i), I16: int16(-32768 + i), U16: uint16(65535 - i), I32: -1<<31 + int32(i), U32: 1<<32 - 1 - uint32(i),
		I64: -1<<63 + int64(i), U64: 1<<64 - 1 - uint64(i), F32: float32(i) / 4, F64: -float64(i) / 8, Str: strings.Repeat("é", i%150),
		Arr: [3]uint16{uint16(i), 1, 65535}, Mat: [2][2]int32{{int32(i), 1}, {2, -3}}, N: int32(i % 4), Pt: []float32{}, Ok: []bool{},
	}
	for k := range i % 4 {
		e.Pt, e.Ok = append(e.Pt, float32(i+k)/2), append(e.Ok, k%2 == 0)
	}
	return e
}

// treeFile is a file with a tree of n events in a directory, as groot writes it, with baskets of some bytes.
func treeFile(t testing.TB, n int, options ...rtree.WriteOption) []byte {
	name := filepath.Join(t.TempDir(), "tree.root")
	f, err := groot.Create(name)
	require.NoError(t, err)
	dir, err := riofs.Dir(f).Mkdir("dir")
	require.NoError(t, err)
	var e event
	w, err := rtree.NewWriter(dir, "Events", rtree.WriteVarsFromStruct(&e), options...)
	require.NoError(t, err)
	for i := range n {
		e = eventOf(i)
		_, err := w.Write()
		require.NoError(t, err)
	}
	require.NoError(t, w.Close())
	require.NoError(t, f.Close())
	b, err := os.ReadFile(name)
	require.NoError(t, err)
	return b
}

// rowsOf are the rows of a file as lines of JSON.
func rowsOf(ctx context.Context, file []byte, o provider.ReadOptions) (lines []string, err error) {
	in := provider.Input{Name: "x.root", At: bytes.NewReader(file), Size: int64(len(file)), Reader: bytes.NewReader(file)}
	src, err := format.Open(ctx, in, o)
	if err != nil {
		return nil, err
	}
	for b, err := range provider.Batches(ctx, src) {
		if err != nil {
			return nil, errors.Join(err, src.Close())
		}
		for row := range int(b.NumRows()) {
			values := map[string]any{}
			for i, f := range src.Schema().Fields() {
				values[f.Name] = b.Column(i).GetOneForMarshal(row)
			}
			line, err := json.Marshal(values)
			if err != nil {
				return nil, err
			}
			lines = append(lines, string(line))
		}
	}
	return lines, src.Close()
}

// jsonOf is a value as a line of JSON with sorted keys.
func jsonOf(t testing.TB, v any) string {
	b, err := json.Marshal(v)
	require.NoError(t, err)
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	var sorted map[string]any
	require.NoError(t, d.Decode(&sorted))
	b, err = json.Marshal(sorted)
	require.NoError(t, err)
	return string(b)
}

// Trees that groot writes have the values that it was given: with baskets of one entry or many, packed or not, in batches of any size, as rows of any
// ranges, and as columns.
func TestTrees(t *testing.T) {
	const n = 250
	var want []string
	for i := range n {
		want = append(want, jsonOf(t, eventOf(i)))
	}
	for name, options := range map[string][]rtree.WriteOption{
		"lz4":            {rtree.WithLZ4(5)},
		"zlib":           {rtree.WithZlib(6)},
		"lzma":           {rtree.WithLZMA(1)},
		"zstd":           {rtree.WithZstd(3)},
		"stored":         {rtree.WithoutCompression()},
		"small baskets":  {rtree.WithBasketSize(60)},
		"smaller splits": {rtree.WithBasketSize(300), rtree.WithSplitLevel(1)},
	} {
		t.Run(name, func(t *testing.T) {
			file := treeFile(t, n, options...)
			got, err := rowsOf(t.Context(), file, provider.ReadOptions{})
			require.NoError(t, err)
			require.Equal(t, want, got)
			got, err = rowsOf(t.Context(), file, provider.ReadOptions{BatchRows: 7, Rows: []provider.RowRange{{From: 3, To: 5}, {From: 40, To: 81}, {From: 249, To: 300}}})
			require.NoError(t, err)
			require.Equal(t, append(append(append([]string{}, want[3:5]...), want[40:81]...), want[249]), got)
			got, err = rowsOf(t.Context(), file, provider.ReadOptions{Columns: []string{"Pt", "I64"}, Filter: filter.Eq(filter.Col("N"), 3)})
			require.NoError(t, err)
			var some []string
			for i := 3; i < n; i += 4 {
				e := eventOf(i)
				some = append(some, jsonOf(t, map[string]any{"Pt": e.Pt, "I64": e.I64}))
			}
			require.Equal(t, some, got)
		})
	}
	t.Run("no entries", func(t *testing.T) {
		got, err := rowsOf(t.Context(), treeFile(t, 0), provider.ReadOptions{})
		require.NoError(t, err)
		require.Empty(t, got)
	})
}

// grootFiles are the files in groot's module: of ROOT 5.23 to 6.26, of uproot, and of groot.
func grootFiles(t *testing.T) []string {
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "go-hep.org/x/hep").Output()
	require.NoError(t, err)
	var all []string
	for _, pattern := range []string{"*.root", "uproot/*.root"} {
		files, err := filepath.Glob(filepath.Join(strings.TrimSpace(string(out)), "groot", "testdata", pattern))
		require.NoError(t, err)
		all = append(all, files...)
	}
	require.Greater(t, len(all), 80)
	return all
}

// All trees of groot's files are read as a whole. Branches that are left out are named, with the reason.
func TestTreesOfROOT(t *testing.T) {
	left := map[string]bool{}
	trees, columns := 0, 0
	for _, name := range grootFiles(t) {
		file, err := os.ReadFile(name)
		require.NoError(t, err)
		f, err := rootFile(t.Context(), file)
		if err != nil {
			continue
		}
		for _, o := range f.Trees() {
			in := provider.Input{Name: name, At: bytes.NewReader(file), Size: int64(len(file)), Reader: bytes.NewReader(file), Table: o.Path()}
			src, err := format.Open(t.Context(), in, provider.ReadOptions{Warning: func(text string) {
				_, reason, ok := strings.Cut(text, " is left out: ")
				require.True(t, ok, text)
				left[reason] = true
			}})
			require.NoError(t, err, name)
			rows, _ := src.Rows()
			for b, err := range provider.Batches(t.Context(), src) {
				require.NoError(t, err, name)
				rows -= b.NumRows()
			}
			require.Zero(t, rows, name)
			trees, columns = trees+1, columns+len(src.Schema().Fields())
			require.NoError(t, src.Close())
		}
	}
	t.Logf("%d trees, %d columns; left out: %v", trees, columns, left)
	require.Greater(t, trees, 60)
	require.Greater(t, columns, 1000)
	for reason := range left {
		ok := false
		for _, known := range []string{"map<", "bitset<", "several leaves, one of which has a counter", "of class TBranchObject", "entries, the tree has", "pointers to text", "unordered_map<"} {
			ok = ok || strings.Contains(reason, known)
		}
		require.True(t, ok && !strings.Contains(reason, ".This"), reason)
	}
}

// A file with an ntuple and a tree is the ntuple, with a notice. The tree is read by its name.
func TestTreeBesideNTuple(t *testing.T) {
	ctx := t.Context()
	file := treeFile(t, 10)
	list, err := format.Tables(ctx, provider.Input{Name: "x.root", At: bytes.NewReader(file), Size: int64(len(file))})
	require.NoError(t, err)
	require.Equal(t, []provider.Entry{{Path: "dir/Events"}}, list)
	rows, err := rowsOf(ctx, file, provider.ReadOptions{Columns: []string{"I8"}, Limit: 1})
	require.NoError(t, err)
	require.Equal(t, []string{`{"I8":-128}`}, rows)
	both, err := os.ReadFile("testdata/trees/both.root")
	require.NoError(t, err)
	for table, want := range map[string]int{"": 3, "old": 5} {
		var notices []string
		src, err := format.Open(ctx, provider.Input{Name: "x.root", At: bytes.NewReader(both), Size: int64(len(both)), Table: table}, provider.ReadOptions{Notice: func(s string) { notices = append(notices, s) }})
		require.NoError(t, err)
		n, _ := src.Rows()
		require.EqualValues(t, want, n, table)
		require.Equal(t, table == "", len(notices) == 1, notices)
		require.NoError(t, src.Close())
	}
}

// Whatever byte of a tree's file changes, and wherever it is cut, reading gives an error of the file or values, and does not panic. A decoder that relies on
// recovering is a fault, too.
func TestDamagedTrees(t *testing.T) {
	for name, file := range map[string][]byte{"small baskets": treeFile(t, 9, rtree.WithBasketSize(60)), "stored": treeFile(t, 9, rtree.WithoutCompression())} {
		t.Run(name, func(t *testing.T) {
			check := func(b []byte, what string) {
				if _, err := rowsOf(t.Context(), b, provider.ReadOptions{}); err != nil {
					require.NotContains(t, err.Error(), "decoder failed", what)
					require.NotContains(t, err.Error(), "internal error", what)
				}
			}
			for i := 0; i < len(file); i += sweep.Step(97) {
				for _, change := range []byte{0x01, 0x80, 0xff} {
					b := bytes.Clone(file)
					b[i] ^= change
					check(b, fmt.Sprintf("byte %d, ^ %x", i, change))
				}
				check(file[:i], fmt.Sprintf("cut at %d", i))
			}
		})
	}
}

// A read that fails makes a scan of a tree fail with its error, whichever read it is; a context that has ended, too.
func TestFaultsOfTrees(t *testing.T) {
	file := treeFile(t, 200, rtree.WithBasketSize(600))
	location := filepath.Join(t.TempDir(), "a.root")
	require.NoError(t, os.WriteFile(location, append(file, make([]byte, 100<<10)...), 0o600))
	for k := 1; ; k++ {
		f := faultstore.New()
		store := f.Wrap(f.Local())
		f.FailAt(faultstore.Read, k)
		err := readAll(t.Context(), provider.Input{Name: location, Location: location, Store: store}, provider.ReadOptions{BatchRows: 20})
		if f.Count(faultstore.Read) < k {
			require.NoError(t, err)
			require.Greater(t, k, 20)
			break
		}
		require.ErrorIs(t, err, faultstore.Err, "read %d", k)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := rowsOf(ctx, file, provider.ReadOptions{})
	require.ErrorIs(t, err, context.Canceled)
	require.False(t, fault.Is(err))
}

// Trees that uproot and ROOT wrote have the values that uproot finds. It takes short floats of 12 bits for 16, and reads objects with a base class (tbase.root)
// from a byte too early.
func TestInteropTrees(t *testing.T) {
	python, program := os.Getenv("AMUDAI_PYTHON"), os.Getenv("AMUDAI_PROGRAM")
	if python == "" || program == "" {
		t.Skip("AMUDAI_PYTHON names no Python with uproot, or AMUDAI_PROGRAM no program")
	}
	files, err := filepath.Glob("testdata/trees/*.root")
	require.NoError(t, err)
	for _, name := range grootFiles(t) {
		if base := filepath.Base(name); !strings.HasPrefix(base, "sample-") && base != "issue70.root" && base != "ntpl001_staff.root" && base != "tbase.root" {
			files = append(files, name)
		}
	}
	c := exec.CommandContext(t.Context(), python, append([]string{"testdata/interop/trees.py", program, t.TempDir()}, files...)...)
	c.Stderr = os.Stderr
	out, err := c.Output()
	require.NoError(t, err)
	equal := 0
	for line := range strings.Lines(string(out)) {
		if _, err := fmt.Sscanf(line, "equal %d", &equal); err != nil {
			require.Regexp(t, "Float16_t|Double32_t|uproot fails", line)
		}
	}
	t.Logf("%d branches", equal)
	require.Greater(t, equal, 400)
}
