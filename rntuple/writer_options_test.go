package rntuple

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/engine/scan"
	"github.com/amudai/amudai-go/internal/testing/arrowgen"
	"github.com/amudai/amudai-go/internal/testing/faultstore"
	"github.com/amudai/amudai-go/internal/testing/tabletest"
	"github.com/amudai/amudai-go/table/provider"
)

// mixed is a batch of some types.
func mixed(rows int) arrow.RecordBatch {
	g := arrowgen.New(uint64(rows))
	item := func(dt arrow.DataType) arrow.Field { return arrow.Field{Name: "item", Type: dt, Nullable: true} }
	s := arrow.NewSchema([]arrow.Field{
		{Name: "n", Type: arrow.PrimitiveTypes.Int64, Nullable: true},
		{Name: "s", Type: arrow.BinaryTypes.String, Nullable: true},
		{Name: "l", Type: arrow.ListOfField(item(arrow.PrimitiveTypes.Float64)), Nullable: true},
	}, nil)
	return g.Batch(s, rows)
}

// Random schemas and rows come back.
func TestWriteRandom(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		g := arrowgen.New(rapid.Uint64().Draw(r, "seed"))
		var all []arrow.Field
		for i := range rapid.IntRange(1, 4).Draw(r, "fields") {
			if dt, ok := storable(g.Type(3)); ok {
				all = append(all, arrow.Field{Name: string(rune('a' + i)), Type: dt, Nullable: true})
			}
		}
		s := arrow.NewSchema(all, nil)
		var batches []arrow.RecordBatch
		for range rapid.IntRange(0, 3).Draw(r, "batches") {
			batches = append(batches, g.Batch(s, rapid.IntRange(0, 200).Draw(r, "rows")))
		}
		if len(all) == 0 {
			return
		}
		o := WriterOptions{
			Compression:   rapid.SampledFrom([]int{0, NoCompression, 101, 404, 501}).Draw(r, "compression"),
			PageBytes:     rapid.SampledFrom([]int{0, 1, 100, 5000}).Draw(r, "page"),
			ClusterRows:   rapid.SampledFrom([]int64{0, 1, 37}).Draw(r, "cluster"),
			NoSharedPages: rapid.Bool().Draw(r, "unshared"), NoPageChecksums: rapid.Bool().Draw(r, "unchecked"),
			Parallelism: rapid.IntRange(1, 3).Draw(r, "parallelism"),
		}
		n := openBytes(t, written(t, s, o, batches...), Options{})
		require.Equal(t, len(all), len(n.ArrowSchema().Fields()))
		requireSame(t, batches, n, scan.Options{})
	})
}

// cppTypes are names that metadata may have, rightly or not.
var cppTypes = []string{
	"float", "double", "char", "std::byte", "std::int8_t", "std::uint64_t", "std::string", "MyClass", "MyEnum<3>", " ", "<", "A<", "unsigned int",
	"std::atomic<std::int32_t>", "std::atomic<std::atomic<bool>>", "std::optional<float>", "std::unique_ptr<std::optional<std::int64_t>>",
	"std::vector<float>", "std::vector<std::byte>", "ROOT::VecOps::RVec<std::int64_t>", "std::set<std::string>", "Proxy<float>", "std::vector<>",
	"std::map<std::string,float>", "std::unordered_map<std::int32_t,std::vector<std::string>>", "std::multimap<A,B>", "std::map<>",
	"std::array<float,3>", "std::array<std::byte,16>", "std::bitset<2>", "std::bitset<3>", "std::pair<float,float>", "std::tuple<std::int64_t,std::string>",
	"std::variant<float,std::string>", "ROOT::RNTupleCardinality<std::uint32_t>", "std::pair<>", "std::vector<std::pair<std::string,std::int64_t>>",
}

