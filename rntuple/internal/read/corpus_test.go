package read

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/internal/engine/scan"
	"github.com/amudai/amudai-go/internal/engine/take"
	"github.com/amudai/amudai-go/internal/testing/testdata"
	"github.com/amudai/amudai-go/rntuple/internal/column"
	"github.com/amudai/amudai-go/rntuple/internal/envelope"
	"github.com/amudai/amudai-go/rntuple/internal/fields"
	"github.com/amudai/amudai-go/rntuple/internal/rootfile"
	"github.com/amudai/amudai-go/storage"
)

var ctx = context.Background()

func corpus(t testing.TB) string { return filepath.Join(testdata.Shared(t), "corpus", "rntuple") }

// expected is what a file of the corpus has, by ntuple.
type expected struct {
	File    string
	NTuples []expectedNTuple
}

type expectedNTuple struct {
	Path    string
	Class   string
	Entries int64             `json:"n_entries"`
	Digests map[string]digest `json:"field_digests"`
	Values  any
	Kind    string `json:"values_kind"`
}

type digest struct {
	SHA256 string
	Bytes  int64
}

// readExpected reads a JSON file with numbers as they are written.
func readExpected(t testing.TB, name string, into any) {
	f, err := os.Open(name)
	require.NoError(t, err)
	defer f.Close()
	d := json.NewDecoder(f)
	d.UseNumber()
	require.NoError(t, d.Decode(into))
}

func openFile(t testing.TB, name string) *rootfile.File {
	s, err := storage.ForLocation(name)
	require.NoError(t, err)
	r, err := s.Open(ctx, name)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, r.Close()) })
	f, err := rootfile.Open(ctx, Count(r))
	require.NoError(t, err)
	return f
}

// Each field of each file of the corpus has the digest and the values that are expected.
func TestCorpus(t *testing.T) {
	dir := corpus(t)
	names, err := filepath.Glob(filepath.Join(dir, "expected", "*.json"))
	require.NoError(t, err)
	require.NotEmpty(t, names)
	for _, name := range names {
		t.Run(filepath.Base(name), func(t *testing.T) {
			t.Parallel()
			var e expected
			readExpected(t, name, &e)
			for _, n := range e.NTuples {
				if n.Values == nil && n.Kind == "" {
					continue // of a format that can only be listed
				}
				checkNTuple(t, filepath.Join(dir, e.File), n)
			}
		})
	}
}

func checkNTuple(t *testing.T, file string, n expectedNTuple) {
	f := openFile(t, file)
	table, err := Open(ctx, f, strings.TrimPrefix(n.Path, "/"), Options{Fields: fields.Options{BaseClasses: true}})
	require.NoError(t, err)
	require.NoError(t, table.Load(ctx))
	require.Equal(t, n.Entries, table.NumRows())
	require.Empty(t, table.Skipped())
	checkValues(t, table, n.Kind, n.Values)
	checkDigests(t, table, n.Digests)
}

func checkDigests(t *testing.T, table *Table, want map[string]digest) {
	if len(want) == 0 {
		return
	}
	sums := make([]sum, len(table.tree.Fields))
	for i := range sums {
		sums[i].h = sha256.New()
	}
	for batch, err := range scan.Scan(ctx, table, scan.Options{Parallelism: 1}) {
		require.NoError(t, err)
		for i, f := range table.tree.Fields {
			for row := range int(batch.NumRows()) {
				sums[i].add(f, batch.Column(i), row)
			}
		}
	}
	seen := 0
	for i, f := range table.tree.Fields {
		w, ok := want[f.Arrow.Name]
		if !ok {
			continue
		}
		seen++
		require.Equal(t, w.Bytes, sums[i].n, f.Arrow.Name)
		require.Equal(t, w.SHA256, hex.EncodeToString(sums[i].h.Sum(nil)), f.Arrow.Name)
	}
	require.Equal(t, len(want), seen)
}

// sum is the digest of a field: the canonical bytes of its entries.
type sum struct {
	h hash.Hash
	n int64
}

func (s *sum) write(b []byte) {
	s.h.Write(b)
	s.n += int64(len(b))
}

func (s *sum) number(v any) {
	b, err := binary.Append(nil, binary.LittleEndian, v)
	if err != nil {
		panic(err)
	}
	s.write(b)
}

