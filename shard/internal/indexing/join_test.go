package indexing

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	commonpb "github.com/amudai/amudai-go/gen/amudai/common"
	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/engine/predicate"
	"github.com/amudai/amudai-go/internal/engine/rowset"
	"github.com/amudai/amudai-go/internal/format/arrowmap"
	"github.com/amudai/amudai-go/internal/format/schema"
	"github.com/amudai/amudai-go/internal/testing/faultstore"
	"github.com/amudai/amudai-go/internal/testing/searchtest"
	"github.com/amudai/amudai-go/internal/testing/sweep"
	"github.com/amudai/amudai-go/shard/internal/index"
	"github.com/amudai/amudai-go/shard/internal/shardfile"
	"github.com/amudai/amudai-go/storage"
)

var tctx = context.Background()

var joinSchema = arrow.NewSchema([]arrow.Field{
	{Name: "line", Type: arrow.BinaryTypes.String, Nullable: true},
	{Name: "other", Type: arrow.BinaryTypes.String, Nullable: true},
	{Name: "number", Type: arrow.PrimitiveTypes.Int64, Nullable: true},
}, nil)

// definitions are indexes of all kinds that can be joined, with all properties.
func definitions() (all []Definition) {
	name := func(name string, value any) shardfile.Property { return shardfile.Property{Name: name, Value: value} }
	for _, tokenizer := range []string{"unicode-log", "unicode-word", "trivial"} {
		for _, collation := range []string{"unicode-case-insensitive", "unicode-case-preserving"} {
			p := []shardfile.Property{name(index.PropertyTokenizers, []any{tokenizer, tokenizer}), name(index.PropertyCollation, collation)}
			all = append(all, Definition{Columns: []string{"line", "other"}, Properties: p})
			p = append(p, name(index.PropertyCoarse, int64(16)), name(index.PropertyPhrases, tokenizer != "trivial"))
			all = append(all, Definition{Columns: []string{"line", "other"}, Properties: p})
		}
	}
	all = append(all, Definition{Type: index.Hash, Columns: []string{"line", "number"}}, Definition{Type: index.Hash, Columns: []string{"line", "number"}, Together: true})
	return append(all, Definition{Type: index.Ranges, Columns: []string{"line", "other"}, Properties: []shardfile.Property{name(index.PropertyRows, int64(16))}})
}

func plan(t require.TestingT, d Definition) *Plan {
	fields, _, err := arrowmap.FromArrow(joinSchema, arrowmap.Options{})
	require.NoError(t, err)
	message, err := schema.Build(fields)
	require.NoError(t, err)
	stored, err := schema.Parse(message)
	require.NoError(t, err)
	p, err := New(stored, joinSchema, d)
	require.NoError(t, err)
	return p
}

// build builds the index of some rows of arrays.
func (p *Plan) build(t require.TestingT, columns []arrow.Array, from, to int) Part {
	b, err := p.NewBuilder(Options{}, 1)
	require.NoError(t, err)
	var own []arrow.Array
	for _, c := range columns {
		own = append(own, array.NewSlice(c, int64(from), int64(to)))
	}
	require.NoError(t, p.Add(b, 0, own, to-from))
	built, err := p.Write(tctx, int64(to-from), []index.Builder{b}, Options{})
	require.NoError(t, err)
	return partOf(t, built, to-from)
}

// partOf is what was built, in memory.
func partOf(t require.TestingT, built *Built, rows int) Part {
	part := Part{Descriptor: built.Descriptor, Rows: int64(rows)}
	for i, s := range built.Spools {
		var file bytes.Buffer
		_, err := s.WriteTo(&file)
		require.NoError(t, err)
		part.Artifacts = append(part.Artifacts, storage.ByteRange{Reader: storage.FromBytes(built.Names[i], file.Bytes()), Size: s.Size()})
	}
	require.NoError(t, built.Close())
	return part
}

func (p *Part) bytes(t require.TestingT) []byte {
	b, err := storage.ReadRange(tctx, p.Artifacts[0].Reader, 0, p.Artifacts[0].Size)
	require.NoError(t, err)
	return b
}

