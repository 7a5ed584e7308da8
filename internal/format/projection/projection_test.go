package projection_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
	"github.com/amudai/amudai-go/internal/format/arrowmap"
	"github.com/amudai/amudai-go/internal/format/projection"
	"github.com/amudai/amudai-go/internal/format/schema"
	"github.com/amudai/amudai-go/internal/testing/arrowgen"
	"github.com/amudai/amudai-go/internal/testing/sweep"
	"github.com/amudai/amudai-go/internal/testing/tabletest"
	"github.com/amudai/amudai-go/internal/text"
	"github.com/amudai/amudai-go/shard"
	_ "github.com/amudai/amudai-go/table/formats"
	"github.com/amudai/amudai-go/table/parquet"
	"github.com/amudai/amudai-go/table/provider"
	texts "github.com/amudai/amudai-go/table/text"
)

// example is a schema with structs, lists of structs, maps, and names that are not unique.
func example(t *testing.T) *arrow.Schema {
	return arrow.NewSchema(tabletest.Fields(t, `id: int64, at: struct<lat: float64, lon: float64>,
		items: list<struct<p: int8, q: struct<r: utf8, s: utf8>>>, m: map<utf8, struct<x: int8, y: int8>>,
		d: dictionary<int8, struct<a: int8, b: int8>>, deep: list<list<struct<v: int8, w: int8>>>,
		"v1.2": int8, id: utf8, "": bool`), nil)
}

func TestPaths(t *testing.T) {
	s := example(t)
	for paths, want := range map[string]string{
		"id":                "id: int64",
		"id#2":              "id: utf8",
		"#1,id":             `"": bool` + "\nid: int64",
		"at.lon":            "at: struct<lon: float64>",
		"at.lon,id,at.lat":  "at: struct<lat: float64, lon: float64>\nid: int64",
		"at.lat,at":         "at: struct<lat: float64, lon: float64>",
		"items.p":           "items: list<struct<p: int8>>",
		"items.item.p":      "items: list<struct<p: int8>>",
		"items.item":        "items: list<struct<p: int8, q: struct<r: utf8, s: utf8>>>",
		"items.q.s":         "items: list<struct<q: struct<s: utf8>>>",
		"items.q.s,items.p": "items: list<struct<p: int8, q: struct<s: utf8>>>",
		"m.key":             "m: map<utf8, struct<x: int8, y: int8>>",
		"m.value.y":         "m: map<utf8, struct<y: int8>>",
		"deep.w":            "deep: list<list<struct<w: int8>>>",
		"deep.item.item.w":  "deep: list<list<struct<w: int8>>>",
		"deep.item":         "deep: list<list<struct<v: int8, w: int8>>>",
		`v1\.2`:             "v1.2: int8",
		"v1.2,id,v1.2":      "v1.2: int8" + "\nid: int64",
		"d.b":               "d: dictionary<int8, struct<b: int8>>",
	} {
		p, err := projection.New(s, strings.Split(paths, ","))
		require.NoError(t, err, paths)
		require.Equal(t, want, strings.TrimSpace(text.Schema(p.Schema())), paths)
	}
}

// TestMissingFields selects fields that do not exist, at every depth. The error suggests a similar name.
func TestAllPaths(t *testing.T) {
	inner := arrow.StructOf(arrow.Field{Name: "x.y", Type: arrow.PrimitiveTypes.Int64}, arrow.Field{Name: "z", Type: arrow.PrimitiveTypes.Int64})
	require.Equal(t, []string{"s", `s.x\.y`, "s.z", "s#2", "l", "#1"}, projection.Paths([]arrow.Field{
		{Name: "s", Type: inner}, {Name: "s", Type: arrow.PrimitiveTypes.Int8}, {Name: "l", Type: arrow.ListOf(inner)}, {Type: arrow.PrimitiveTypes.Int8},
	}))
}

func TestMissingFields(t *testing.T) {
	s := example(t)
	for path, want := range map[string]string{
		"town":            `there is no column "town"`,
		"":                `there is no column ""`,
		"ID":              `there is no column "ID": is id meant?`,
		"id#3":            `there is no column "id#3": is id#2 meant?`,
		"id.x":            `there is no column "id.x"`,
		"at.late":         `there is no column "at.late": is lat meant?`,
		"items.Q":         `there is no column "items.Q": is q meant?`,
		"items.q.R":       `there is no column "items.q.R": is r meant?`,
		"items.itme.p":    `there is no column "items.itme.p": is item meant?`,
		"m.kye":           `there is no column "m.kye": is key meant?`,
		"m.value.X":       `there is no column "m.value.X": is x meant?`,
		"deep.W":          `there is no column "deep.W": is w meant?`,
		"m.x":             `there is no column "m.x"`,
		"items.":          `there is no column "items."`,
		"at.lat.whatever": `there is no column "at.lat.whatever"`,
	} {
		_, err := projection.New(s, []string{path})
		require.ErrorIs(t, err, schema.ErrNoField)
		require.EqualError(t, err, want)
	}
}

// pathsOf returns all paths to fields, and some paths of missing fields.
func pathsOf(parent string, fields []arrow.Field) (paths []string) {
	for i, name := range arrowmap.UniqueNames(fields) {
		path := schema.JoinPath(parent, name)
		paths = append(append(paths, path), below(path, fields[i].Type)...)
	}
	return append(paths, schema.JoinPath(parent, "zz"))
}

