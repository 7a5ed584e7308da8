package rntuple

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/internal/base/advice"
	"github.com/amudai/amudai-go/internal/engine/scan"
	"github.com/amudai/amudai-go/internal/testing/faultstore"
	"github.com/amudai/amudai-go/internal/testing/testdata"
	"github.com/amudai/amudai-go/storage"
)

// recordsOf are the batches of ntuples, one after the other.
func recordsOf(t testing.TB, all ...ntuple) (batches []arrow.RecordBatch) {
	for _, n := range all {
		for _, b := range scanAll(t, n, scan.Options{}) {
			batches = append(batches, b.RecordBatch)
		}
	}
	return batches
}

// merged merges files into one that is sound, and opens its ntuples.
func merged(t testing.TB, files []string, o MergeOptions) (string, *MergeReport) {
	t.Helper()
	out := filepath.Join(t.TempDir(), "out.root")
	r, err := Merge(t.Context(), out, files, o)
	require.NoError(t, err)
	b, err := os.ReadFile(out)
	require.NoError(t, err)
	requireSound(t, b)
	return out, r
}

// Files of other programs are merged with themselves: every page is copied, and entries come twice.
func TestMergeCorpus(t *testing.T) {
	for _, name := range corpus(t) {
		t.Run(filepath.Base(name), func(t *testing.T) {
			t.Parallel()
			all := openAll(t, name, Options{Binary: true})
			for _, n := range all {
				if n.Load(t.Context()) != nil || n.NumRows() > 200_000 {
					return
				}
			}
			out := filepath.Join(t.TempDir(), "out.root")
			r, err := Merge(t.Context(), out, []string{name, name}, MergeOptions{})
			if len(all) == 0 || err != nil {
				require.Error(t, err)
				known := []string{"pre-release", "format 0.2.0.0", "cannot be read", "checksum", "no RNTuple", "feature flag", "epoch", "sharded", "may not hold all"}
				for _, text := range known {
					if strings.Contains(err.Error(), text) {
						return
					}
				}
				require.NoError(t, err)
			}
			b, err := os.ReadFile(out)
			require.NoError(t, err)
			requireSound(t, b)
			require.Len(t, r.NTuples, len(all))
			anew := false // zeros of late fields, and the other representations, are
			for _, n := range all {
				two, err := open(t.Context(), b, n.Path(), Options{Binary: true})
				require.NoError(t, err)
				require.True(t, n.ArrowSchema().Equal(two.ArrowSchema()))
				requireSame(t, recordsOf(t, n, n), two, scan.Options{})
				anew = anew || n.Schema().Header != n.Schema().Counts() || strings.Contains(name, "multiple_representations")
			}
			if !anew {
				require.Zero(t, r.Encoded)
			}
		})
	}
}

// Ntuples of all types merge, also with ones that are compressed, split and encoded in other ways, and with fields that come late.
func TestMergeEncodings(t *testing.T) {
	for _, s := range samples() {
		t.Run(filepath.Base(s.name), func(t *testing.T) {
			dir := t.TempDir()
			first, _ := s.write(t, dir)
			n := openAll(t, first, Options{})[0]
			files, all := []string{first}, []ntuple{n}
			for i, c := range []int{NoCompression, 101, 404, 505, 207} {
				path := filepath.Join(dir, fmt.Sprint(i, ".root"))
				o := WriterOptions{Compression: c, ClusterRows: 100, Name: s.options.Name, NoPageChecksums: i == 1, Encodings: s.options.Encodings}
				require.NoError(t, os.WriteFile(path, rewritten(t, n, o), 0o600))
				files, all = append(files, path), append(all, openAll(t, path, Options{})[0])
			}
			out, r := merged(t, files, MergeOptions{})
			requireSame(t, recordsOf(t, all...), openAll(t, out, Options{})[0], scan.Options{})
			require.Empty(t, r.Missing)
			require.Equal(t, n.NumRows() > 0, r.Copied > 0)
			require.Equal(t, n.NumRows() > 0, r.Encoded > 0)
			out, r = merged(t, files, MergeOptions{Compression: 505})
			requireSame(t, recordsOf(t, all...), openAll(t, out, Options{})[0], scan.Options{})
			again, r2 := merged(t, []string{out}, MergeOptions{Compression: 505})
			require.Zero(t, r2.Encoded, "%v", r)
			requireSame(t, recordsOf(t, all...), openAll(t, again, Options{})[0], scan.Options{})
		})
	}
}

