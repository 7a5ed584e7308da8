package shard_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/amudai/amudai-go/filter"
	shardpb "github.com/amudai/amudai-go/gen/amudai/shard"
	"github.com/amudai/amudai-go/internal/base/advice"
	"github.com/amudai/amudai-go/internal/testing/arrowgen"
	"github.com/amudai/amudai-go/internal/testing/arrowtest"
	"github.com/amudai/amudai-go/internal/testing/sweep"
	"github.com/amudai/amudai-go/internal/testing/tabletest"
	"github.com/amudai/amudai-go/internal/testing/testdata"
	"github.com/amudai/amudai-go/shard"
	"github.com/amudai/amudai-go/shard/internal/root"
	"github.com/amudai/amudai-go/shard/internal/shardfile"
	"github.com/amudai/amudai-go/shard/internal/shardwriter"
	"github.com/amudai/amudai-go/table/parquet"
	"github.com/amudai/amudai-go/table/provider"
)

// writeParquet writes a file with row groups of a few rows, and returns its location.
func writeParquet(t testing.TB, location string, rows arrow.Table, groupRows int64) string {
	t.Helper()
	b := tabletest.Write(t, parquet.New(parquet.Options{RowGroupRows: groupRows}), rows)
	require.NoError(t, os.WriteFile(location, []byte(b), 0o666))
	return location
}

// importFiles imports files into a shard beside the first.
func importFiles(t testing.TB, files ...string) (location string) {
	t.Helper()
	location = filepath.Join(filepath.Dir(files[0]), "t.amudai.shard")
	require.NoError(t, shard.Import(t.Context(), location, files, shard.ImportOptions{Overwrite: true, CreationTime: Created, Program: "test"}))
	return location
}

func registered(t testing.TB, name string) provider.Format {
	f, err := provider.Registered().ByName(name)
	require.NoError(t, err)
	return f
}

// readTable reads a file in a registered format.
func readTable(t testing.TB, format, location string, o provider.ReadOptions) (arrow.Table, error) {
	return tabletest.Read(t, registered(t, format), provider.Input{Name: location, Location: location}, o)
}

// requireSameAnswers compares a Parquet file with a shard, which has the same rows.
func requireSameAnswers(t testing.TB, file, location string, o provider.ReadOptions) {
	t.Helper()
	want, err := readTable(t, "parquet", file, o)
	require.NoError(t, err)
	got, err := readTable(t, "shard", location, o)
	require.NoError(t, err)
	require.Equal(t, want.Schema().String(), got.Schema().String())
	arrowtest.RequireSameTable(t, want, got)
}

func requireIntact(t testing.TB, location string) {
	t.Helper()
	r, err := shard.Verify(t.Context(), location, shard.OpenOptions{}, provider.VerifyOptions{})
	require.NoError(t, err)
	require.True(t, r.OK(), "%v", r.Problems)
}

// typesBatch has a column of each type but unions, which Parquet files have as JSON.
func typesBatch(t testing.TB, rows int) arrow.RecordBatch {
	var fields []arrow.Field
	for i, dt := range arrowgen.ReferenceTypes() {
		if d, ok := dt.(arrow.DecimalType); ok && d.GetScale() < 0 { // which Parquet lacks
			continue
		}
		fields = append(fields, arrow.Field{Name: fmt.Sprint("c", i), Type: dt, Nullable: true})
	}
	g := arrowgen.New(7)
	g.Nulls = 0.2
	return g.Batch(arrow.NewSchema(fields, nil), rows)
}

// Columns of all types are read by reference as the Parquet file has them.
func TestImportTypes(t *testing.T) {
	batch := typesBatch(t, 700)
	dir := t.TempDir()
	for i, f := range batch.Schema().Fields() {
		one := array.NewRecordBatch(arrow.NewSchema([]arrow.Field{f}, nil), []arrow.Array{batch.Column(i)}, batch.NumRows())
		t.Run(f.Type.String(), func(t *testing.T) {
			file := writeParquet(t, filepath.Join(dir, "one.parquet"), tabletest.Table(one), 300)
			location := importFiles(t, file)
			requireSameAnswers(t, file, location, provider.ReadOptions{})
			requireIntact(t, location)
			s, err := shard.Open(t.Context(), location, shard.OpenOptions{})
			require.NoError(t, err)
			defer s.Close()
			taken, err := s.Take(t.Context(), []int64{699, 1, 350, 1}, shard.TakeOptions{})
			require.NoError(t, err)
			defer taken.Release()
			var want []arrow.Array
			for _, row := range []int64{699, 1, 350, 1} {
				want = append(want, array.NewSlice(one.Column(0), row, row+1))
			}
			arrowtest.RequireSame(t, f.Name, arrow.NewChunked(f.Type, want), arrow.NewChunked(f.Type, taken.Columns()[:1]))
		})
	}
}

