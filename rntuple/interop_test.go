package rntuple

import (
	"cmp"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/float16"
	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/internal/engine/scan"
	"github.com/amudai/amudai-go/internal/testing/arrowgen"
)

// sample is an ntuple that others are to read.
type sample struct {
	name    string
	options WriterOptions
	batch   arrow.RecordBatch
	extend  bool // the last fields come late
	merged  bool // with a file of other encodings
	grown   bool // entries of such a file are appended
}

// samples are ntuples of all types, with all options that others are known to read.
func samples() []sample {
	item := func(dt arrow.DataType) arrow.Field { return arrow.Field{Name: "item", Type: dt} }
	list := func(dt arrow.DataType) arrow.DataType { return arrow.ListOfField(item(dt)) }
	f32, i16 := arrow.PrimitiveTypes.Float32, arrow.PrimitiveTypes.Int16
	point := arrow.StructOf(arrow.Field{Name: "x", Type: f32}, arrow.Field{Name: "id", Type: arrow.PrimitiveTypes.Uint64}, arrow.Field{Name: "tags", Type: list(i16)})
	texts := arrow.MapOf(arrow.PrimitiveTypes.Int32, f32)
	texts.SetItemNullable(false)
	types := []arrow.DataType{
		arrow.FixedWidthTypes.Boolean, arrow.PrimitiveTypes.Int8, i16, arrow.PrimitiveTypes.Int32, arrow.PrimitiveTypes.Int64,
		arrow.PrimitiveTypes.Uint8, arrow.PrimitiveTypes.Uint16, arrow.PrimitiveTypes.Uint32, arrow.PrimitiveTypes.Uint64,
		arrow.FixedWidthTypes.Float16, f32, arrow.PrimitiveTypes.Float64, arrow.BinaryTypes.String,
		arrow.FixedWidthTypes.Timestamp_us, arrow.FixedWidthTypes.Date32,
		list(f32), list(list(arrow.PrimitiveTypes.Int64)), list(arrow.BinaryTypes.String), point, list(point),
		arrow.FixedSizeListOfField(3, item(f32)), arrow.FixedSizeListOfField(2, item(point)),
		arrow.BinaryTypes.Binary, &arrow.Decimal128Type{Precision: 20, Scale: 2}, texts,
		arrow.DenseUnionOf([]arrow.Field{{Name: "a", Type: arrow.PrimitiveTypes.Int32}, {Name: "b", Type: arrow.BinaryTypes.String}}, []arrow.UnionTypeCode{0, 1}),
		arrow.SparseUnionOf([]arrow.Field{{Name: "a", Type: f32}, {Name: "b", Type: list(i16)}}, []arrow.UnionTypeCode{0, 1}),
	}
	var plain, optional []arrow.Field
	for i, dt := range types {
		plain = append(plain, arrow.Field{Name: fmt.Sprintf("f%d", i), Type: dt})
		if i < 13 || dt.ID() == arrow.LIST || dt.ID() == arrow.STRUCT {
			optional = append(optional, arrow.Field{Name: fmt.Sprintf("o%d", i), Type: dt, Nullable: true})
		}
	}
	batch := func(fields []arrow.Field, rows int, nulls float64) arrow.RecordBatch {
		g := arrowgen.New(7)
		g.Nulls = nulls
		return asciiBatch(g, fields, rows)
	}
	return []sample{
		{"plain", WriterOptions{}, batch(plain, 500, 0), false, false, false},
		{"planes", WriterOptions{PageBytes: 64 << 10}, batch(plain[9:12], 20_000, 0), false, false, false},
		{"uncompressed", WriterOptions{Compression: NoCompression}, batch(plain, 300, 0), false, false, false},
		{"zlib", WriterOptions{Compression: 101}, batch(plain, 100, 0), false, false, false},
		{"lzma", WriterOptions{Compression: 207}, batch(plain, 100, 0), false, false, false},
		{"lz4", WriterOptions{Compression: 404}, batch(plain, 100, 0), false, false, false},
		{"clusters", WriterOptions{ClusterRows: 64, PageBytes: 512}, batch(plain[:25], 500, 0), false, false, false},
		{"optional", WriterOptions{ClusterRows: 150}, batch(optional, 400, 0.3), false, false, false},
		{"extended", WriterOptions{}, batch(plain[:20], 400, 0), true, false, false},
		{"encodings", WriterOptions{PageBytes: 300, Encodings: map[string]Encoding{
			"f10": Real16(), "f11": Real32(), "f15": Truncated(19), "f18.x": Quantized(13, -10, 10),
		}}, batch(plain[:21], 400, 0), false, false, false},
		{"projections", WriterOptions{Projections: []Projection{{"p1", "f12"}, {"p2", "f15"}, {"p3", "f19.x"}, {"p4", "f18.tags"}}}, batch(plain[:21], 200, 0), false, false, false},
		{"dir/sub/named", WriterOptions{Name: "dir/sub/named"}, batch(plain[:3], 20, 0), false, false, false},
		{"merged", WriterOptions{ClusterRows: 70}, batch(plain[:25], 200, 0), false, true, false},
		{"merged late", WriterOptions{ClusterRows: 70}, batch(plain[:20], 200, 0), true, true, false},
		{"appended to", WriterOptions{ClusterRows: 70}, batch(plain[:25], 200, 0), false, false, true},
		{"appended to, late", WriterOptions{ClusterRows: 70}, batch(plain[:20], 200, 0), true, false, true},
		{"empty", WriterOptions{}, batch(plain, 0, 0), false, false, false},
	}
}