func below(path string, t arrow.DataType) []string {
	switch t := t.(type) {
	case arrow.ExtensionType:
		return below(path, t.StorageType())
	case *arrow.DictionaryType:
		return below(path, t.ValueType)
	case *arrow.RunEndEncodedType:
		return below(path, t.Encoded())
	case *arrow.StructType:
		return pathsOf(path, t.Fields())
	case *arrow.MapType:
		key, value := path+".key", path+".value"
		return append(append(append(below(key, t.KeyType()), key, value), below(value, t.ItemType())...), path+".zz")
	case arrow.ListLikeType:
		return append(append(below(path, t.Elem()), path+".item"), below(path+".item", t.Elem())...)
	}
	return []string{path + ".zz"}
}

// readShard reads a shard with a projection.
func readShard(t *testing.T, file []byte, o shard.ScanOptions) (arrow.Table, error) {
	s, err := shard.OpenReaderAt(t.Context(), bytes.NewReader(file), int64(len(file)), shard.OpenOptions{})
	require.NoError(t, err)
	defer s.Close()
	r, err := s.Reader(t.Context(), o)
	if err != nil {
		return nil, err
	}
	defer r.Release()
	var batches []arrow.RecordBatch
	for r.Next() {
		r.RecordBatch().Retain()
		batches = append(batches, r.RecordBatch())
	}
	require.NoError(t, r.Err())
	return array.NewTableFromRecords(r.Schema(), batches), nil
}

func writeShard(t *testing.T, b arrow.RecordBatch) []byte {
	var out bytes.Buffer
	w, err := shard.NewWriter(t.Context(), &out, b.Schema(), shard.WriterOptions{})
	require.NoError(t, err)
	require.NoError(t, w.Write(t.Context(), b))
	require.NoError(t, w.Close(t.Context()))
	return out.Bytes()
}

// TestOneRule projects random nested tables. Every format returns the same columns for a path as a shard of the table
// does, as far as the format has the types.
func TestOneRule(t *testing.T) {
	compared := map[string]int{}
	for seed := range uint64(sweep.Count(60, 2000)) {
		g := arrowgen.New(seed)
		fields := make([]arrow.Field, 1+g.Rand.IntN(3))
		columns := make([]arrow.Array, len(fields))
		for i := range fields {
			fields[i] = arrow.Field{Name: string(rune('a' + g.Rand.IntN(3))), Type: g.Type(3), Nullable: true}
			columns[i] = g.Array(fields[i].Type, 100)
		}
		batch := array.NewRecordBatch(arrow.NewSchema(fields, nil), columns, 100)
		all := pathsOf("", fields)
		var asked [][]string
		for range 4 {
			paths := []string{}
			for range 1 + g.Rand.IntN(3) {
				paths = append(paths, all[g.Rand.IntN(len(all))])
			}
			asked = append(asked, paths)
		}
		asked = append(asked, []string{})
		file := writeShard(t, batch)
		for _, f := range []provider.Format{registered(t, "arrow"), registered(t, "arrows"), parquet.New(parquet.Options{}), texts.JSONLines(texts.JSONOptions{})} {
			o := provider.ReadOptions{}
			if f.Casts {
				o.Schema = fields
			}
			in, ok := writeAs(t, f, batch, o)
			if !ok {
				continue // a type that the format lacks
			}
			for _, paths := range asked {
				name := fmt.Sprintf("%s: %q of %s, seed %d", f.Name, paths, batch.Schema(), seed)
				want, wantErr := readShard(t, file, shard.ScanOptions{Columns: paths})
				o.Columns = paths
				got, err := tabletest.Read(t, f, tabletest.Input(in), o)
				require.Equalf(t, wantErr == nil, err == nil, "%v, shard: %v\n%s", err, wantErr, name)
				if err != nil {
					require.ErrorIs(t, err, schema.ErrNoField, name)
					require.ErrorContains(t, err, wantErr.Error(), name)
					continue
				}
				compared[f.Name]++
				require.EqualValues(t, want.NumRows(), got.NumRows(), name)
				require.Equal(t, want.NumCols(), got.NumCols(), name)
				for i, f := range want.Schema().Fields() {
					require.Equal(t, f.Name, got.Schema().Field(i).Name, name)
					require.Equal(t, f.Type.String(), got.Schema().Field(i).Type.String(), name)
					require.Negative(t, arrowutil.Difference(only(t, want, i), only(t, got, i)), name)
				}
			}
		}
	}
	for _, name := range []string{"arrow", "arrows", "parquet", "jsonl"} {
		require.Greater(t, compared[name], 20, name)
	}
}

// only returns the only chunk of a column.
func only(t *testing.T, rows arrow.Table, column int) arrow.Array {
	chunks := rows.Column(column).Data().Chunks()
	require.Len(t, chunks, 1)
	return chunks[0]
}

// writeAs writes a batch, if it comes back from the format unchanged.
func writeAs(t *testing.T, f provider.Format, b arrow.RecordBatch, o provider.ReadOptions) (string, bool) {
	var out tabletest.Output
	sink, err := f.Create(t.Context(), &out, b.Schema(), provider.WriteOptions{})
	if err == nil {
		if err = sink.Write(t.Context(), b); err == nil {
			err = sink.Close(t.Context())
		}
	}
	if err != nil {
		return "", false
	}
	got, err := tabletest.Read(t, f, tabletest.Input(out.String()), o)
	if err != nil {
		return "", false
	}
	for i, c := range b.Columns() {
		if back := only(t, got, i); !arrow.TypeEqual(back.DataType(), c.DataType()) || arrowutil.Difference(c, back) >= 0 {
			return "", false
		}
	}
	return out.String(), true
}

func registered(t *testing.T, name string) provider.Format {
	t.Helper()
	f, err := provider.Registered().ByName(name)
	require.NoError(t, err)
	return f
}
