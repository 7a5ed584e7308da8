package rntuple

import (
	"bytes"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/filter"
	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
	"github.com/amudai/amudai-go/internal/engine/scan"
	"github.com/amudai/amudai-go/internal/testing/arrowgen"
	"github.com/amudai/amudai-go/rntuple/internal/rootfile"
	"github.com/amudai/amudai-go/rntuple/internal/verify"
	"github.com/amudai/amudai-go/storage"
	"github.com/amudai/amudai-go/table/provider"
)

// written writes batches to memory.
func written(t testing.TB, s *arrow.Schema, o WriterOptions, batches ...arrow.RecordBatch) []byte {
	t.Helper()
	var out bytes.Buffer
	w, err := NewWriter(t.Context(), &out, s, o)
	require.NoError(t, err)
	for _, b := range batches {
		require.NoError(t, w.Write(t.Context(), b))
	}
	require.NoError(t, w.Close(t.Context()))
	require.NoError(t, w.Abort(t.Context()))
	requireSound(t, out.Bytes())
	return out.Bytes()
}

// requireSound verifies a file.
func requireSound(t testing.TB, b []byte) {
	t.Helper()
	f, err := rootfile.Open(t.Context(), storage.FromBytes("x.root", b))
	require.NoError(t, err)
	r, err := verify.File(t.Context(), f, "", provider.VerifyOptions{})
	require.NoError(t, err)
	require.Empty(t, r.Problems)
}

func openBytes(t testing.TB, b []byte, o Options) ntuple {
	t.Helper()
	n, err := open(t.Context(), b, "", o)
	require.NoError(t, err)
	require.Empty(t, n.Skipped())
	return n
}

// requireSame compares the rows of batches with those of an ntuple, bit by bit.
func requireSame(t testing.TB, want []arrow.RecordBatch, n ntuple, o scan.Options) {
	t.Helper()
	w, at := 0, int64(0)
	for b, err := range n.scan(t.Context(), o) {
		require.NoError(t, err)
		for from := int64(0); from < b.NumRows(); {
			for w < len(want) && at == want[w].NumRows() {
				w, at = w+1, 0
			}
			require.Less(t, w, len(want))
			k := min(b.NumRows()-from, want[w].NumRows()-at)
			for c := range int(b.NumCols()) {
				x, y := array.NewSlice(want[w].Column(c), at, at+k), array.NewSlice(b.Column(c), from, from+k)
				if row := difference(x, y); row >= 0 {
					require.Failf(t, "values differ", "column %s, row %d of\nwant %v\ngot  %v", b.ColumnName(c), row, x, y)
				}
				x.Release()
				y.Release()
			}
			from, at = from+k, at+k
		}
	}
	for w < len(want) && at == want[w].NumRows() {
		w, at = w+1, 0
	}
	require.Equal(t, len(want), w)
}

// difference is [arrowutil.Difference], by text for types with unions.
func difference(a, b arrow.Array) int {
	if !strings.Contains(a.DataType().String(), "union") {
		return arrowutil.Difference(a, b)
	}
	for i := range a.Len() {
		if x, y := unionText(a, i), unionText(b, i); x != y {
			return i
		}
	}
	return -1
}

// unionText is the active value of a union, or a list of them.
func unionText(a arrow.Array, i int) string {
	switch a := a.(type) {
	case array.Union:
		at := i
		if d, ok := a.(*array.DenseUnion); ok {
			at = int(d.ValueOffset(i))
		}
		child := a.Field(a.ChildID(i))
		if child.DataType().ID() == arrow.NULL {
			return "none"
		}
		return child.DataType().String() + unionText(child, at)
	case array.ListLike:
		out := ""
		from, to := a.ValueOffsets(i)
		for k := from; k < to; k++ {
			out += unionText(a.ListValues(), int(k)) + ";"
		}
		return out
	}
	return a.ValueStr(i)
}

