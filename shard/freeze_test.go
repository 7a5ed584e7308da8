package shard_test

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"math/bits"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/encoding"
	"github.com/amudai/amudai-go/internal/format/edition"
	"github.com/amudai/amudai-go/internal/testing/arrowgen"
	"github.com/amudai/amudai-go/internal/testing/arrowtest"
)

// freezer writes frozen shards.
type freezer struct {
	list []frozen // all shards
}

// freezeEdition writes a shard for each Arrow type, shards of texts, and for each feature and encoding the smallest shard that
// it finds. Shards that exist stay. Those that are written with other bytes now move to the folder superseded.
func freezeEdition(t *testing.T) {
	require.NoError(t, os.MkdirAll(filepath.Dir(manifest), 0o755))
	var z freezer
	if text, err := os.ReadFile(manifest); err == nil {
		require.NoError(t, json.Unmarshal(text, &z.list))
	}
	for i := range z.list {
		z.list[i].supersede(t)
	}
	z.types(t)
	z.texts(t)
	z.smallest(t)
	slices.SortFunc(z.list, func(a, b frozen) int { return cmp.Compare(a.Name, b.Name) })
	text, err := json.MarshalIndent(z.list, "", " ")
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(manifest, append(text, '\n'), 0o644))
}

// supersede writes a shard anew. If its bytes differ, the old shard moves aside.
func (f *frozen) supersede(t testing.TB) {
	old, err := os.ReadFile(f.path())
	require.NoError(t, err)
	_, batches := readFrozen(t, old)
	var out bytes.Buffer
	writeFrozen(t, &out, batches, f.options(t))
	if bytes.Equal(old, out.Bytes()) {
		return
	}
	aside := filepath.Join(filepath.Dir(manifest), "superseded", fmt.Sprintf("%s.%d.amudai.shard", f.Name, 1+len(f.superseded(t))))
	require.NoError(t, os.MkdirAll(filepath.Dir(aside), 0o755))
	require.NoError(t, os.Rename(f.path(), aside))
	require.NoError(t, os.WriteFile(f.path(), out.Bytes(), 0o644))
	s, batches := readFrozen(t, out.Bytes())
	*f = describe(t, s, out.Bytes(), *f, batches)
}

// write makes a shard of a table, and its facts.
func (z *freezer) write(t testing.TB, f frozen, table arrow.RecordBatch) (frozen, []byte) {
	var out bytes.Buffer
	writeFrozen(t, &out, []arrow.RecordBatch{table}, f.options(t))
	s, batches := readFrozen(t, out.Bytes())
	whole := array.NewTableFromRecords(table.Schema(), []arrow.RecordBatch{table})
	arrowtest.RequireSameTable(t, whole, array.NewTableFromRecords(table.Schema(), batches))
	return describe(t, s, out.Bytes(), f, batches), out.Bytes()
}

// add adds a shard, unless there is one of that name.
func (z *freezer) add(t testing.TB, f frozen, data []byte) {
	if !slices.ContainsFunc(z.list, func(old frozen) bool { return old.Name == f.Name }) {
		z.list = append(z.list, f)
		require.NoError(t, os.WriteFile(f.path(), data, 0o644))
	}
}