// lateFiles are three files: of the fields a and b, of b and c, where c came late, and of the fields of both.
func lateFiles(t testing.TB) (files []string) {
	tags := arrow.ListOfNonNullable(arrow.BinaryTypes.String)
	fields := map[string]arrow.DataType{
		"a": arrow.PrimitiveTypes.Int32, "b": tags,
		"c": arrow.FixedSizeListOfField(3, arrow.Field{Name: "item", Type: arrow.PrimitiveTypes.Float64}),
		"d": arrow.StructOf(arrow.Field{Name: "x", Type: tags}, arrow.Field{Name: "y", Type: arrow.FixedWidthTypes.Boolean}),
	}
	dir := t.TempDir()
	for i, names := range []string{"ab", "b+cd", "cab"} {
		path := filepath.Join(dir, fmt.Sprint(i, ".root"))
		now, later, _ := strings.Cut(names, "+")
		of := func(names string) (out []arrow.Field) {
			for _, name := range names {
				out = append(out, arrow.Field{Name: string(name), Type: fields[string(name)]})
			}
			return out
		}
		w, err := Create(t.Context(), path, arrow.NewSchema(of(now), nil), WriterOptions{ClusterRows: 3})
		require.NoError(t, err)
		text := `{"a": 7, "b": ["x", "yz"], "c": [1, 2, 3], "d": {"x": ["k"], "y": true}}`
		write := func(rows int) {
			b, _, err := array.RecordFromJSON(memory.DefaultAllocator, w.Schema(), strings.NewReader("["+strings.Repeat(text+",", rows-1)+text+"]"))
			require.NoError(t, err)
			require.NoError(t, w.Write(t.Context(), b))
		}
		if write(5); later != "" {
			require.NoError(t, w.Extend(t.Context(), of(later)...))
			write(4)
		}
		require.NoError(t, w.Close(t.Context()))
		files = append(files, path)
	}
	return files
}

// Fields that some files lack are zeros in their entries: late fields of the result, or pages of zeros.
func TestMergeLateFields(t *testing.T) {
	out, r := merged(t, lateFiles(t), MergeOptions{})
	require.Equal(t, []string{"ntuple.a", "ntuple.c", "ntuple.d"}, r.Missing)
	require.EqualValues(t, 5+9+5, r.Entries)
	n := openAll(t, out, Options{})[0]
	require.Equal(t, 2, len(n.Schema().Top())-2)
	require.Less(t, n.Schema().Header.Fields, len(n.Schema().Fields))
	var got []string
	for _, b := range recordsOf(t, n) {
		for row := range int(b.NumRows()) {
			text := ""
			for c := range int(b.NumCols()) {
				text += b.Column(c).ValueStr(row) + " "
			}
			got = append(got, text)
		}
	}
	const b, c, d = ` ["x","yz"] `, `[1,2,3] `, `{"x":["k"],"y":true} `
	const noC, noD = `[0,0,0] `, `{"x":[],"y":false} `
	for i, text := range got {
		switch {
		case i < 5:
			require.Equal(t, "7"+b+noC+noD, text, i)
		case i < 10:
			require.Equal(t, "0"+b+noC+noD, text, i)
		case i < 14:
			require.Equal(t, "0"+b+c+d, text, i)
		default:
			require.Equal(t, "7"+b+c+noD, text, i)
		}
	}
	require.Len(t, got, 19)
	twice, _ := merged(t, []string{out, out}, MergeOptions{})
	requireSame(t, recordsOf(t, n, n), openAll(t, twice, Options{})[0], scan.Options{})
}

// All ntuples of files are merged by their paths, and what else they have is named.
func TestMergeSeveral(t *testing.T) {
	dir := t.TempDir()
	create := func(file, name string, rows int64) {
		s := arrow.NewSchema([]arrow.Field{{Name: "n", Type: arrow.PrimitiveTypes.Int64}}, nil)
		w, err := Create(t.Context(), filepath.Join(dir, file), s, WriterOptions{Name: name, Append: true})
		require.NoError(t, err)
		b := array.NewInt64Builder(memory.DefaultAllocator)
		for i := range rows {
			b.Append(i)
		}
		require.NoError(t, w.Write(t.Context(), array.NewRecordBatch(s, []arrow.Array{b.NewArray()}, rows)))
		require.NoError(t, w.Close(t.Context()))
	}
	create("a.root", "Events", 3)
	create("a.root", "meta/Runs", 1)
	create("b.root", "meta/Runs", 2)
	create("b.root", "Lumis", 4)
	files := []string{filepath.Join(dir, "a.root"), filepath.Join(dir, "b.root"), filepath.Join(testdata.Shared(t), "corpus", "rntuple", "chunked.root")}
	out, r := merged(t, files[:2], MergeOptions{})
	require.Equal(t, []string{"Events", "meta/Runs", "Lumis"}, r.NTuples)
	require.EqualValues(t, 10, r.Entries)
	for _, n := range openAll(t, out, Options{}) {
		require.EqualValues(t, map[string]int64{"Events": 3, "meta/Runs": 3, "Lumis": 4}[n.Path()], n.NumRows())
	}
	out, r = merged(t, files[:2], MergeOptions{Name: "meta/Runs"})
	require.Len(t, openAll(t, out, Options{}), 1)
	require.Equal(t, []string{"meta/Runs"}, r.NTuples)

	_, err := Merge(t.Context(), out, files[:2], MergeOptions{})
	require.ErrorIs(t, err, os.ErrExist)
	r, err = Merge(t.Context(), out, files[:2], MergeOptions{Overwrite: true, DryRun: true})
	require.NoError(t, err)
	require.Len(t, r.NTuples, 3)
	require.Len(t, openAll(t, out, Options{}), 1, "a dry run wrote the file")
}