// withTypes gives the fields of a type metadata with types.
func withTypes(r *rapid.T, dt arrow.DataType) arrow.DataType {
	field := func(f arrow.Field) arrow.Field {
		f.Type = withTypes(r, f.Type)
		if rapid.Bool().Draw(r, "typed") {
			f.Metadata = arrow.NewMetadata([]string{"rntuple.type", "rntuple.projected"}, []string{
				rapid.SampledFrom(cppTypes).Draw(r, "type"), rapid.SampledFrom([]string{"", "", "a", "b", "a._0", "none"}).Draw(r, "projected"),
			})
		}
		return f
	}
	switch t := dt.(type) {
	case *arrow.StructType:
		var all []arrow.Field
		for _, f := range t.Fields() {
			all = append(all, field(f))
		}
		return arrow.StructOf(all...)
	case *arrow.ListType:
		return arrow.ListOfField(field(t.ElemField()))
	case *arrow.FixedSizeListType:
		return arrow.FixedSizeListOfField(t.Len(), field(t.ElemField()))
	}
	return dt
}

// Metadata may say anything: either the values come back, or they are refused.
func TestWriteWrongTypes(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		g := arrowgen.New(rapid.Uint64().Draw(r, "seed"))
		if rapid.Bool().Draw(r, "no nulls") {
			g.Nulls = 0
		}
		var all []arrow.Field
		for i := range rapid.IntRange(1, 4).Draw(r, "fields") {
			if dt, ok := storable(g.Type(2)); ok {
				all = append(all, arrow.Field{Name: string(rune('a' + i)), Type: dt, Nullable: true})
			}
		}
		s := withTypes(r, arrow.StructOf(all...)).(*arrow.StructType)
		b := g.Batch(arrow.NewSchema(s.Fields(), nil), 50)
		var out bytes.Buffer
		w, err := NewWriter(t.Context(), &out, b.Schema(), WriterOptions{ClusterRows: 20})
		if err != nil {
			require.ErrorIs(t, err, fault.ErrUnsupported)
			return
		}
		err = w.Write(t.Context(), b)
		if err := errors.Join(err, w.Close(t.Context())); err != nil {
			require.ErrorContains(t, err, "which it shows")
			return
		}
		requireSound(t, out.Bytes())
		requireSame(t, []arrow.RecordBatch{b}, openBytes(t, out.Bytes(), Options{Binary: true}), scan.Options{})
	})
}

// Blobs that are larger than keys may be are split, and found again.
func TestWriteSplitBlobs(t *testing.T) {
	b := mixed(3000)
	for _, size := range []int64{512, 1000, 1 << 20} {
		n := openBytes(t, written(t, b.Schema(), WriterOptions{MaxKeySize: size, PageBytes: 16_000}, b), Options{})
		requireSame(t, []arrow.RecordBatch{b}, n, scan.Options{})
	}
}

// Equal pages of a cluster are stored once.
func TestWriteSharedPages(t *testing.T) {
	s := arrow.NewSchema([]arrow.Field{{Name: "a", Type: arrow.PrimitiveTypes.Int32}, {Name: "b", Type: arrow.PrimitiveTypes.Int32}}, nil)
	zeros := arrowutil.Make(arrow.PrimitiveTypes.Int32, 1<<20, []*memory.Buffer{nil, memory.NewBufferBytes(make([]byte, 4<<20))}, nil, 0)
	b := array.NewRecordBatch(s, []arrow.Array{zeros, zeros}, 1<<20)
	small := written(t, s, WriterOptions{Compression: NoCompression}, b)
	require.Less(t, len(small), 600<<10)
	requireSame(t, []arrow.RecordBatch{b}, openBytes(t, small, Options{}), scan.Options{})
	large := written(t, s, WriterOptions{Compression: NoCompression, NoSharedPages: true}, b)
	require.Greater(t, len(large), 8<<20)
}