// people is a table to ask.
func people(t testing.TB, from, rows int) arrow.Table {
	s := arrow.NewSchema([]arrow.Field{
		{Name: "id", Type: arrow.PrimitiveTypes.Int64},
		{Name: "name", Type: arrow.BinaryTypes.String, Nullable: true},
		{Name: "score", Type: arrow.PrimitiveTypes.Float64, Nullable: true},
		{Name: "price", Type: &arrow.Decimal128Type{Precision: 12, Scale: 2}},
		{Name: "day", Type: arrow.FixedWidthTypes.Date32},
		{Name: "home", Type: arrow.StructOf(arrow.Field{Name: "city", Type: arrow.BinaryTypes.StringView, Nullable: true}, arrow.Field{Name: "no", Type: arrow.PrimitiveTypes.Int32, Nullable: true}), Nullable: true},
		{Name: "tags", Type: arrow.ListOf(arrow.BinaryTypes.String), Nullable: true},
	}, nil)
	b := array.NewRecordBuilder(memory.DefaultAllocator, s)
	defer b.Release()
	for i := from; i < from+rows; i++ {
		null := func(every int, v string) string {
			if i%every == 0 {
				return "null"
			}
			return v
		}
		line := fmt.Sprintf(`{"id": %d, "name": %s, "score": %s, "price": "%d.25", "day": "2024-01-%02d", "home": %s, "tags": %s}`,
			i, null(7, fmt.Sprintf(`"name %d"`, i%50)), null(5, fmt.Sprint(float64(i)/4)), i%900, 1+i%28,
			null(11, fmt.Sprintf(`{"city": "city %d", "no": %s}`, i%9, null(3, fmt.Sprint(i)))), null(13, fmt.Sprintf(`["a%d", "b"]`, i%4)))
		require.NoError(t, b.UnmarshalJSON([]byte(line)))
	}
	return tabletest.Table(b.NewRecordBatch())
}

// Conditions, counts and parts of columns give the same by reference, with an index and without one.
func TestImportAnswers(t *testing.T) {
	file := writeParquet(t, filepath.Join(t.TempDir(), "people.parquet"), people(t, 0, 5000), 1500)
	location := importFiles(t, file)
	ask := func() {
		for _, where := range []string{
			"", "id = 4711", "id < 1500", "name = 'name 3'", "name is null", "has(name, '17')", "name like 'name 1%'", "score > 1000", "price = 7.25", "day >= '2024-01-28'",
			"home.city = 'city 2'", "home.no > 4000", "home is null", "tags is null", "id in (1, 1501, 4999) or score < 2", "name = 'nobody'", "length(name) = 6 and not (id > 100)",
		} {
			for _, columns := range [][]string{nil, {"id"}, {"home.no", "tags"}} {
				o := provider.ReadOptions{Columns: columns}
				var err error
				if where != "" {
					o.Filter, err = filter.Parse(where)
					require.NoError(t, err)
				}
				requireSameAnswers(t, file, location, o)
			}
		}
	}
	ask()
	requireIntact(t, location)
	for _, d := range []shard.IndexDefinition{{Columns: []string{"name"}}, {Type: shard.HashIndex, Columns: []string{"id"}, PerStripe: true}} {
		require.NoError(t, shard.AddIndex(t.Context(), location, shard.EditOptions{}, d))
	}
	ask()
	requireIntact(t, location)
	s, err := shard.Open(t.Context(), location, shard.OpenOptions{})
	require.NoError(t, err)
	defer s.Close()
	for _, layout := range []shard.StringLayout{shard.StringsDictionary, shard.StringsLarge, shard.StringsView, shard.StringsPlain} {
		n := int64(0)
		for b, err := range s.Scan(t.Context(), shard.ScanOptions{Strings: layout}) {
			require.NoError(t, err)
			n += b.NumRows()
		}
		require.EqualValues(t, 5000, n)
	}
}