func (z *freezer) types(t testing.TB) {
	for i, dt := range arrowgen.Types() {
		g := arrowgen.New(uint64(i))
		g.Nulls = []float64{0, 0.2, 0.9}[i%3]
		batch := g.Batch(arrow.NewSchema([]arrow.Field{{Name: "c", Type: dt, Nullable: true}}, nil), 300)
		f := frozen{Name: fmt.Sprintf("type-%02d-%v", i, dt.ID()), Profile: encoding.Profile(i % 5).String()}
		if i%4 == 3 {
			f.StripeRows = 200
		}
		f, data := z.write(t, f, batch)
		z.add(t, f, data)
	}
	fields := []arrow.Field{{Name: "n", Type: arrow.PrimitiveTypes.Int32, Nullable: true}, {Name: "t", Type: arrow.FixedWidthTypes.Timestamp_ns, Nullable: true}, {Name: "f", Type: arrow.PrimitiveTypes.Float64, Nullable: true}}
	g := arrowgen.New(99)
	g.Nulls = 0.4
	f, data := z.write(t, frozen{Name: "nulls-apart", Profile: encoding.Balanced.String(), NullsApart: true}, g.Batch(arrow.NewSchema(fields, nil), 500))
	z.add(t, f, data)
	fields = []arrow.Field{{Name: "s", Type: arrow.BinaryTypes.String, Nullable: true}, {Name: "b", Type: arrow.BinaryTypes.Binary, Nullable: true}, {Name: "l", Type: arrow.ListOf(arrow.BinaryTypes.LargeString), Nullable: true}}
	f, data = z.write(t, frozen{Name: "offsets-apart", Profile: encoding.Balanced.String(), EndsApart: true}, g.Batch(arrow.NewSchema(fields, nil), 500))
	z.add(t, f, data)
	f, data = z.write(t, frozen{Name: "packed-groups", Profile: encoding.Balanced.String(), Packed: [][]string{{"s"}, {"*"}}}, packedBatch())
	z.add(t, f, data)
	f, data = z.write(t, frozen{Name: "number-dictionaries", Profile: encoding.Balanced.String()}, repeatedIDs(66_000, 20_000))
	z.add(t, f, data)
	fields = append(fields, arrow.Field{Name: "n", Type: arrow.PrimitiveTypes.Int64, Nullable: true})
	f, data = z.write(t, frozen{Name: "alternatives", Profile: encoding.Balanced.String(), Second: encoding.ProfilePlain.String()}, arrowgen.New(97).Batch(arrow.NewSchema(fields, nil), 200))
	z.add(t, f, data)
}

// packedBatch has columns for a packed group, wide enough for several super-blocks, and a struct for another one.
func packedBatch() arrow.RecordBatch {
	const rows = 300
	wide := &arrow.FixedSizeBinaryType{ByteWidth: 8000}
	inner := []arrow.Field{{Name: "x", Type: arrow.PrimitiveTypes.Int32, Nullable: true}, {Name: "y", Type: wide}}
	fields := []arrow.Field{
		{Name: "n", Type: arrow.PrimitiveTypes.Int32, Nullable: true}, {Name: "b", Type: arrow.FixedWidthTypes.Boolean, Nullable: true}, {Name: "word", Type: arrow.BinaryTypes.String},
		{Name: "text", Type: arrow.BinaryTypes.String}, {Name: "wide", Type: wide}, {Name: "s", Type: arrow.StructOf(inner...), Nullable: true}, {Name: "same", Type: arrow.PrimitiveTypes.Int8},
	}
	g := arrowgen.New(98)
	g.Nulls = 0.2
	columns := g.Batch(arrow.NewSchema(fields, nil), rows).Columns()
	words, texts := array.NewStringBuilder(memory.DefaultAllocator), array.NewStringBuilder(memory.DefaultAllocator)
	bytes, same := array.NewFixedSizeBinaryBuilder(memory.DefaultAllocator, wide), array.NewInt8Builder(memory.DefaultAllocator)
	for i := range rows {
		words.Append([]string{"red", "green", "blue"}[i*i%3])
		texts.Append(fmt.Sprintf("text %x", uint32(i+1)*0x9e3779b9))
		bytes.Append(slices.Repeat([]byte{byte(i)}, wide.ByteWidth))
		same.Append(7)
	}
	columns[2], columns[3], columns[4], columns[6] = words.NewArray(), texts.NewArray(), bytes.NewArray(), same.NewArray()
	parts := columns[5].Data().Children()
	valid := columns[5].Data().Buffers()[0]
	columns[5] = array.NewStructData(array.NewData(fields[5].Type, rows, []*memory.Buffer{valid}, []arrow.ArrayData{parts[0], columns[4].Data()}, columns[5].NullN(), 0))
	return array.NewRecordBatch(arrow.NewSchema(fields, nil), columns, rows)
}

// repeatedIDs has some random numbers of 64 bits in random order, and nulls.
func repeatedIDs(rows, distinct int) arrow.RecordBatch {
	rnd := rand.New(rand.NewPCG(5, 6))
	pool := make([]int64, distinct)
	for i := range pool {
		pool[i] = int64(rnd.Uint64())
	}
	ids := array.NewInt64Builder(memory.DefaultAllocator)
	for range rows {
		if rnd.IntN(30) == 0 {
			ids.AppendNull()
		} else {
			ids.Append(pool[rnd.IntN(distinct)])
		}
	}
	s := arrow.NewSchema([]arrow.Field{{Name: "id", Type: ids.Type(), Nullable: true}}, nil)
	return array.NewRecordBatch(s, []arrow.Array{ids.NewArray()}, int64(rows))
}