// storable is a type with names that RNTuple allows, and without null; ok tells whether there is one.
func storable(dt arrow.DataType) (arrow.DataType, bool) {
	item := func(dt arrow.ListLikeType) (arrow.Field, bool) {
		f := dt.ElemField()
		var ok bool
		f.Type, ok = storable(f.Type)
		f.Name = "item"
		return f, ok
	}
	field := func(f arrow.Field, i int) (arrow.Field, bool) {
		var ok bool
		f.Type, ok = storable(f.Type)
		f.Name = fmt.Sprintf("f%d", i)
		return f, ok
	}
	switch dt := dt.(type) {
	case *arrow.NullType:
		return nil, false
	case *arrow.StructType:
		var all []arrow.Field
		for i, f := range dt.Fields() {
			if f, ok := field(f, i); ok {
				all = append(all, f)
			}
		}
		return arrow.StructOf(all...), true
	case *arrow.MapType:
		k, ok := storable(dt.KeyType())
		v, ok2 := storable(dt.ItemType())
		if !ok || !ok2 {
			return nil, false
		}
		return arrow.MapOf(k, v), true
	case *arrow.FixedSizeListType:
		if f, ok := item(dt); ok {
			return arrow.FixedSizeListOfField(dt.Len(), f), true
		}
		return nil, false
	case *arrow.ListViewType:
		if f, ok := item(dt); ok {
			return arrow.ListViewOfField(f), true
		}
		return nil, false
	case *arrow.LargeListViewType:
		if f, ok := item(dt); ok {
			return arrow.LargeListViewOfField(f), true
		}
		return nil, false
	case *arrow.LargeListType:
		if f, ok := item(dt); ok {
			return arrow.LargeListOfField(f), true
		}
		return nil, false
	case *arrow.ListType:
		if f, ok := item(dt); ok {
			return arrow.ListOfField(f), true
		}
		return nil, false
	}
	return dt, true
}

// All Arrow types come back as they were, in all compressions.
func TestWriteTypes(t *testing.T) {
	g := arrowgen.New(1)
	var all []arrow.Field
	for i, dt := range arrowgen.ReferenceTypes() {
		if dt, ok := storable(dt); ok {
			all = append(all, arrow.Field{Name: fmt.Sprintf("f%d", i), Type: dt, Nullable: true})
		}
	}
	s := arrow.NewSchema(all, nil)
	batches := []arrow.RecordBatch{g.Batch(s, 300), g.Batch(s, 0), g.Batch(s, 700)}
	for _, compression := range []int{0, NoCompression, 101, 404} {
		o := WriterOptions{Compression: compression, ClusterRows: 400, PageBytes: 1000}
		n := openBytes(t, written(t, s, o, batches...), Options{})
		for i, f := range n.ArrowSchema().Fields() {
			require.True(t, f.Nullable, f.Name)
			require.Equal(t, all[i].Type.String(), f.Type.String())
		}
		require.EqualValues(t, 1000, n.NumRows())
		requireSame(t, batches, n, scan.Options{})
	}
}

// Fields that are not nullable are plain values; a null in one is refused.
func TestWriteRequired(t *testing.T) {
	g := arrowgen.New(2)
	g.Nulls = 0
	var all []arrow.Field
	for i, dt := range arrowgen.ReferenceTypes() {
		nested := strings.Contains(dt.String(), ": dictionary") || strings.Contains(dt.String(), "run_end") // these have nulls anyway
		if dt, ok := storable(dt); ok && !nested {
			all = append(all, arrow.Field{Name: fmt.Sprintf("f%d", i), Type: dt})
		}
	}
	s := arrow.NewSchema(all, nil)
	b := g.Batch(s, 500)
	o := WriterOptions{NoNulls: true}
	n := openBytes(t, written(t, s, o, b), Options{})
	for _, f := range n.ArrowSchema().Fields() {
		require.False(t, f.Nullable)
	}
	requireSame(t, []arrow.RecordBatch{b}, n, scan.Options{})

	g.Nulls = 0.5
	one := arrow.NewSchema([]arrow.Field{{Name: "x", Type: arrow.ListOfField(arrow.Field{Name: "item", Type: arrow.PrimitiveTypes.Int8})}}, nil)
	var out bytes.Buffer
	w, err := NewWriter(t.Context(), &out, one, WriterOptions{})
	require.NoError(t, err)
	err = w.Write(t.Context(), g.Batch(one, 100))
	require.ErrorContains(t, err, "not nullable")
	require.ErrorContains(t, err, "x")
	require.Error(t, w.Close(t.Context()))
	require.Empty(t, out.Bytes())
}