// Several files are one shard.
func TestImportFiles(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(dir, "more"), 0o777))
	var files []string
	for i := range 70 {
		files = append(files, writeParquet(t, filepath.Join(dir, "more", fmt.Sprintf("%02d ü.parquet", i)), people(t, 10*i, 10), 100))
	}
	location := filepath.Join(dir, "t.amudai.shard")
	require.NoError(t, shard.Import(t.Context(), location, files, shard.ImportOptions{}))
	requireSameAnswers(t, writeParquet(t, filepath.Join(dir, "all.parquet"), people(t, 0, 700), 1000), location, provider.ReadOptions{})
	requireIntact(t, location)

	other := writeParquet(t, filepath.Join(dir, "other.parquet"), tabletest.Table(typesBatch(t, 3)), 10)
	err := shard.Import(t.Context(), filepath.Join(dir, "x"), []string{files[0], other}, shard.ImportOptions{})
	require.ErrorContains(t, err, "other.parquet has")
	_, err = os.Stat(filepath.Join(dir, "x"))
	require.ErrorIs(t, err, fs.ErrNotExist)

	outside := filepath.Join(dir, "more", "x")
	err = shard.Import(t.Context(), outside, []string{other}, shard.ImportOptions{})
	require.ErrorIs(t, err, shard.ErrUnsupported)
	require.Contains(t, advice.Hint(err), "ImportOptions.Policy")
	all := shard.Policy{Allow: func(string) error { return nil }}
	require.NoError(t, shard.Import(t.Context(), outside, []string{other}, shard.ImportOptions{Policy: all}))
	_, err = Read(outside, shard.OpenOptions{}, shard.ScanOptions{})
	require.ErrorIs(t, err, shard.ErrUnsupported)
	batches, err := Read(outside, shard.OpenOptions{Policy: all}, shard.ScanOptions{})
	require.NoError(t, err)
	Release(batches)
}

// Files of the Parquet project are read by reference as they are read by themselves, or both fail.
func TestImportCorpus(t *testing.T) {
	dir := filepath.Join(testdata.Shared(t), "corpus", "parquet-testing", "data")
	read := 0
	require.NoError(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".parquet" {
			return err
		}
		b, err := os.ReadFile(path)
		require.NoError(t, err)
		file := filepath.Join(t.TempDir(), "copy.parquet")
		require.NoError(t, os.WriteFile(file, b, 0o666))
		want, wantErr := readTable(t, "parquet", file, provider.ReadOptions{})
		location := filepath.Join(filepath.Dir(file), "t.amudai.shard")
		err = shard.Import(t.Context(), location, []string{file}, shard.ImportOptions{})
		if err == nil {
			var got arrow.Table
			if got, err = readTable(t, "shard", location, provider.ReadOptions{}); err == nil {
				require.NoError(t, wantErr, path)
				arrowtest.RequireSameTable(t, want, got)
				requireIntact(t, location)
				read++
			}
		}
		require.Equal(t, wantErr == nil, err == nil, "%s: %v, %v", path, wantErr, err)
		return nil
	}))
	require.Greater(t, read, 60)
}

// readLocation reads all rows.
func readLocation(location string) error {
	batches, err := Read(location, shard.OpenOptions{}, shard.ScanOptions{})
	Release(batches)
	return err
}

// A file that was changed, cut or removed is an error that names it.
func TestImportedFileChanges(t *testing.T) {
	for name, change := range map[string]func(file string, b []byte) error{
		"other rows of the same size": func(file string, b []byte) error {
			other := writeParquet(t, file, people(t, 1, 100), 100)
			info, err := os.Stat(other)
			require.NoError(t, err)
			if info.Size() != int64(len(b)) { // rewritten with another footer of the same length
				at := bytes.LastIndex(b, []byte("home"))
				b[at] = 'H'
				return os.WriteFile(file, b, 0o666)
			}
			return nil
		},
		"other size": func(file string, b []byte) error { return os.WriteFile(file, append([]byte("PAR1"), b...), 0o666) },
		"cut":        func(file string, b []byte) error { return os.WriteFile(file, b[:len(b)/2], 0o666) },
		"empty":      func(file string, _ []byte) error { return os.WriteFile(file, nil, 0o666) },
		"missing":    func(file string, _ []byte) error { return os.Remove(file) },
	} {
		t.Run(name, func(t *testing.T) {
			file := writeParquet(t, filepath.Join(t.TempDir(), "people.parquet"), people(t, 0, 100), 100)
			location := importFiles(t, file)
			b, err := os.ReadFile(file)
			require.NoError(t, err)
			require.NoError(t, change(file, b))
			err = readLocation(location)
			require.ErrorContains(t, err, "people.parquet")
			require.True(t, errors.Is(err, shard.ErrCorrupt) || errors.Is(err, fs.ErrNotExist), "%v", err)
			r, err := shard.Verify(t.Context(), location, shard.OpenOptions{}, provider.VerifyOptions{})
			require.NoError(t, err)
			require.False(t, r.OK())
		})
	}
}