// asciiBatch makes a batch whose texts are of ASCII, and with unions, which the generator has none of.
func asciiBatch(g *arrowgen.Gen, fields []arrow.Field, rows int) arrow.RecordBatch {
	columns := make([]arrow.Array, len(fields))
	for i, f := range fields {
		b := array.NewBuilder(g.Mem, f.Type)
		for range rows {
			appendRandom(b, g.Rand, f.Nullable && g.Rand.Float64() < g.Nulls)
		}
		columns[i] = b.NewArray()
	}
	return array.NewRecordBatch(arrow.NewSchema(fields, nil), columns, int64(rows))
}

// appendRandom appends a value.
func appendRandom(b array.Builder, r *rand.Rand, null bool) {
	if null {
		b.AppendNull()
		return
	}
	switch b := b.(type) {
	case *array.BooleanBuilder:
		b.Append(r.IntN(2) == 0)
	case *array.Float16Builder:
		b.Append(float16.New(float32(r.IntN(1000)) / 8))
	case *array.Float32Builder:
		b.Append(float32(r.NormFloat64()))
	case *array.Float64Builder:
		b.Append(r.NormFloat64())
	case *array.StringBuilder:
		b.Append(strings.Repeat("a~Z", r.IntN(4)))
	case *array.BinaryBuilder:
		b.Append([]byte{byte(r.Uint32()), 0, 255}[:r.IntN(4)])
	case *array.MapBuilder:
		b.Append(true)
		for k := range r.IntN(3) {
			b.KeyBuilder().(*array.Int32Builder).Append(int32(k))
			appendRandom(b.ItemBuilder(), r, false)
		}
	case *array.ListBuilder:
		b.Append(true)
		for range r.IntN(4) {
			appendRandom(b.ValueBuilder(), r, false)
		}
	case *array.FixedSizeListBuilder:
		b.Append(true)
		for range b.Type().(*arrow.FixedSizeListType).Len() {
			appendRandom(b.ValueBuilder(), r, false)
		}
	case *array.StructBuilder:
		b.Append(true)
		for i := range b.NumField() {
			appendRandom(b.FieldBuilder(i), r, false)
		}
	case *array.DenseUnionBuilder:
		k := r.IntN(2)
		b.Append(arrow.UnionTypeCode(k))
		appendRandom(b.Child(k), r, false)
	case *array.SparseUnionBuilder:
		k := r.IntN(2)
		b.Append(arrow.UnionTypeCode(k))
		appendRandom(b.Child(k), r, false)
		b.Child(1 - k).AppendEmptyValue()
	default:
		v := int64(r.Uint64() >> r.IntN(64))
		bits := b.Type().(arrow.FixedWidthDataType).BitWidth()
		if b.Type().ID() == arrow.DECIMAL128 {
			bits = 32
		}
		text := strconv.FormatInt(v<<(64-min(bits, 64))>>(64-min(bits, 64)), 10)
		if arrow.IsUnsignedInteger(b.Type().ID()) {
			text = strconv.FormatUint(uint64(v)>>(64-bits), 10)
		}
		switch b := b.(type) {
		case *array.TimestampBuilder:
			b.Append(arrow.Timestamp(v))
		case *array.Date32Builder:
			b.Append(arrow.Date32(v))
		default:
			if err := b.AppendValueFromString(text); err != nil {
				panic(err)
			}
		}
	}
}