func unionBatch(t testing.TB, mode string) arrow.RecordBatch {
	kids := []arrow.Field{{Name: "a", Type: arrow.PrimitiveTypes.Int32, Nullable: true}, {Name: "b", Type: arrow.BinaryTypes.String}, {Name: "n", Type: arrow.Null}}
	codes := []arrow.UnionTypeCode{5, 7, 1}
	var dt arrow.DataType = arrow.DenseUnionOf(kids, codes)
	if mode == "sparse" {
		dt = arrow.SparseUnionOf(kids, codes)
	}
	s := arrow.NewSchema([]arrow.Field{{Name: "u", Type: dt}, {Name: "l", Type: arrow.ListOfField(arrow.Field{Name: "item", Type: dt})}}, nil)
	b := array.NewRecordBuilder(memory.DefaultAllocator, s)
	defer b.Release()
	put := func(u array.UnionBuilder, i int) {
		kid, k := u.Child(i%3), i%3
		u.Append(codes[k])
		if mode == "sparse" {
			for j := range 3 {
				if j != k {
					u.Child(j).AppendEmptyValue()
				}
			}
		}
		switch kid := kid.(type) {
		case *array.Int32Builder:
			if i%2 == 0 {
				kid.AppendNull()
			} else {
				kid.Append(int32(i))
			}
		case *array.StringBuilder:
			kid.Append(fmt.Sprint("s", i))
		case *array.NullBuilder:
			kid.AppendNull()
		}
	}
	for i := range 500 {
		put(b.Field(0).(array.UnionBuilder), i*7/2)
		l := b.Field(1).(*array.ListBuilder)
		l.Append(true)
		for k := range i % 4 {
			put(l.ValueBuilder().(array.UnionBuilder), i+k)
		}
	}
	return b.NewRecordBatch()
}

// Unions are variants; a field of nulls is a variant without a value.
func TestWriteUnions(t *testing.T) {
	for _, mode := range []string{"dense", "sparse"} {
		b := unionBatch(t, mode)
		raw := written(t, b.Schema(), WriterOptions{ClusterRows: 77}, b.NewSlice(0, 123), b.NewSlice(123, 500))
		n := openBytes(t, raw, Options{})
		requireSame(t, []arrow.RecordBatch{b}, n, scan.Options{})
		f, _ := n.ArrowSchema().FieldsByName("u")
		require.Equal(t, "std::variant<std::optional<std::int32_t>,std::string>", f[0].Metadata.ToMap()["rntuple.type"])
		u := f[0].Type.(arrow.UnionType)
		require.Equal(t, []arrow.UnionTypeCode{1, 5, 7}, u.TypeCodes())
		for i, name := range []string{"n", "a", "b"} {
			require.Equal(t, name, u.Fields()[i].Name)
		}
		requireEqualNTuples(t, n, openBytes(t, rewritten(t, n, WriterOptions{ClusterRows: 77}), Options{}))
		for i, name := range []string{"a", "b", "n"} {
			requireAlternative(t, n, b.Column(0), i, name)
		}

		// What is read as structs is written as variants again.
		structs := openBytes(t, raw, Options{VariantsAsStructs: true})
		again := rewritten(t, structs, WriterOptions{ClusterRows: 77})
		requireEqualNTuples(t, n, openBytes(t, again, Options{}))
		require.Equal(t, raw, again)
	}
}