// columnsOf are columns of texts, of which some parts are null from one end to the other.
func columnsOf(texts []string, r *rand.Rand) []arrow.Array {
	b := array.NewRecordBuilder(memory.DefaultAllocator, joinSchema)
	defer b.Release()
	line, other, number := b.Field(0).(*array.StringBuilder), b.Field(1).(*array.StringBuilder), b.Field(2).(*array.Int64Builder)
	null, noNumber := false, false
	for i, text := range texts {
		if i%32 == 0 {
			null, noNumber = r.IntN(4) == 0, r.IntN(4) == 0
		}
		if null || r.IntN(10) == 0 {
			line.AppendNull()
		} else {
			line.Append(text)
		}
		if noNumber {
			number.AppendNull()
		} else {
			number.Append(r.Int64N(50))
		}
		other.Append(texts[r.IntN(len(texts))])
	}
	return b.NewRecordBatch().Columns()
}

func stringsOf(texts ...string) arrow.Array {
	b := array.NewStringBuilder(memory.DefaultAllocator)
	defer b.Release()
	b.AppendValues(texts, nil)
	return b.NewArray()
}

// divide makes the index of each of the parts that end at some rows.
func (p *Plan) divide(t require.TestingT, columns []arrow.Array, ends ...int) (parts []Part) {
	from := 0
	for _, to := range ends {
		parts = append(parts, p.build(t, columns, from, to))
		from = to
	}
	return parts
}

// requireSame requires that two indexes answer alike, and know no difference.
func requireSame(t require.TestingT, p *Plan, m *searchtest.Maker, want, got Part) {
	require.True(t, index.SameDefinition(want.Descriptor, got.Descriptor))
	a, err := p.Kind.Open(tctx, want.Descriptor, want.Artifacts, want.Rows)
	require.NoError(t, err)
	b, err := p.Kind.Open(tctx, got.Descriptor, got.Artifacts, got.Rows)
	require.NoError(t, err)
	require.NoError(t, b.Compare(tctx, a, func(err error) error { return err }))
	var conditions []index.Condition
	for range 20 {
		line, ok := leaf(t, m.Leaf().Text)
		if !ok {
			continue
		}
		number, _ := leaf(t, fmt.Sprintf("number in (%d, 7)", len(conditions)))
		for field := range p.Descriptor.IndexedFields {
			for _, parts := range [][]index.Part{{line}, {number}, {line, number}} {
				conditions = append(conditions, index.Condition{Field: field, Parts: parts})
			}
		}
	}
	for _, c := range conditions {
		if _, ok := p.Kind.Cost(p.Descriptor, nil, &c); !ok {
			continue
		}
		maybe, sure, err := a.Ask(tctx, c, rowset.All(want.Rows))
		require.NoError(t, err)
		otherMaybe, otherSure, err := b.Ask(tctx, c, rowset.All(want.Rows))
		require.NoError(t, err)
		require.Equal(t, sure, otherSure)
		if p.Kind.Type() == index.Hash { // it finds some more
			require.True(t, maybe.Minus(otherMaybe).Empty())
			continue
		}
		require.Equal(t, maybe, otherMaybe)
	}
}

// leaf is a condition on a column.
func leaf(t require.TestingT, text string) (index.Part, bool) {
	bound, err := predicate.BindText(text, joinSchema)
	require.NoError(t, err)
	if bound.Root().Kind != predicate.NodeLeaf {
		return index.Part{}, false
	}
	name := bound.Column(bound.Root().Column).Path
	f, _ := joinSchema.FieldsByName(name)
	return index.Part{Path: []string{name}, Type: f[0].Type, Test: bound.Root().Test}, true
}