// hostileReference changes the references of the first column.
func hostileReference(t *testing.T, location string, change func(*shardpb.ParquetFileColumnRef)) error {
	ctx := context.Background()
	b, err := os.ReadFile(location)
	require.NoError(t, err)
	p, err := Split(b)
	require.NoError(t, err)
	f, err := shardfile.Open(ctx, location, shardfile.OpenOptions{})
	require.NoError(t, err)
	defer f.Close()
	for i, s := range p.Stripes {
		for id, field := range s.Fields {
			d, err := f.Stripe(i).Descriptor(ctx, uint32(id))
			require.NoError(t, err)
			d = proto.CloneOf(d)
			if id == 0 {
				change(d.Encodings[0].GetParquet().FileColumnRefs[0])
			}
			field.Raw, err = proto.Marshal(d)
			require.NoError(t, err)
		}
	}
	hostile := filepath.Join(filepath.Dir(location), "hostile.amudai.shard")
	require.NoError(t, os.WriteFile(hostile, p.Join(), 0o666))
	_, verr := shard.Verify(t.Context(), hostile, shard.OpenOptions{}, provider.VerifyOptions{})
	require.NoError(t, verr)
	return readLocation(hostile)
}

// References that do not fit the file are errors.
func TestHostileReferences(t *testing.T) {
	dir := t.TempDir()
	file := writeParquet(t, filepath.Join(dir, "people.parquet"), people(t, 0, 300), 100)
	writeParquet(t, filepath.Join(dir, "other.parquet"), people(t, 1, 300), 100)
	location := importFiles(t, file)
	require.NoError(t, hostileReference(t, location, func(*shardpb.ParquetFileColumnRef) {}))
	for name, change := range map[string]func(*shardpb.ParquetFileColumnRef){
		"row group":      func(r *shardpb.ParquetFileColumnRef) { r.ColumnChunks[0].RowGroupId = 3 },
		"last row group": func(r *shardpb.ParquetFileColumnRef) { r.ColumnChunks[0].RowGroupId = 1<<32 - 1 },
		"other row group": func(r *shardpb.ParquetFileColumnRef) {
			r.ColumnChunks[0].RowGroupId = (r.ColumnChunks[0].RowGroupId + 1) % 3
		},
		"column chunk":      func(r *shardpb.ParquetFileColumnRef) { r.ColumnChunks[0].ColumnChunkId = 1 },
		"last column chunk": func(r *shardpb.ParquetFileColumnRef) { r.ColumnChunks[0].ColumnChunkId = 1<<32 - 1 },
		"storage type": func(r *shardpb.ParquetFileColumnRef) {
			r.ColumnChunks[0].StorageType = shardpb.ParquetStorageType_INT32
		},
		"element":           func(r *shardpb.ParquetFileColumnRef) { r.ColumnChunks[0].SchemaElementId = 9 },
		"pages":             func(r *shardpb.ParquetFileColumnRef) { r.ColumnChunks[0].DataPagesRange.Start++ },
		"no pages":          func(r *shardpb.ParquetFileColumnRef) { r.ColumnChunks[0].DataPagesRange = nil },
		"size":              func(r *shardpb.ParquetFileColumnRef) { r.FileRef.Range.End-- },
		"no range":          func(r *shardpb.ParquetFileColumnRef) { r.FileRef.Range = nil },
		"no file":           func(r *shardpb.ParquetFileColumnRef) { r.FileRef = nil },
		"no chunk":          func(r *shardpb.ParquetFileColumnRef) { r.ColumnChunks = nil },
		"nil chunk":         func(r *shardpb.ParquetFileColumnRef) { r.ColumnChunks[0] = &shardpb.ParquetColumnChunkRef{} },
		"two chunks":        func(r *shardpb.ParquetFileColumnRef) { r.ColumnChunks = append(r.ColumnChunks, r.ColumnChunks[0]) },
		"other file":        func(r *shardpb.ParquetFileColumnRef) { r.FileRef.Url = "other.parquet" },
		"itself":            func(r *shardpb.ParquetFileColumnRef) { r.FileRef.Url = "" },
		"above":             func(r *shardpb.ParquetFileColumnRef) { r.FileRef.Url = "../people.parquet" },
		"absolute":          func(r *shardpb.ParquetFileColumnRef) { r.FileRef.Url = "file:///etc/passwd" },
		"network":           func(r *shardpb.ParquetFileColumnRef) { r.FileRef.Url = "http://localhost:1/x.parquet" },
		"file of the chunk": func(r *shardpb.ParquetFileColumnRef) { r.ColumnChunks[0].FileUrl = proto.String("other.parquet") },
	} {
		t.Run(name, func(t *testing.T) {
			err := hostileReference(t, location, change)
			require.Error(t, err)
			require.True(t, errors.Is(err, shard.ErrCorrupt) || errors.Is(err, shard.ErrUnsupported), "%v", err)
			require.NotContains(t, err.Error(), "panic")
		})
	}
}