// requireAlternative compares an alternative of the union u, as a projection and as a condition find it.
func requireAlternative(t *testing.T, n ntuple, u arrow.Array, i int, name string) {
	want, err := arrowutil.Alternative(memory.DefaultAllocator, u, i)
	require.NoError(t, err)
	row := 0
	for b, err := range n.scan(t.Context(), scan.Options{Columns: []string{"u." + name}}) {
		require.NoError(t, err)
		got := b.Column(0).(*array.Struct)
		require.Equal(t, name, got.DataType().(*arrow.StructType).Field(0).Name)
		part := array.NewSlice(want, int64(row), int64(row+got.Len()))
		require.Equal(t, -1, arrowutil.Difference(part, got.Field(0)), name)
		row += got.Len()
	}
	require.Equal(t, want.Len(), row)
	found := 0
	for b, err := range n.scan(t.Context(), scan.Options{Columns: []string{}, Filter: filter.Not(filter.IsNull(filter.Col("u." + name))).Node()}) {
		require.NoError(t, err)
		found += int(b.NumRows())
	}
	require.Equal(t, want.Len()-arrowutil.NullN(want), found, name)
}

// rewritten writes all entries of an ntuple as another one.
func rewritten(t testing.TB, n ntuple, o WriterOptions) []byte {
	var batches []arrow.RecordBatch
	for _, b := range scanAll(t, n, scan.Options{}) {
		batches = append(batches, b.RecordBatch)
	}
	return written(t, n.ArrowSchema(), o, batches...)
}

// requireEqualNTuples compares schemas with all metadata, and values.
func requireEqualNTuples(t testing.TB, want, got ntuple) {
	t.Helper()
	for i, f := range want.ArrowSchema().Fields() {
		g := got.ArrowSchema().Field(i)
		require.True(t, f.Equal(g), "%v\n%v", f, g)
		require.Equal(t, f.Type.String(), g.Type.String())
	}
	require.Equal(t, want.ArrowSchema().Metadata().ToMap()["rntuple.streamer_info"], got.ArrowSchema().Metadata().ToMap()["rntuple.streamer_info"])
	require.Equal(t, want.Schema().Name, got.Schema().Name)
	require.Equal(t, want.Schema().Description, got.Schema().Description)
	require.Equal(t, want.NumRows(), got.NumRows())
	var batches []arrow.RecordBatch
	for _, b := range scanAll(t, want, scan.Options{}) {
		batches = append(batches, b.RecordBatch)
	}
	requireSame(t, batches, got, scan.Options{})
}

// What others wrote is written again with the same fields, C++ types, descriptions and values.
func TestRewriteCorpus(t *testing.T) {
	for _, name := range corpus(t) {
		t.Run(filepath.Base(name), func(t *testing.T) {
			t.Parallel()
			if strings.Contains(name, "corrupt") {
				return
			}
			for _, n := range openAll(t, name, Options{Binary: true, BaseClasses: true}) {
				if n.Load(t.Context()) != nil || n.NumRows() > 200_000 {
					continue
				}
				requireEqualNTuples(t, n, openBytes(t, rewritten(t, n, WriterOptions{}), Options{Binary: true, BaseClasses: true}))
			}
		})
	}
}

// The bytes depend neither on the number of goroutines nor on batches.
func TestWriteSameBytes(t *testing.T) {
	g := arrowgen.New(3)
	var all []arrow.Field
	for i := range 12 {
		dt, ok := storable(g.Type(3))
		if ok {
			all = append(all, arrow.Field{Name: fmt.Sprintf("f%d", i), Type: dt, Nullable: true})
		}
	}
	s := arrow.NewSchema(all, nil)
	b := g.Batch(s, 3000)
	o := WriterOptions{Parallelism: 1, ClusterBytes: 40_000, PageBytes: 1 << 10}
	want := written(t, s, o, b)
	n := openBytes(t, want, Options{})
	require.NoError(t, n.Load(t.Context()))
	require.Greater(t, n.NumStripes(), 3)
	for parallelism := 2; parallelism < 5; parallelism++ {
		o.Parallelism = parallelism
		o.MemoryBytes = 100_000 * int64(parallelism)
		var parts []arrow.RecordBatch
		for from := int64(0); from < 3000; from += 700 * int64(parallelism) / 3 {
			parts = append(parts, b.NewSlice(from, min(3000, from+700*int64(parallelism)/3)))
		}
		require.True(t, bytes.Equal(want, written(t, s, o, parts...)))
	}
	requireSame(t, []arrow.RecordBatch{b}, n, scan.Options{})
}