// A joined index answers as one of all rows, of which it has the bytes. It cannot be joined if lists or pages of several rows are in two parts.
func TestJoin(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		rows := rapid.SampledFrom([]int{1, 100, 400}).Draw(t, "rows")
		texts := searchtest.Texts(r, rows, false)
		columns, m := columnsOf(texts, r), searchtest.NewMaker(r, texts)
		ends, aligned := []int{0}, true
		step := rapid.SampledFrom([]int{1, 32}).Draw(t, "step")
		for range rapid.IntRange(0, 5).Draw(t, "cuts") {
			ends = append(ends, r.IntN(rows)/step*step)
			aligned = aligned && ends[len(ends)-1]%16 == 0
		}
		slices.Sort(ends)
		ends = append(ends, rows)
		p := plan(t, rapid.SampledFrom(definitions()).Draw(t, "definition"))
		built, err := p.Join(tctx, p.divide(t, columns, ends...), Options{Memory: rapid.SampledFrom([]int64{0, 1}).Draw(t, "memory")})
		coarse := slices.ContainsFunc(p.Descriptor.Properties, func(p *commonpb.NameValuePair) bool { return p.GetName() == index.PropertyCoarse })
		if !aligned && (coarse || p.Kind.Type() == index.Ranges) {
			require.ErrorIs(t, err, index.ErrCannotJoin)
			return
		}
		if p.Kind.Type() == index.Hash && errors.Is(err, index.ErrCannotJoin) { // a part of few rows
			return
		}
		require.NoError(t, err)
		whole, joined := p.build(t, columns, 0, rows), partOf(t, built, rows)
		requireSame(t, p, m, whole, joined)
		require.True(t, p.Kind.Type() == index.Hash || bytes.Equal(whole.bytes(t), joined.bytes(t)))
	})
}

// So many indexes are joined that each has little of the memory.
func TestJoinMany(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	texts := searchtest.Texts(r, 16_000, false)
	columns, m := columnsOf(texts, r), searchtest.NewMaker(r, texts)
	eachKind(t, func(p *Plan) {
		var ends []int
		for i := range 1000 {
			ends = append(ends, 16*(i+1))
		}
		built, err := p.Join(tctx, p.divide(t, columns, ends...), Options{})
		require.NoError(t, err)
		whole, joined := p.build(t, columns, 0, len(texts)), partOf(t, built, len(texts))
		if requireSame(t, p, m, whole, joined); p.Kind.Type() != index.Hash {
			require.True(t, bytes.Equal(whole.bytes(t), joined.bytes(t)))
		}
	})
	p := plan(t, Definition{Columns: []string{"line"}})
	none, err := p.Join(tctx, nil, Options{})
	require.NoError(t, err)
	empty := p.build(t, columns, 0, 0)
	joined := partOf(t, none, 0)
	require.Equal(t, empty.bytes(t), joined.bytes(t))
}

// Indexes of other kinds, of other definitions, and with another identity are not joined.
func TestJoinOfOther(t *testing.T) {
	columns := columnsOf([]string{"a b", "c", "d e"}, rand.New(rand.NewPCG(1, 1)))
	columns[0] = stringsOf("a b", "c", "d e")
	p := plan(t, Definition{Columns: []string{"line"}})
	part := p.build(t, columns, 0, 3)
	for _, d := range []Definition{
		{Columns: []string{"other"}}, {Columns: []string{"line", "other"}}, {Type: index.Ranges, Columns: []string{"line"}},
		{Columns: []string{"line"}, Properties: []shardfile.Property{{Name: index.PropertyCoarse, Value: int64(16)}}},
		{Columns: []string{"line"}, Properties: []shardfile.Property{{Name: index.PropertyTokenizers, Value: []any{"trivial"}}}},
	} {
		q := plan(t, d)
		_, err := p.Join(tctx, []Part{part, q.build(t, columns, 0, 3)}, Options{})
		require.ErrorIs(t, err, index.ErrCannotJoin)
	}
	for _, kind := range []string{index.Inverted, index.Hashmap} {
		q := plan(t, Definition{Type: kind, Columns: []string{"line"}})
		_, err := q.Join(tctx, []Part{q.build(t, columns, 0, 3)}, Options{})
		require.ErrorIs(t, err, index.ErrCannotJoin)
	}
	other := p.build(t, columns, 1, 3)
	other.Artifacts = p.build(t, columns, 0, 2).Artifacts
	_, err := p.Join(tctx, []Part{part, other}, Options{})
	require.ErrorIs(t, err, fault.ErrCorrupt)
	require.NotErrorIs(t, err, index.ErrCannotJoin)
	require.ErrorContains(t, err, "identity")
	part.Rows++
	_, err = p.Join(tctx, []Part{part}, Options{})
	require.ErrorIs(t, err, fault.ErrCorrupt)
}