// A field that comes late is zero before.
func TestExtend(t *testing.T) {
	b := mixed(100)
	fields := b.Schema().Fields()
	late := []arrow.Field{
		{Name: "x", Type: arrow.FixedSizeListOfNonNullable(3, arrow.PrimitiveTypes.Uint16)},
		{Name: "y", Type: arrow.ListOf(arrow.BinaryTypes.String)},
		{Name: "z", Type: arrow.PrimitiveTypes.Float32, Nullable: true},
		{Name: "w", Type: arrow.StructOf(arrow.Field{Name: "t", Type: arrow.FixedWidthTypes.Boolean}, arrow.Field{Name: "u", Type: arrow.FixedWidthTypes.Date32})},
	}
	g := arrowgen.New(3)
	g.Nulls = 0
	more := g.Batch(arrow.NewSchema(late, nil), 100)
	whole := array.NewRecordBatch(arrow.NewSchema(append(fields, late...), nil), append(b.Columns(), more.Columns()...), 100)

	var out bytes.Buffer
	w, err := NewWriter(t.Context(), &out, b.Schema(), WriterOptions{ClusterRows: 64})
	require.NoError(t, err)
	require.NoError(t, w.Write(t.Context(), b))
	require.NoError(t, w.Extend(t.Context(), late...))
	require.Error(t, w.Write(t.Context(), b))
	require.NoError(t, w.Write(t.Context(), whole))
	require.EqualValues(t, 200, w.Rows())
	require.NoError(t, w.Close(t.Context()))

	n := openBytes(t, out.Bytes(), Options{})
	zeros := []arrow.Array{}
	for _, f := range late {
		zero := array.NewBuilder(memory.DefaultAllocator, f.Type)
		for range 100 {
			if f.Nullable {
				zero.AppendNull()
			} else {
				zero.AppendEmptyValue()
			}
		}
		zeros = append(zeros, zero.NewArray())
	}
	first := array.NewRecordBatch(whole.Schema(), append(b.Columns(), zeros...), 100)
	requireSame(t, []arrow.RecordBatch{first, whole}, n, scan.Options{})
	requireEqualNTuples(t, n, openBytes(t, rewritten(t, n, WriterOptions{}), Options{}))
}

// Numbers may be stored by less bits.
func TestEncodings(t *testing.T) {
	s := arrow.NewSchema([]arrow.Field{
		{Name: "half", Type: arrow.PrimitiveTypes.Float32}, {Name: "cut", Type: arrow.PrimitiveTypes.Float32},
		{Name: "steps", Type: arrow.ListOfNonNullable(arrow.PrimitiveTypes.Float64)}, {Name: "single", Type: arrow.PrimitiveTypes.Float64},
	}, nil)
	b := array.NewRecordBuilder(memory.DefaultAllocator, s)
	for i := range 1000 {
		v := float64(i) / 999
		b.Field(0).(*array.Float32Builder).Append(float32(v))
		b.Field(1).(*array.Float32Builder).Append(float32(v))
		b.Field(2).(*array.ListBuilder).Append(true)
		b.Field(2).(*array.ListBuilder).ValueBuilder().(*array.Float64Builder).Append(v)
		b.Field(3).(*array.Float64Builder).Append(v)
	}
	batch := b.NewRecordBatch()
	for _, compression := range []int{0, NoCompression} {
		o := WriterOptions{Compression: compression, PageBytes: 100, Encodings: map[string]Encoding{
			"half": Real16(), "cut": Truncated(12), "steps": Quantized(10, 0, 1), "single": Real32(),
		}}
		raw := written(t, s, o, batch)
		require.Less(t, len(raw), 24000)
		for got, err := range openBytes(t, raw, Options{}).scan(t.Context(), scan.Options{}) {
			require.NoError(t, err)
			require.EqualValues(t, 1000, got.NumRows())
			for i := range 1000 {
				v := float64(i) / 999
				require.InDelta(t, v, got.Column(0).(*array.Float32).Value(i), 0x1p-11)
				require.InDelta(t, v, got.Column(1).(*array.Float32).Value(i), 0x1p-3)
				require.InDelta(t, v, got.Column(2).(*array.List).ListValues().(*array.Float64).Value(i), 1./1023)
				require.Equal(t, float64(float32(v)), got.Column(3).(*array.Float64).Value(i))
			}
		}
	}
	var out bytes.Buffer
	w, err := NewWriter(t.Context(), &out, s, WriterOptions{Encodings: map[string]Encoding{"steps": Quantized(10, 0, 0.5)}})
	require.NoError(t, err)
	require.NoError(t, w.Write(t.Context(), batch)) // staged
	require.ErrorContains(t, w.Close(t.Context()), "element")
	for _, wrong := range []map[string]Encoding{
		{"none": Real16()}, {"steps.item": Real16()}, {"cut": Truncated(99)}, {"cut": Truncated(9)}, {"half": Quantized(3, 1, math.NaN())},
		{"half": Quantized(3, 0, 0.1)}, {"half": Quantized(3, 0, 1e-40)}, {"single": Quantized(3, 1, 1)}, {"single": Quantized(3, 0, math.Inf(1))},
	} {
		_, err := NewWriter(t.Context(), &out, s, WriterOptions{Encodings: wrong})
		require.Error(t, err, "%v", wrong)
	}
}