func (s *sum) add(f *fields.Field, a arrow.Array, i int) {
	switch f.Layout {
	case fields.Value, fields.Cardinality:
		v := number(f, a, i)
		if f, ok := v.(float32); ok && f != f {
			v = float32(math.NaN()) // the digests have one NaN
		}
		s.number(v)
	case fields.Text, fields.Bytes:
		b := content(a, i)
		s.number(uint64(len(b)))
		s.write([]byte(b))
	case fields.List, fields.Map:
		l := a.(array.ListLike)
		from, to := l.ValueOffsets(i)
		s.number(uint64(to - from))
		for k := from; k < to; k++ {
			s.add(f.Children[0], l.ListValues(), int(k))
		}
	case fields.FixedList:
		l := a.(*array.FixedSizeList)
		from, to := l.ValueOffsets(i)
		for k := from; k < to; k++ {
			s.add(f.Children[0], l.ListValues(), int(k))
		}
	case fields.Optional:
		if a.IsNull(i) {
			s.number(uint64(0))
			return
		}
		s.number(uint64(1))
		s.add(f.Children[0], a, i)
	case fields.Struct:
		for k, kid := range f.Children {
			s.add(kid, a.(*array.Struct).Field(k), i)
		}
	case fields.Variant:
		u := a.(*array.DenseUnion)
		tag := u.TypeCode(i)
		s.number(uint32(tag))
		if tag > 0 {
			s.add(f.Children[tag], u.Field(int(tag)), int(u.ValueOffset(i)))
		}
	default:
		panic(f.Layout)
	}
}

func content(a arrow.Array, i int) string {
	switch a := a.(type) {
	case *array.String:
		return a.Value(i)
	case *array.Binary:
		return string(a.Value(i))
	}
	panic(a.DataType())
}

func number(f *fields.Field, a arrow.Array, i int) any {
	if f.Kind == column.KindBool {
		return a.(*array.Boolean).Value(i)
	}
	switch a := a.(type) {
	case *array.Int8:
		return a.Value(i)
	case *array.Uint8:
		return a.Value(i)
	case *array.Int16:
		return a.Value(i)
	case *array.Uint16:
		return a.Value(i)
	case *array.Int32:
		return a.Value(i)
	case *array.Uint32:
		return a.Value(i)
	case *array.Int64:
		return a.Value(i)
	case *array.Uint64:
		return a.Value(i)
	case *array.Float32:
		return a.Value(i)
	case *array.Float64:
		return a.Value(i)
	}
	panic(a.DataType())
}

// value is a value as the expected contents spell it.
func value(f *fields.Field, a arrow.Array, i int) any {
	switch f.Layout {
	case fields.Value, fields.Cardinality:
		switch v := number(f, a, i).(type) {
		case bool:
			return v
		case float32:
			return float(float64(v))
		case float64:
			return float(v)
		default:
			return json.Number(fmt.Sprint(v))
		}
	case fields.Text:
		if s := content(a, i); utf8.ValidString(s) {
			return s
		}
		return map[string]any{"base64": base64.StdEncoding.EncodeToString([]byte(content(a, i)))}
	case fields.Bytes:
		if strings.HasPrefix(metadata(f.Arrow, fields.KeyType), "std::vector") {
			list := []any{}
			for _, b := range []byte(content(a, i)) {
				list = append(list, json.Number(strconv.Itoa(int(b))))
			}
			return list
		}
		return map[string]any{"streamed_base64": base64.StdEncoding.EncodeToString([]byte(content(a, i)))}
	case fields.List, fields.Map, fields.FixedList:
		l := a.(array.ListLike)
		from, to := l.ValueOffsets(i)
		list := []any{}
		for k := from; k < to; k++ {
			list = append(list, value(f.Children[0], l.ListValues(), int(k)))
		}
		return list
	case fields.Optional:
		if a.IsNull(i) {
			return nil
		}
		return value(f.Children[0], a, i)
	case fields.Struct:
		all := map[string]any{}
		for k, kid := range f.Children {
			all[kid.Arrow.Name] = value(kid, a.(*array.Struct).Field(k), i)
		}
		return all
	case fields.Variant:
		u := a.(*array.DenseUnion)
		tag := u.TypeCode(i)
		if tag == 0 {
			return nil
		}
		return map[string]any{"tag": json.Number(strconv.Itoa(int(tag))), "value": value(f.Children[tag], u.Field(int(tag)), int(u.ValueOffset(i)))}
	}
	panic(f.Layout)
}

func metadata(f arrow.Field, key string) string {
	v, _ := f.Metadata.GetValue(key)
	return v
}

func float(v float64) any {
	switch {
	case math.IsNaN(v):
		return "NaN"
	case math.IsInf(v, 1):
		return "Infinity"
	case math.IsInf(v, -1):
		return "-Infinity"
	}
	return v
}