// write writes a sample to a file, and gives what a reader should find, by field.
func (s sample) write(t *testing.T, dir string) (path string, want map[string][]any) {
	path = filepath.Join(dir, filepath.Base(s.name)+".root")
	all := s.batch.Schema().Fields()
	now := all
	if s.extend {
		now = all[:len(all)/2]
	}
	w, err := Create(t.Context(), path, arrow.NewSchema(now, nil), s.options)
	require.NoError(t, err)
	if s.extend {
		first := array.NewRecordBatch(w.Schema(), s.batch.Columns()[:len(now)], s.batch.NumRows())
		require.NoError(t, w.Write(t.Context(), first))
		require.NoError(t, w.Extend(t.Context(), all[len(now):]...))
	}
	require.NoError(t, w.Write(t.Context(), s.batch))
	require.NoError(t, w.Close(t.Context()))
	if s.merged || s.grown {
		other, out := filepath.Join(dir, "other.root"), filepath.Join(dir, "merged.root")
		o := WriterOptions{Compression: 101, ClusterRows: 30}
		require.NoError(t, os.WriteFile(other, rewritten(t, openAll(t, path, Options{})[0], o), 0o600))
		files := []string{path, other, path}
		if s.grown {
			_, err := Merge(t.Context(), out, files[:2], MergeOptions{Overwrite: true})
			require.NoError(t, err)
			files = files[2:]
		}
		_, err := Merge(t.Context(), out, files, MergeOptions{Append: s.grown, Overwrite: true})
		require.NoError(t, err)
		path = out
	}

	want = map[string][]any{}
	for _, b := range scanAll(t, openAll(t, path, Options{NoArrowTypes: true})[0], scan.Options{}) {
		for c := range int(b.NumCols()) {
			for i := range int(b.NumRows()) {
				want[b.ColumnName(c)] = append(want[b.ColumnName(c)], plainValue(b.Column(c), i))
			}
		}
	}
	return path, want
}

// plainValue is a value as the scripts print it.
func plainValue(a arrow.Array, i int) any {
	if a.IsNull(i) {
		return nil
	}
	switch a := a.(type) {
	case *array.Boolean:
		return a.Value(i)
	case *array.Float32:
		return doubleText(float64(a.Value(i)))
	case *array.Float64:
		return doubleText(a.Value(i))
	case *array.String:
		return a.Value(i)
	case *array.Binary:
		out := []any{}
		for _, b := range a.Value(i) {
			out = append(out, fmt.Sprint("i", b))
		}
		return out
	case array.ListLike:
		out := []any{}
		from, to := a.ValueOffsets(i)
		for k := from; k < to; k++ {
			v := plainValue(a.ListValues(), int(k))
			if m, ok := v.(map[string]any); ok && a.DataType().ID() == arrow.MAP {
				v = map[string]any{"_0": m["key"], "_1": m["value"]}
			}
			out = append(out, v)
		}
		return out
	case *array.Struct:
		out := map[string]any{}
		for k, f := range a.DataType().(*arrow.StructType).Fields() {
			out[f.Name] = plainValue(a.Field(k), i)
		}
		return out
	case *array.DenseUnion:
		return plainValue(a.Field(a.ChildID(i)), int(a.ValueOffset(i)))
	}
	return "i" + a.ValueStr(i)
}

func doubleText(v float64) string {
	return "f" + hex.EncodeToString(binary.BigEndian.AppendUint64(nil, math.Float64bits(v)))
}