// Fields can show others, also parts of the items of collections.
func TestProjections(t *testing.T) {
	b := mixed(500)
	muon := arrow.StructOf(arrow.Field{Name: "pt", Type: arrow.PrimitiveTypes.Float32}, arrow.Field{Name: "hits", Type: arrow.ListOfNonNullable(arrow.PrimitiveTypes.Int16)})
	s := arrow.NewSchema([]arrow.Field{{Name: "muons", Type: arrow.ListOfNonNullable(muon)}, b.Schema().Field(0)}, nil)
	g := arrowgen.New(5)
	g.Nulls = 0
	batch := g.Batch(s, 500)
	o := WriterOptions{ClusterRows: 123, Projections: []Projection{{"muon_pt", "muons.pt"}, {"muon_hits", "muons.hits"}, {"m", "n"}, {"again", "muons"}}}
	n := openBytes(t, written(t, s, o, batch), Options{})
	for got, err := range n.scan(t.Context(), scan.Options{}) {
		require.NoError(t, err)
		lists := got.Column(0).(*array.List)
		pt := got.Column(2).(*array.List)
		require.Equal(t, "list<item: float32>", pt.DataType().String())
		require.Equal(t, lists.Offsets(), pt.Offsets())
		inner := lists.ListValues().(*array.Struct)
		require.Equal(t, -1, arrowutil.Difference(inner.Field(0), pt.ListValues()))
		require.Equal(t, -1, arrowutil.Difference(inner.Field(1), got.Column(3).(*array.List).ListValues()))
		require.Equal(t, -1, arrowutil.Difference(got.Column(1), got.Column(4)))
		require.Equal(t, -1, arrowutil.Difference(got.Column(0), got.Column(5)))
	}
	// Read and written again they show the fields again, as long as their values are the same.
	again := rewritten(t, n, WriterOptions{ClusterRows: 123})
	require.Equal(t, written(t, s, o, batch), again)
	whole := scanAll(t, n, scan.Options{})[0]
	other := append([]arrow.Array{}, whole.Columns()...)
	other[4] = array.NewSlice(scanAll(t, n, scan.Options{})[1].Column(1), 0, 1)
	var out bytes.Buffer
	w, err := NewWriter(t.Context(), &out, n.ArrowSchema(), WriterOptions{})
	require.NoError(t, err)
	for i := range other {
		other[i] = array.NewSlice(other[i], 0, 1)
	}
	require.NoError(t, w.Write(t.Context(), array.NewRecordBatch(n.ArrowSchema(), other, 1)))
	require.ErrorContains(t, w.Close(t.Context()), `field "n._0"`)
}

// A second ntuple goes into the file of the first, which stays as it is.
func TestAppend(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.root")
	write := func(b arrow.RecordBatch, o WriterOptions) error {
		w, err := Create(t.Context(), path, b.Schema(), o)
		if err != nil {
			return err
		}
		if err := w.Write(t.Context(), b); err != nil {
			return err
		}
		return w.Close(t.Context())
	}
	one, two := mixed(100), mixed(200)
	require.NoError(t, write(one, WriterOptions{Name: "one", Append: true}))
	require.ErrorIs(t, write(one, WriterOptions{Name: "two"}), fs.ErrExist)
	require.NoError(t, write(two, WriterOptions{Name: "dir/two", Append: true, Compression: 404}))
	require.ErrorIs(t, write(two, WriterOptions{Name: "one", Append: true}), fs.ErrExist)
	for name, want := range map[string]arrow.RecordBatch{"one": one, "dir/two": two} {
		file, err := os.ReadFile(path)
		require.NoError(t, err)
		n, err := open(t.Context(), file, name, Options{})
		require.NoError(t, err)
		requireSame(t, []arrow.RecordBatch{want}, n, scan.Options{})
	}
	entries, err := os.ReadDir(filepath.Dir(path))
	require.NoError(t, err)
	require.Len(t, entries, 1)
}