// Statistics of footers are in the shard, where they are exact.
func TestImportedStatistics(t *testing.T) {
	file := writeParquet(t, filepath.Join(t.TempDir(), "people.parquet"), people(t, 0, 300), 100)
	location := importFiles(t, file)
	f := registered(t, "shard")
	s, err := f.Statistics(t.Context(), provider.Input{Name: "t", Location: location}, []string{"id", "name", "score", "day", "home.no"})
	require.NoError(t, err)
	for i, want := range []struct {
		nulls    int64
		min, max string
	}{{0, "0", "299"}, {43, "", ""}, {60, "0.25", "74.75"}, {0, "2024-01-01", "2024-01-28"}, {-1, "", ""}} {
		c := s.Columns[i]
		require.Equal(t, want.nulls, c.Nulls, c.Path)
		if want.min != "" {
			require.Equal(t, want.min, c.Min.ValueStr(0), c.Path)
			require.Equal(t, want.max, c.Max.ValueStr(0), c.Path)
		}
	}
}

// Stripes that refer to Parquet files are beside others, in a copy of both.
func TestExternalBesideNative(t *testing.T) {
	dir := t.TempDir()
	location := importFiles(t, writeParquet(t, filepath.Join(dir, "people.parquet"), people(t, 0, 300), 100))
	b := tabletest.Write(t, shard.New(shard.FormatOptions{}), people(t, 300, 200))
	native := filepath.Join(dir, "native.amudai.shard")
	require.NoError(t, os.WriteFile(native, []byte(b), 0o666))
	var all root.Root
	for i, from := range []string{location, native, location} {
		f, err := shardfile.Open(t.Context(), from, shardfile.OpenOptions{})
		require.NoError(t, err)
		defer f.Close()
		r, err := root.Of(t.Context(), f)
		require.NoError(t, err)
		if i == 0 {
			all = r
		} else {
			all.Stripes = append(all.Stripes, r.Stripes...)
		}
	}
	mixed := filepath.Join(dir, "mixed.amudai.shard")
	require.NoError(t, root.Publish(t.Context(), mixed, shardwriter.Options{}, all))
	want := writeParquet(t, filepath.Join(dir, "want.parquet"), concat(t, people(t, 0, 500), people(t, 0, 300)), 1000)
	for _, where := range []string{"id >= 0", "id in (5, 350)", "name = 'name 9' and score > 80", "home is null"} {
		node, err := filter.Parse(where)
		require.NoError(t, err)
		requireSameAnswers(t, want, mixed, provider.ReadOptions{Filter: node})
	}
	requireIntact(t, mixed)
}

// concat is the rows of several tables of one schema.
func concat(t testing.TB, all ...arrow.Table) arrow.Table {
	var batches []arrow.RecordBatch
	for _, rows := range all {
		r := array.NewTableReader(rows, -1)
		for r.Next() {
			b := r.RecordBatch()
			b.Retain()
			batches = append(batches, b)
		}
	}
	return array.NewTableFromRecords(all[0].Schema(), batches)
}

// TestFrozenImport holds later versions to the bytes of a shard that refers to a Parquet file, as [TestFrozen] does for others. It is written with -freeze.
func TestFrozenImport(t *testing.T) {
	dir := filepath.Join("testdata", "frozen", "import")
	frozen := filepath.Join(dir, "people.amudai.shard")
	rows := people(t, 0, 60)
	if *freeze {
		require.NoError(t, os.MkdirAll(dir, 0o777))
		importFiles(t, writeParquet(t, filepath.Join(dir, "people.parquet"), rows, 25))
		require.NoError(t, os.Rename(filepath.Join(dir, "t.amudai.shard"), frozen))
	}
	got, err := readTable(t, "shard", frozen, provider.ReadOptions{})
	require.NoError(t, err)
	arrowtest.RequireSameTable(t, rows, got)
	requireIntact(t, frozen)
	b, err := os.ReadFile(filepath.Join(dir, "people.parquet"))
	require.NoError(t, err)
	file := filepath.Join(t.TempDir(), "people.parquet")
	require.NoError(t, os.WriteFile(file, b, 0o666))
	want, err := os.ReadFile(frozen)
	require.NoError(t, err)
	again, err := os.ReadFile(importFiles(t, file))
	require.NoError(t, err)
	require.True(t, bytes.Equal(want, again), "the same file gives another shard than in version 0.1.0")
}