// same tells whether another program found a value. JavaScript has no integers but large ones.
func same(want, got any) bool {
	w, text := want.(string)
	g, text2 := got.(string)
	if text && text2 && strings.HasPrefix(w, "i") && strings.HasPrefix(g, "f") {
		if v, err := strconv.ParseInt(w[1:], 10, 64); err == nil {
			return doubleText(float64(v)) == g
		}
		v, err := strconv.ParseUint(w[1:], 10, 64)
		return err == nil && doubleText(float64(v)) == g
	}
	switch want := want.(type) {
	case []any:
		got, ok := got.([]any)
		if !ok || len(got) != len(want) {
			return false
		}
		for i := range want {
			if !same(want[i], got[i]) {
				return false
			}
		}
		return true
	case map[string]any:
		got, ok := got.(map[string]any)
		if !ok || len(got) != len(want) {
			return false
		}
		for k := range want {
			if !same(want[k], got[k]) {
				return false
			}
		}
		return true
	}
	return want == got
}

// testInterop has a program read all samples. known tells why it cannot read a field of a sample, if it cannot.
func testInterop(t *testing.T, known func(s sample, i int, f arrow.Field) string, command func(path, name string) *exec.Cmd) {
	dir := t.TempDir()
	for _, s := range samples() {
		path, want := s.write(t, dir)
		c := command(path, cmp.Or(s.options.Name, DefaultName))
		c.Stderr = os.Stderr
		raw, err := c.Output()
		require.NoError(t, err, s.name)
		var got map[string]any
		require.NoError(t, json.Unmarshal(raw, &got), s.name)
		fields := s.batch.Schema().Fields()
		for _, p := range s.options.Projections {
			fields = append(fields, arrow.Field{Name: p.Name, Type: arrow.PrimitiveTypes.Int8})
		}
		for i, f := range fields {
			if known(s, i, f) != "" {
				continue
			}
			values := want[f.Name]
			found, ok := got[f.Name].([]any)
			if !ok || len(found) != len(values) {
				t.Errorf("%s, field %d %v: %d values instead of %d: %.200v", s.name, i, f, len(found), len(values), got[f.Name])
				continue
			}
			for k := range values {
				if !same(values[k], found[k]) {
					t.Errorf("%s, field %d %v, entry %d: %.200v instead of %.200v", s.name, i, f, k, found[k], values[k])
					break
				}
			}
		}
	}
}

// uproot reads what is written here. AMUDAI_PYTHON is a Python that has it (make interop).
func TestInteropUproot(t *testing.T) {
	python := os.Getenv("AMUDAI_PYTHON")
	if python == "" {
		t.Skip("AMUDAI_PYTHON names no Python with uproot")
	}
	all := func(sample, int, arrow.Field) string { return "" }
	testInterop(t, all, func(path, name string) *exec.Cmd {
		return exec.CommandContext(t.Context(), python, "testdata/interop/with_uproot.py", path, name)
	})
}

// JSROOT reads what is written here. AMUDAI_NODE is node, AMUDAI_NODE_MODULES a folder with jsroot (make interop).
func TestInteropJSROOT(t *testing.T) {
	node, modules := os.Getenv("AMUDAI_NODE"), os.Getenv("AMUDAI_NODE_MODULES")
	if node == "" || modules == "" {
		t.Skip("AMUDAI_NODE and AMUDAI_NODE_MODULES name no node with jsroot")
	}
	testInterop(t, unknownToJSROOT, func(path, name string) *exec.Cmd {
		return exec.CommandContext(t.Context(), node, "testdata/interop/with_jsroot.mjs", modules, path, name)
	})
}

// unknownToJSROOT tells what JSROOT 7.11.2 does not read, whoever writes it.
func unknownToJSROOT(s sample, i int, f arrow.Field) string {
	nested := strings.Count(f.Type.String(), "list<")+strings.Count(f.Type.String(), "utf8") > 1
	switch {
	case i >= s.batch.Schema().NumFields():
		return "projected fields"
	case s.batch.NumRows() == 0:
		return "ntuples without clusters"
	case s.grown:
		return "cluster groups but the first"
	case nested && s.options.ClusterRows > 0:
		return "collections in others, behind the first cluster"
	case f.Nullable:
		return "std::optional"
	case strings.Contains(f.Type.String(), "struct<"):
		return "records without a C++ type"
	case s.extend && i >= s.batch.Schema().NumFields()/2:
		return "fields that were added late"
	}
	return ""
}