// What cannot be stored is refused by name.
func TestRefused(t *testing.T) {
	f := func(name string, dt arrow.DataType) []arrow.Field { return []arrow.Field{{Name: name, Type: dt}} }
	i8 := arrow.PrimitiveTypes.Int8
	for want, fields := range map[string][]arrow.Field{
		"null":     f("a", arrow.ListOf(arrow.Null)),
		`"a b"`:    f("a b", i8),
		"no blank": f("a.b", i8),
		"without":  f("", i8),
		"two":      append(f("x", i8), f("x", i8)...),
		"union":    f("a", arrow.DenseUnionOf(f("a", arrow.Null), []arrow.UnionTypeCode{0})),
	} {
		var out bytes.Buffer
		_, err := NewWriter(t.Context(), &out, arrow.NewSchema(fields, nil), WriterOptions{})
		require.ErrorContains(t, err, want)
		require.ErrorIs(t, err, fault.ErrUnsupported)
	}
	for _, o := range []WriterOptions{
		{Compression: 3}, {Compression: -7}, {PageBytes: 2 << 20}, {ClusterBytes: -1}, {MaxKeySize: 1 << 40}, {Name: "a//b"},
		{Projections: []Projection{{"x", "none"}}}, {Projections: []Projection{{"a", "a"}}},
	} {
		var out bytes.Buffer
		w, err := NewWriter(t.Context(), &out, arrow.NewSchema(f("a", i8), nil), o)
		if err == nil {
			err = w.Close(t.Context())
		}
		require.Error(t, err, "%+v", o)
		require.Empty(t, out.Bytes())
	}
}

// Arrays that lie about themselves are errors, and writing goes on.
func TestMalformedArrays(t *testing.T) {
	list := arrow.ListOfNonNullable(arrow.PrimitiveTypes.Int8)
	union := arrow.DenseUnionOf([]arrow.Field{{Name: "a", Type: arrow.PrimitiveTypes.Int8}}, []arrow.UnionTypeCode{0})
	s := arrow.NewSchema([]arrow.Field{{Name: "l", Type: list}, {Name: "u", Type: union}}, nil)
	buffer := func(b ...byte) *memory.Buffer { return memory.NewBufferBytes(b) }
	items := array.NewData(arrow.PrimitiveTypes.Int8, 2, []*memory.Buffer{nil, buffer(1, 2)}, nil, 0, 0)
	lists := func(end byte) arrow.Array {
		return array.MakeFromData(array.NewData(list, 1, []*memory.Buffer{nil, buffer(0, 0, 0, 0, end, 0, 0, 0)}, []arrow.ArrayData{items}, 0, 0))
	}
	unions := func(code, place byte) arrow.Array {
		return array.MakeFromData(array.NewData(union, 1, []*memory.Buffer{nil, buffer(code), buffer(place, 0, 0, 0)}, []arrow.ArrayData{items}, 0, 0))
	}
	try := func(l, u arrow.Array) error {
		var out bytes.Buffer
		w, err := NewWriter(t.Context(), &out, s, WriterOptions{})
		require.NoError(t, err)
		err = w.Write(t.Context(), array.NewRecordBatch(s, []arrow.Array{l, u}, 1))
		return errors.Join(err, w.Close(t.Context()))
	}
	require.NoError(t, try(lists(2), unions(0, 1)))
	require.ErrorIs(t, try(lists(3), unions(0, 1)), arrowutil.ErrMalformed)
	require.ErrorIs(t, try(lists(2), unions(0, 2)), arrowutil.ErrMalformed)
	require.ErrorContains(t, try(lists(2), unions(1, 0)), "type code 1")
	require.ErrorContains(t, try(lists(2), unions(255, 0)), "type code -1")
}

// try writes a batch, and aborts at the first error.
func try(location string, b arrow.RecordBatch, o WriterOptions, spill *faultstore.Faults) error {
	ctx := context.Background()
	w, err := prepare(location, b.Schema(), o)
	if err != nil {
		return err
	}
	if spill != nil {
		w.budgets(spill.Budget)
	}
	if err := w.create(ctx, location); err != nil {
		return errors.Join(err, w.release(ctx))
	}
	if err := w.Write(ctx, b); err != nil {
		return errors.Join(err, w.Abort(ctx))
	}
	return w.Close(ctx)
}