// What cannot be one field is refused before anything is written, with the way out.
func TestMergeRefuses(t *testing.T) {
	dir := t.TempDir()
	file := func(name string, dt arrow.DataType, o WriterOptions) string {
		s := arrow.NewSchema([]arrow.Field{{Name: "x", Type: dt}}, nil)
		b := array.NewBuilder(memory.DefaultAllocator, dt)
		b.AppendEmptyValue()
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, written(t, s, o, array.NewRecordBatch(s, []arrow.Array{b.NewArray()}, 1)), 0o600))
		return path
	}
	f32 := arrow.PrimitiveTypes.Float32
	base := file("float.root", f32, WriterOptions{})
	half := file("half.root", f32, WriterOptions{Encodings: map[string]Encoding{"x": Real16()}})
	point := func(name string) arrow.DataType { return arrow.StructOf(arrow.Field{Name: name, Type: f32}) }
	for _, c := range []struct {
		a, b, want string
	}{
		{base, file("double.root", arrow.PrimitiveTypes.Float64, WriterOptions{}), `field "x": type "double", in an ntuple before "float"`},
		{half, base, "which may not hold all"},
		{file("a2.root", arrow.FixedSizeListOfField(2, arrow.Field{Name: "item", Type: f32}), WriterOptions{}), file("a3.root", arrow.FixedSizeListOfField(3, arrow.Field{Name: "item", Type: f32}), WriterOptions{}), "std::array<float,3>"},
		{file("us.root", arrow.FixedWidthTypes.Timestamp_us, WriterOptions{}), file("ms.root", arrow.FixedWidthTypes.Timestamp_ms, WriterOptions{}), "timestamp[ms, UTC]"},
		{file("p.root", point("p"), WriterOptions{}), file("q.root", point("q"), WriterOptions{}), "field 0 q, in an ntuple before p"},
	} {
		out := filepath.Join(dir, "out.root")
		_, err := Merge(t.Context(), out, []string{c.a, c.b}, MergeOptions{})
		require.ErrorContains(t, err, c.want)
		require.ErrorContains(t, err, filepath.Base(c.b))
		require.Contains(t, advice.Hint(err), "amudai convert")
		require.NoFileExists(t, out)
	}
	merged(t, []string{base, half}, MergeOptions{})
}

// A failure of any read or write, and a cancelled call, leave no file.
func TestMergeFaults(t *testing.T) {
	files := lateFiles(t)
	out := filepath.Join(t.TempDir(), "out.root")
	for _, op := range []faultstore.Op{faultstore.Read, faultstore.Write} {
		for k := 1; ; k++ {
			f := faultstore.New()
			f.FailAt(op, k)
			_, err := Merge(t.Context(), out, files, MergeOptions{Store: f.Local()})
			if f.Count(op) < k {
				require.NoError(t, err)
				require.Greater(t, k, 2)
				require.NoError(t, os.Remove(out))
				break
			}
			require.ErrorIs(t, err, faultstore.Err, "%v %d", op, k)
			require.NoFileExists(t, out)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	_, err := Merge(ctx, out, files, MergeOptions{Progress: func(done, total int64) {
		require.EqualValues(t, 19, total)
		if done > 6 {
			cancel()
		}
	}})
	require.ErrorIs(t, err, context.Canceled)
	require.NoFileExists(t, out)
	first, err := os.ReadFile(files[0])
	require.NoError(t, err)
	_, err = Merge(t.Context(), out, files, MergeOptions{Progress: func(int64, int64) { require.NoError(t, os.WriteFile(files[len(files)-1], first, 0o600)) }})
	require.ErrorIs(t, err, storage.ErrChanged, "the last file is another one when it is copied")
	require.NoFileExists(t, out)
}