// eachKind is an index of each kind that can be joined.
func eachKind(t require.TestingT, call func(p *Plan)) {
	for _, d := range []Definition{{Columns: []string{"line"}}, {Type: index.Hash, Columns: []string{"line"}},
		{Type: index.Ranges, Columns: []string{"line"}, Properties: []shardfile.Property{{Name: index.PropertyRows, Value: int64(16)}}}} {
		call(plan(t, d))
	}
}

// join joins parts that have 320 rows.
func (p *Plan) join(t require.TestingT, parts []Part) Part {
	built, err := p.Join(tctx, parts, Options{})
	require.NoError(t, err)
	return partOf(t, built, 320)
}

// A damaged part is an error, which names its file, or is joined rightly.
func TestJoinDamage(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	columns := columnsOf(searchtest.Texts(r, 320, false), r)
	eachKind(t, func(p *Plan) {
		parts := p.divide(t, columns, 160, 320)
		sound := p.join(t, parts)
		file := parts[1].bytes(t)
		for bit := 0; bit < 8*len(file); bit += 8*len(file)/sweep.Count(200, 8*len(file)) | 1 {
			damaged := bytes.Clone(file)
			damaged[bit/8] ^= 1 << (bit % 8)
			parts[1].Artifacts[0].Reader = storage.FromBytes("damaged", damaged)
			built, err := p.Join(tctx, parts, Options{})
			if err != nil {
				require.True(t, fault.Is(err), "%v", err)
				require.ErrorContains(t, err, "damaged")
				continue
			}
			joined := partOf(t, built, 320)
			require.Equal(t, sound.bytes(t), joined.bytes(t), "bit %d", bit)
		}
	})
}

// Whatever read or temporary file fails, joining is an error or right.
func TestJoinFaults(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	columns := columnsOf(searchtest.Texts(r, 320, false), r)
	eachKind(t, func(p *Plan) {
		parts := p.divide(t, columns, 160, 320)
		sound := p.join(t, parts)
		store, faults := storage.NewMemory(), faultstore.New()
		for i := range parts {
			name := fmt.Sprintf("mem://%d", i)
			require.NoError(t, store.Put(name, parts[i].bytes(t)))
			var err error
			parts[i].Artifacts[0].Reader, err = faults.Wrap(store).Open(tctx, name)
			require.NoError(t, err)
		}
		for k := 1; ; k++ {
			faults.FailAt(faultstore.Read, k)
			before := faults.Count(faultstore.Read)
			built, err := p.Join(tctx, parts, Options{Parallelism: 1})
			if err != nil {
				require.ErrorIs(t, err, faultstore.Err)
				continue
			}
			require.Less(t, faults.Count(faultstore.Read)-before, k)
			require.Greater(t, k, 2)
			joined := partOf(t, built, 320)
			require.Equal(t, sound.bytes(t), joined.bytes(t))
			break
		}
	})
	p := plan(t, Definition{Columns: []string{"line"}})
	ctx, cancel := context.WithCancel(tctx)
	cancel()
	_, err := p.Join(ctx, p.divide(t, columns, 160, 320), Options{})
	require.ErrorIs(t, err, context.Canceled)
}

// BenchmarkJoin compares joining 100 indexes of 10,000 lines of logs with building the index of all lines, which are in memory.
func BenchmarkJoin(b *testing.B) {
	const parts, each = 100, 10_000
	corpus := searchtest.Lines(b, 2000)
	texts, ends := make([]string, parts*each), make([]int, parts)
	for i := range texts { // lines as long as those of logs, and numbers that most lines have for themselves
		texts[i] = fmt.Sprintf("%s id=%d", corpus[i*131%len(corpus)], i*7919%1_000_003)
	}
	for i := range ends {
		ends[i] = (i + 1) * each
	}
	columns := []arrow.Array{stringsOf(texts...), nil, nil}
	columns[1], columns[2] = columns[0], columns[0]
	for _, kind := range []string{index.Terms, index.Hash} {
		p := plan(b, Definition{Type: kind, Columns: []string{"line"}})
		all := p.divide(b, columns, ends...)
		b.Run("join "+kind, func(b *testing.B) {
			for b.Loop() {
				built, err := p.Join(tctx, all, Options{})
				if err == nil {
					err = built.Close()
				}
				if err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run("build "+kind, func(b *testing.B) {
			for b.Loop() {
				p.build(b, columns, 0, len(texts))
			}
		})
	}
}