// The k-th step of each kind fails while a file is replaced, or appended to: afterwards it is the old one or the
// new one, whole.
func TestWriteFaults(t *testing.T) {
	old, data := mixed(10), mixed(1500)
	for _, appending := range []bool{false, true} {
		for _, op := range []faultstore.Op{faultstore.Open, faultstore.Create, faultstore.Read, faultstore.Write, faultstore.Sync, faultstore.Rename, faultstore.Close} {
			for k := 1; ; k++ {
				location := filepath.Join(t.TempDir(), "s.root")
				require.NoError(t, try(location, old, WriterOptions{Name: "old"}, nil))
				faults := faultstore.New()
				faults.FailAt(op, k)
				err := try(location, data, WriterOptions{Name: "new", Store: faults.Local(), Overwrite: true, Append: appending, ClusterRows: 300}, nil)
				done := faults.Count(op) < k
				if done {
					require.NoError(t, err)
				}
				list := openAll(t, location, Options{})
				for _, n := range list {
					requireSame(t, []arrow.RecordBatch{map[string]arrow.RecordBatch{"old": old, "new": data}[n.Path()]}, n, scan.Options{})
				}
				if list[0].Path() == "old" && len(list) == 1 {
					require.ErrorIs(t, err, faultstore.Err)
				}
				entries, err := os.ReadDir(filepath.Dir(location))
				require.NoError(t, err)
				require.Len(t, entries, 1)
				if done {
					break
				}
			}
		}
	}
}

// The k-th step with temporary files fails: an error, and nothing is left.
func TestSpillFaults(t *testing.T) {
	data := mixed(3000)
	for _, op := range []faultstore.Op{faultstore.Create, faultstore.Read, faultstore.Write, faultstore.Close, faultstore.Remove} {
		for k := 1; ; k++ {
			dir := t.TempDir()
			faults := faultstore.New()
			faults.FailAt(op, k)
			o := WriterOptions{MemoryBytes: 20_000, TempDir: dir, ClusterRows: 1000, PageBytes: 4000, Parallelism: 2}
			err := try(filepath.Join(dir, "s.root"), data, o, faults)
			if faults.Count(op) < k {
				require.NoError(t, err)
				break
			}
			if op != faultstore.Remove { // without a name, or with one, the file goes
				require.ErrorIs(t, err, faultstore.Err, "%v %d", op, k)
				if op != faultstore.Close {
					_, err := os.Stat(filepath.Join(dir, "s.root"))
					require.ErrorIs(t, err, fs.ErrNotExist)
				}
			}
		}
	}
}

// Cancelled and aborted writers leave nothing.
func TestWriteCancelled(t *testing.T) {
	dir := t.TempDir()
	b := mixed(1000)
	ctx, cancel := context.WithCancel(t.Context())
	w, err := Create(ctx, filepath.Join(dir, "a.root"), b.Schema(), WriterOptions{TempDir: dir, MemoryBytes: 5000, ClusterRows: 100})
	require.NoError(t, err)
	require.NoError(t, w.Write(ctx, b))
	cancel()
	require.ErrorIs(t, w.Write(ctx, b), context.Canceled)
	require.ErrorIs(t, w.Close(ctx), context.Canceled)
	require.NoError(t, w.Abort(ctx))
	w, err = Create(t.Context(), filepath.Join(dir, "a.root"), b.Schema(), WriterOptions{TempDir: dir, MemoryBytes: 5000})
	require.NoError(t, err)
	require.NoError(t, w.Write(t.Context(), b))
	require.NoError(t, w.Abort(t.Context()))
	require.Error(t, w.Write(t.Context(), b))
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Empty(t, entries)
}

// The table format writes what it reads.
func TestFormatWrites(t *testing.T) {
	f, err := provider.Registered().ByName("rntuple")
	require.NoError(t, err)
	b := mixed(100)
	raw := tabletest.Write(t, f, tabletest.Table(b))
	got := tabletest.MustRead(t, f, raw, provider.ReadOptions{})
	require.EqualValues(t, 100, got.NumRows())
	for i := range int(got.NumCols()) {
		require.Equal(t, -1, arrowutil.Difference(b.Column(i), got.Column(i).Data().Chunk(0)))
	}
	var out tabletest.Output
	sink, err := New(FormatOptions{}).Create(t.Context(), &out, b.Schema(), provider.WriteOptions{})
	require.NoError(t, err)
	require.NoError(t, sink.Write(t.Context(), b))
	require.NoError(t, sink.Abort(t.Context()))
	require.True(t, out.Aborted)
	require.False(t, out.Published)
}