// Flipped bits of a shard of references, and of the footer of its file, are errors or change nothing.
func TestImportFlips(t *testing.T) {
	rows := people(t, 0, 60)
	file := writeParquet(t, filepath.Join(t.TempDir(), "people.parquet"), rows, 25)
	location := importFiles(t, file)
	for _, path := range []string{location, file} {
		b, err := os.ReadFile(path)
		require.NoError(t, err)
		from := 0
		if path == file { // pages of this file have no checksums
			from = len(b) - 8 - int(binary.LittleEndian.Uint32(b[len(b)-8:]))
		}
		flipped := bytes.Clone(b)
		failed := 0
		for i := from; i < len(b); i += sweep.Step(12) {
			flipped[i] ^= 1 << (i % 8)
			require.NoError(t, os.WriteFile(path, flipped, 0o666))
			got, err := readTable(t, "shard", location, provider.ReadOptions{})
			if err == nil {
				arrowtest.RequireSameTable(t, rows, got)
			} else {
				failed++
				require.NotContains(t, err.Error(), "nil pointer", "byte %d", i)
			}
			flipped[i] = b[i]
		}
		require.Greater(t, failed, 10)
		require.NoError(t, os.WriteFile(path, b, 0o666))
	}
}

// Columns of imported files are renamed, dropped, ordered, computed with and converted; parts of them are not changed by themselves.
func TestImportEdited(t *testing.T) {
	dir := t.TempDir()
	b, err := os.ReadFile(filepath.Join(testdata.Shared(t), "corpus", "parquet-testing", "data", "int96_from_spark.parquet"))
	require.NoError(t, err)
	times := filepath.Join(dir, "int96.parquet")
	require.NoError(t, os.WriteFile(times, b, 0o666))
	want, err := readTable(t, "parquet", times, provider.ReadOptions{})
	require.NoError(t, err)
	location := importFiles(t, times)
	_, err = shard.Edit(t.Context(), location, shard.EditOptions{}, shard.RenameColumn(want.Schema().Field(0).Name, "other"), shard.AddColumn("n", "2 * 3"))
	require.NoError(t, err)
	got, err := readTable(t, "shard", location, provider.ReadOptions{})
	require.NoError(t, err)
	arrowtest.RequireSame(t, "other", want.Column(0).Data(), got.Column(0).Data())
	requireIntact(t, location)

	f := func(name string, dt arrow.DataType) arrow.Field {
		return arrow.Field{Name: name, Type: dt, Nullable: true}
	}
	s := arrow.NewSchema([]arrow.Field{f("a", arrow.PrimitiveTypes.Int64), f("s", arrow.StructOf(f("x", arrow.PrimitiveTypes.Int64), f("y", arrow.BinaryTypes.String))), f("b", arrow.BinaryTypes.String)}, nil)
	batch := arrowgen.New(1).Batch(s, 500)
	rows := array.NewTableFromRecords(s, []arrow.RecordBatch{batch})
	file := writeParquet(t, filepath.Join(dir, "rows.parquet"), rows, 200)
	location = importFiles(t, file)
	_, err = shard.Edit(t.Context(), location, shard.EditOptions{}, shard.DropColumns("s.x"))
	require.ErrorIs(t, err, shard.ErrUnsupported)
	_, err = shard.Edit(t.Context(), location, shard.EditOptions{}, shard.RenameColumn("b", "c"), shard.OrderColumns("s"), shard.AddColumn("copy", "a"),
		shard.CastColumn("a", arrow.BinaryTypes.String))
	require.NoError(t, err)
	got, err = readTable(t, "shard", location, provider.ReadOptions{Columns: []string{"copy", "s", "c"}})
	require.NoError(t, err)
	for i, name := range []string{"a", "s", "b"} {
		arrowtest.RequireSame(t, name, rows.Column(i).Data(), got.Column(i).Data())
	}
	requireIntact(t, location)
}