// same compares expected contents with values: numbers by what they are.
func same(want, got any) error {
	switch w := want.(type) {
	case json.Number:
		switch g := got.(type) {
		case json.Number:
			if w != g {
				return fmt.Errorf("%v, want %v", g, w)
			}
			return nil
		case float64:
			if v, err := w.Float64(); err != nil || v != g {
				return fmt.Errorf("%v, want %v", g, w)
			}
			return nil
		}
	case []any:
		g, ok := got.([]any)
		if !ok || len(w) != len(g) {
			return fmt.Errorf("%v, want %v", got, want)
		}
		for i := range w {
			if err := same(w[i], g[i]); err != nil {
				return fmt.Errorf("[%d]: %w", i, err)
			}
		}
		return nil
	case map[string]any:
		g, ok := got.(map[string]any)
		if !ok || len(w) != len(g) {
			return fmt.Errorf("%v, want %v", got, want)
		}
		for k := range w {
			v, ok := g[k]
			if !ok {
				return fmt.Errorf("no %s", k)
			}
			if err := same(w[k], v); err != nil {
				return fmt.Errorf("%s: %w", k, err)
			}
		}
		return nil
	}
	if want != got {
		return fmt.Errorf("%v (%T), want %v (%T)", got, got, want, want)
	}
	return nil
}

func checkValues(t *testing.T, table *Table, kind string, values any) {
	if values == nil {
		return
	}
	w := values.(map[string]any)
	switch kind {
	case "full":
		checkRows(t, table, w, 0)
	case "first_last":
		checkRows(t, table, w["first"].(map[string]any), 0)
		n, err := w["n"].(json.Number).Int64()
		require.NoError(t, err)
		checkRows(t, table, w["last"].(map[string]any), table.NumRows()-min(n, table.NumRows()))
	default:
		require.Fail(t, kind)
	}
}

// checkRows compares the values of all fields from one entry on.
func checkRows(t *testing.T, table *Table, want map[string]any, from int64) {
	rows := []int64{}
	for _, list := range want {
		for i := range list.([]any) {
			rows = append(rows, from+int64(i))
		}
		break
	}
	if len(rows) == 0 {
		return
	}
	batch, err := take.Rows(ctx, table, rows, take.Options{})
	require.NoError(t, err)
	defer batch.Release()
	seen := 0
	for i, f := range table.tree.Fields {
		list, ok := want[f.Arrow.Name].([]any)
		if !ok {
			continue
		}
		seen++
		if f.Arrow.Name == "_collection0" && table.anchor.Format == envelope.V02 {
			continue // the expected values are those of the first of five subfields
		}
		require.Len(t, list, len(rows))
		for k := range rows {
			require.NoError(t, same(list[k], value(f, batch.Column(i), k)), "%s, entry %d", f.Arrow.Name, rows[k])
		}
	}
	require.Equal(t, len(want), seen)
}

// selection is the files of the corpus that are in the repository: those made by hand and those that
// uproot wrote.
const selection = "../../testdata/corpus"

// The files in the repository are read or refused as expected.json says.
func TestSelection(t *testing.T) {
	var all map[string]struct {
		What    string
		NTuples []expectedNTuple
		Expect  struct {
			Values  map[string]any
			Error   string
			Ignored []string `json:"ignored_fields"`
		}
	}
	readExpected(t, filepath.Join(selection, "expected.json"), &all)
	for name, e := range all {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file := filepath.Join(selection, name)
			if e.NTuples != nil {
				for _, n := range e.NTuples {
					checkNTuple(t, file, n)
				}
				return
			}
			f := openFile(t, file)
			table, err := Open(ctx, f, "", Options{})
			if err == nil {
				err = table.Load(ctx)
			}
			if e.Expect.Error != "" {
				if err == nil {
					for _, err2 := range scan.Scan(ctx, table, scan.Options{}) {
						err = errors.Join(err, err2)
					}
				}
				require.Error(t, err)
				t.Log(err)
				return
			}
			require.NoError(t, err)
			var skipped []string
			for _, s := range table.Skipped() {
				skipped = append(skipped, s.Name)
			}
			require.ElementsMatch(t, e.Expect.Ignored, skipped)
			checkRows(t, table, e.Expect.Values, 0)
		})
	}
	names, err := filepath.Glob(filepath.Join(selection, "*.root"))
	require.NoError(t, err)
	require.Len(t, all, len(names))
}