func (z *freezer) texts(t testing.TB) {
	for _, text := range frozenTexts {
		for _, p := range []encoding.Profile{encoding.Balanced, encoding.HighCompression, encoding.MinimalSize} {
			if p != encoding.Balanced && text.rows > 1<<16 {
				continue // one is enough for what only large tables have: blocks after the first, and Bloom filters
			}
			f, data := z.write(t, frozen{Name: fmt.Sprintf("text-%s-%v", text.name, p), Profile: p.String()}, text.column(text.rows))
			z.add(t, f, data)
		}
	}
}

func (z *freezer) smallest(t testing.TB) {
	best, data := map[string]frozen{}, map[string][]byte{}
	for _, column := range candidates() {
		for p := range encoding.MinimalSize + 1 {
			f, b := z.write(t, frozen{Profile: p.String()}, column)
			for _, name := range append(f.Features, f.Encodings...) {
				if old, ok := data[name]; !ok || len(b) < len(old) {
					f.Name = "with-" + strings.ToLower(name)
					best[name], data[name] = f, b
				}
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(best)) {
		if i := slices.IndexFunc(edition.Table[:], func(row edition.Row) bool { return row.Name == name }); i < 0 || edition.Table[i].Code == 0 {
			z.add(t, best[name], data[name]) // of an encoding and its feature, the encoding
		}
	}
}

// candidates are tables of one column each, which suit the encodings.
func candidates() (out []arrow.RecordBatch) {
	one := func(f arrow.Field, c arrow.Array) {
		out = append(out, array.NewRecordBatch(arrow.NewSchema([]arrow.Field{f}, nil), []arrow.Array{c}, int64(c.Len())))
	}
	for _, rows := range []int{100, 1000, 5000} {
		for _, b := range Batches(rows)[:2] {
			for i, c := range b.Columns() {
				one(b.Schema().Field(i), c)
			}
		}
		for _, text := range frozenTexts {
			out = append(out, text.column(rows))
		}
	}
	rnd := rand.New(rand.NewPCG(3, 4))
	var repeated [100]int64
	for i := range repeated {
		repeated[i] = rnd.Int64()
	}
	for bits := 2; bits <= 63; bits++ {
		one(ints(1000, func(i int) int64 { return repeated[i%100] >> (63 - bits) }))
		one(ints(2000, func(int) int64 { return rnd.Int64() >> rnd.IntN(64) >> (63 - bits) * (rnd.Int64N(3) - 1) }))
	}
	one(ints(200_000, func(i int) int64 { return int64(i * i % 3) }))
	b := array.NewFixedSizeBinaryBuilder(memory.DefaultAllocator, &arrow.FixedSizeBinaryType{ByteWidth: 12})
	for range 3000 {
		b.Append([]byte((frozenTexts[0].of(rnd, 0) + frozenTexts[0].of(rnd, 0) + "            ")[:12]))
	}
	one(arrow.Field{Name: "fixed", Type: b.Type()}, b.NewArray())
	return out
}

// ints is a column of integers in the narrowest signed type.
func ints(rows int, of func(i int) int64) (arrow.Field, arrow.Array) {
	values, most := make([]int64, rows), int64(0)
	for i := range values {
		values[i] = of(i)
		most = max(most, values[i], ^values[i])
	}
	types := []arrow.DataType{arrow.PrimitiveTypes.Int8, arrow.PrimitiveTypes.Int16, arrow.PrimitiveTypes.Int32, arrow.PrimitiveTypes.Int32, arrow.PrimitiveTypes.Int64}
	dt := types[min(bits.Len64(uint64(most))/8, 4)]
	b := array.NewBuilder(memory.DefaultAllocator, dt)
	for _, v := range values {
		switch b := b.(type) {
		case *array.Int8Builder:
			b.Append(int8(v))
		case *array.Int16Builder:
			b.Append(int16(v))
		case *array.Int32Builder:
			b.Append(int32(v))
		case *array.Int64Builder:
			b.Append(v)
		}
	}
	return arrow.Field{Name: "number", Type: dt}, b.NewArray()
}

// frozenText is a column of texts of one kind.
type frozenText struct {
	name string
	rows int // of its own shards
	of   func(rnd *rand.Rand, row int) string
}

func (f frozenText) column(rows int) arrow.RecordBatch {
	rnd := rand.New(rand.NewPCG(1, uint64(len(f.name))))
	b := array.NewStringBuilder(memory.DefaultAllocator)
	for row := range rows {
		b.Append(f.of(rnd, row))
	}
	return array.NewRecordBatch(arrow.NewSchema([]arrow.Field{{Name: "text", Type: arrow.BinaryTypes.String}}, nil), []arrow.Array{b.NewArray()}, int64(rows))
}

func base36(v uint64) string { return strconv.FormatUint(v, 36) }

var frozenTexts = []frozenText{
	{"words", 2000, func(rnd *rand.Rand, _ int) (v string) {
		for range rnd.IntN(12) {
			k := int(math.Pow(1000, rnd.Float64()))
			v += []string{"be", "sta", "ri", "lo"}[k%4] + []string{"n", "tion", "ver", "s"}[k/4%4] + []string{"", "ed", "ing"}[k/16%3] + " "
		}
		return v
	}},
	{"paths", 2000, func(_ *rand.Rand, row int) string {
		return fmt.Sprintf("/usr/share/doc/package-%03d/examples/%d/file_%d.txt", row/100, row/10, row)
	}},
	{"random", 2000, func(rnd *rand.Rand, _ int) string { return base36(rnd.Uint64() | 1<<63) }},
	{"log", 2000, func(rnd *rand.Rand, row int) string {
		line := fmt.Sprintf("2026-11-%02d %02d:%02d:%02d,%03d %s ", 1+row/900, row/60%24, row%60, rnd.IntN(60), rnd.IntN(1000), []string{"INFO", "WARN"}[rnd.IntN(2)])
		return line + []string{
			fmt.Sprintf("Received block blk_%d of size %d", rnd.Int64()-rnd.Int64(), rnd.IntN(1<<20)),
			fmt.Sprintf("uid=%x opened /home/%s/mail", rnd.Uint32(), base36(rnd.Uint64()>>rnd.IntN(60))),
		}[rnd.IntN(2)]
	}},
	{"json", 2000, func(rnd *rand.Rand, _ int) string {
		return fmt.Sprintf(`{"id":%d,"name":"%s","tags":["a%d","b"],"price":%d.%02d}`, rnd.IntN(1e6), base36(rnd.Uint64()), rnd.IntN(9), rnd.IntN(900), rnd.IntN(100))
	}},
	{"uuids", 2000, func(rnd *rand.Rand, _ int) string {
		return fmt.Sprintf("%08x-%04x-4%03x-%x%03x-%012x", rnd.Uint32(), rnd.IntN(1<<16), rnd.IntN(1<<12), 8+rnd.IntN(4), rnd.IntN(1<<12), rnd.Int64N(1<<48))
	}},
	{"traces", 1000, func(rnd *rand.Rand, row int) string {
		return strings.Repeat(fmt.Sprintf("line %d of the trace at 0x%08x; ", row, rnd.Uint32()), 8)
	}},
	{"few", 70_000, func(_ *rand.Rand, row int) string {
		k := row / 40 * 7919 % 300
		return fmt.Sprintf("https://example.com/catalogue/%d/%s?ref=%d", k%7, base36(uint64(k*k*k)), k*7919)
	}},
	{"numbered", 70_000, func(_ *rand.Rand, row int) string { return fmt.Sprintf("INV-%06d", row) }},
}

func init() {
	frozenTexts = append(frozenTexts, frozenText{"syslog", 70_000, func(rnd *rand.Rand, row int) string {
		program, text := []string{"kernel", "sshd", "cron"}[rnd.IntN(3)], []string{"session opened for user", "authentication failure for", "connection closed by"}[rnd.IntN(3)]
		return fmt.Sprintf("%d [%s] %s: %s", row, program, text, frozenTexts[0].of(rnd, 0))
	}})
	frozenTexts = append(frozenTexts, frozenText{"sentences", 70_000, func(rnd *rand.Rand, _ int) (v string) {
		for range 3 {
			v += base36(uint64(1+rnd.IntN(99))*7919*7919*7919) + " "
		}
		return v
	}})
}
