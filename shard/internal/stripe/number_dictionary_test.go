package stripe_test

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/amudai/amudai-go/dictionary"
	"github.com/amudai/amudai-go/encoding"
	"github.com/amudai/amudai-go/encoding/bytestring"
	"github.com/amudai/amudai-go/encoding/numeric"
	commonpb "github.com/amudai/amudai-go/gen/amudai/common"
	shardpb "github.com/amudai/amudai-go/gen/amudai/shard"
	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
	"github.com/amudai/amudai-go/internal/base/bitmap"
	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/engine/rowset"
	"github.com/amudai/amudai-go/internal/engine/valueset"
	"github.com/amudai/amudai-go/internal/format/arrowmap"
	"github.com/amudai/amudai-go/internal/format/arrowmap/convert"
	"github.com/amudai/amudai-go/internal/format/decimal"
	"github.com/amudai/amudai-go/internal/format/edition"
	"github.com/amudai/amudai-go/internal/testing/arrowgen"
	"github.com/amudai/amudai-go/internal/testing/sweep"
	"github.com/amudai/amudai-go/shard/internal/stripe"
	"github.com/amudai/amudai-go/shard/internal/stripe/blocks"
	"github.com/amudai/amudai-go/shard/internal/stripe/write"
)

// numberForm is a form of value dictionaries of numbers.
type numberForm struct {
	packed bool // the dictionary is packed
	apart  bool // nulls are in a PRESENCE buffer
	spare  bool // the dictionary has an entry that no row uses, and that hardly any Arrow type can hold
}

func (f numberForm) String() string {
	return fmt.Sprintf("packed=%v,apart=%v,spare=%v", f.packed, f.apart, f.spare)
}

var numberForms = []numberForm{{}, {packed: true}, {apart: true}, {packed: true, apart: true}, {spare: true}, {true, true, true}}

// storedNumbers are functions for the stored numbers of a block, as bytes.
var storedNumbers = stripe.PerNumber[func(block []byte, valid []byte, at, n int, o numeric.BlockOptions) ([]byte, error)]{
	decoded[int8], decoded[int16], decoded[int32], decoded[int64],
	decoded[uint8], decoded[uint16], decoded[uint32], decoded[uint64], decoded[float32], decoded[float64],
}

func decoded[T numeric.Value](block []byte, valid []byte, at, n int, o numeric.BlockOptions) ([]byte, error) {
	dst := make([]T, n)
	var s numeric.Scratch
	_, err := numeric.DecodeBlock(dst, valid, at, block, o, &s)
	return arrowutil.Bytes(dst), err
}

// storedDecimals is the same for decimals.
func storedDecimals(block []byte, valid []byte, at, n int, o numeric.BlockOptions) ([]byte, error) {
	var s bytestring.Scratch
	b, err := bytestring.Parse(block, n, decimal.Width, bytestring.BlockOptions{Checksums: o.Checksums}, &s)
	if err != nil {
		return nil, err
	}
	b.Validity(valid, at)
	dst := make([]byte, n*decimal.Width, n*decimal.Width+64)
	return dst, bytestring.Decode[int64](b, dst, nil, 0)
}

// intoDictionaries gives the nodes of numbers and decimals of a column value dictionaries in place of their blocks, and counts them.
func intoDictionaries(t *testing.T, a *artifact, col *arrowmap.Column, form numberForm) (n int) {
	for i := range col.Children {
		n += intoDictionaries(t, a, &col.Children[i], form)
	}
	typ, width := numeric.U8, decimal.Width
	decode, ok := storedNumbers.Of(col.Stored.Type, col.Stored.Signed)
	if ok {
		typ, _ = stripe.NumberType(col.Stored.Type, col.Stored.Signed)
		width = typ.Size()
	} else if col.Stored.IsDecimal() {
		decode = storedDecimals
	} else {
		return n
	}
	d := a.nodes[col.ID]
	buffer := stripe.FindBuffer(stripe.NativeEncoding(d).GetBuffers(), shardpb.BufferKind_DATA)
	if buffer == nil || d.Field.GetPositionCount() == 0 || d.Field.GetNullCount() == d.Field.GetPositionCount() {
		return n
	}
	rows := int(d.Field.GetPositionCount())
	r, err := blocks.Open(t.Context(), a, blocks.Node{ID: col.ID, Type: col.Stored.Type, Signed: col.Stored.Signed, FixedSize: col.Stored.FixedSize}, buffer, 0)
	require.NoError(t, err)
	bits, values := make([]byte, (rows+7)/8), []byte(nil)
	var s blocks.Scratch
	require.NoError(t, r.Each(t.Context(), &s, rowset.All(int64(rows)), func(p *blocks.Part, block []byte) error {
		part, err := decode(block, bits, p.At, p.N, r.Options)
		values = append(values, part...)
		return err
	}))
	b := dictionary.NewBuilder(byte(col.Stored.Type), width)
	if ok {
		b.Key = dictionary.NumberKey(typ)
	}
	if form.spare {
		b.Add([]byte("\xfb\xff\xff\x7f\xfe\xff\xff\x7f\xff\xff\xff\xff\xff\xff\xff\x5f")[:width]) // a NaN, or about the largest
	}
	codes := make([]uint32, rows)
	for i := range codes {
		switch valid := (bitmap.Bits{Data: bits, Len: rows}).At(i); {
		case valid:
			codes[i] = b.Add(values[i*width : (i+1)*width])
		case !form.apart:
			codes[i] = b.AddNull()
		case form.spare:
			codes[i] = 1 // of a value
		}
	}
	size, one := uint64(b.Len()), uint64(1)
	d.Field.DictionarySize = &size
	var out []*shardpb.EncodedBuffer
	place := func(desc *shardpb.EncodedBuffer, raw []byte) {
		a.bytes = append(a.bytes, make([]byte, -len(a.bytes)&63)...)
		desc.Buffer = &commonpb.DataRef{Range: &commonpb.UInt64Range{Start: uint64(len(a.bytes)), End: uint64(len(a.bytes) + len(raw))}}
		a.bytes = append(a.bytes, raw...)
		out = append(out, desc)
	}
	place(&shardpb.EncodedBuffer{Kind: shardpb.BufferKind_DATA, BlockChecksums: true, BlockCount: &one}, plainBlock(codes))
	if form.apart && d.Field.GetNullCount() > 0 {
		place(&shardpb.EncodedBuffer{Kind: shardpb.BufferKind_PRESENCE, BlockChecksums: true, BlockCount: &one}, plainBlock(bits))
	}
	raw := b.Append(nil)
	if form.packed {
		raw, err = b.AppendPacked(nil, encoding.Options{Features: edition.E2026.Features()})
		require.NoError(t, err)
	}
	place(&shardpb.EncodedBuffer{Kind: shardpb.BufferKind_VALUE_DICTIONARY}, raw)
	stripe.NativeEncoding(d).Buffers = out
	return n + 1
}

// Numbers, dates and decimals with value dictionaries, at any depth, are the same as without: whole, in part, row by row, by their nulls and
// by their codes.
func TestNumberDictionaries(t *testing.T) {
	ctx := context.Background()
	const n = 900
	total := 0
	for k, dt := range arrowgen.Types() {
		for i, form := range numberForms {
			s := arrow.NewSchema([]arrow.Field{{Name: "c", Type: dt, Nullable: true}}, nil)
			g := arrowgen.New(uint64(k + i))
			g.Nulls = []float64{0.1, 0, 0.6}[(k+i)%3]
			batch := g.Batch(s, n)
			a, columns := writeStripe(t, s, []arrow.RecordBatch{batch}, write.Options{Encoding: encoding.Options{Features: edition.E2026.Features()}})
			nodes := intoDictionaries(t, a, &columns[0], form)
			if nodes == 0 {
				continue
			}
			total += nodes
			mem := memory.NewCheckedAllocator(memory.DefaultAllocator)
			c, err := openColumn(ctx, a, columns[0], mem)
			require.NoError(t, err, "%s %v", dt, form)
			r := rand.New(rand.NewPCG(uint64(k), uint64(i)))
			for _, chance := range []float64{1, 0.3, 0.01} {
				set, _ := randomRows(r, n, chance, n)
				requireRead(t, c, set, batch.Column(0))
			}
			if len(columns[0].Children) == 0 {
				requireCodes(t, c, batch.Column(0), form)
			}
			mem.AssertSize(t, 0)
		}
	}
	require.Greater(t, total, 300)
}

// requireRead requires that some rows of a column are those of all.
func requireRead(t *testing.T, c *testColumn, set rowset.Set, all arrow.Array) {
	t.Helper()
	want, err := arrowutil.Take(memory.DefaultAllocator, all, slices.Collect(set.Rows()))
	require.NoError(t, err)
	defer want.Release()
	got, err := c.ReadRows(t.Context(), set)
	require.NoError(t, err)
	defer got.Release()
	require.True(t, arrow.TypeEqual(all.DataType(), got.DataType()), "%s became %s", all.DataType(), got.DataType())
	require.Equal(t, -1, arrowutil.Difference(want, got), "%s", all.DataType())
}

// requireCodes requires that a flat column answers by its entries what its values are.
func requireCodes(t *testing.T, c *testColumn, all arrow.Array, form numberForm) {
	set := rowset.All(int64(all.Len()))
	physical, err := c.ReadPhysical(t.Context(), set, c.o)
	require.NoError(t, err)
	defer physical.Release()
	nulls, ok, err := c.FindNulls(t.Context(), set, false, c.o)
	require.NoError(t, err)
	require.True(t, ok)
	var want []int64
	for i := range all.Len() {
		if physical.IsNull(i) {
			want = append(want, int64(i))
		}
	}
	requireSet(t, want, nulls, all.DataType())
	entries, err := c.Entries(t.Context())
	require.NoError(t, err)
	if entries == nil {
		require.True(t, form.spare || form.apart)
		return
	}
	require.True(t, arrow.TypeEqual(physical.DataType(), entries.DataType()))
	found := int64(0)
	for k := range entries.Len() {
		keep := make([]byte, entries.Len())
		keep[k] = 1
		rows, err := c.SelectCodes(t.Context(), set, keep)
		require.NoError(t, err)
		found += rows.Len()
		read, err := c.ReadPhysical(t.Context(), rows, c.o)
		require.NoError(t, err)
		repeated, err := c.Repeat(t.Context(), k, rows.Len())
		require.NoError(t, err)
		require.Equal(t, -1, arrowutil.Difference(read, repeated), "%s", all.DataType())
		one := array.NewSlice(entries, int64(k), int64(k)+1)
		if rows.Len() > 0 {
			first := array.NewSlice(read, 0, 1)
			require.Equal(t, -1, arrowutil.Difference(one, first), "%s", all.DataType())
			first.Release()
		}
		one.Release()
		repeated.Release()
		read.Release()
	}
	require.EqualValues(t, all.Len(), found)
}

// FindNumbers of a column with a value dictionary finds what it finds without one.
func TestFindNumbersInDictionaries(t *testing.T) {
	const n = 3000
	g := arrowgen.New(3)
	asked := 0
	for _, dt := range arrowgen.ReferenceTypes() {
		s := arrow.NewSchema([]arrow.Field{{Name: "c", Type: dt, Nullable: true}}, nil)
		batch := g.Batch(s, n)
		o := write.Options{Encoding: encoding.Options{Features: edition.E2026.Features()}}
		plain, columns := writeStripe(t, s, []arrow.RecordBatch{batch}, o)
		coded, _ := writeStripe(t, s, []arrow.RecordBatch{batch}, o)
		if len(columns[0].Children) > 0 || intoDictionaries(t, coded, &columns[0], numberForm{packed: true}) == 0 {
			continue
		}
		without, err := openColumn(t.Context(), plain, columns[0], nil)
		require.NoError(t, err)
		with, err := openColumn(t.Context(), coded, columns[0], nil)
		require.NoError(t, err)
		for _, test := range []any{
			valueset.Ints{{Lo: -1000, Hi: 100}, {Lo: 1 << 40, Hi: 1 << 60}}, valueset.Decimals{},
			valueset.Uints{{Lo: 1, Hi: 100}, {Lo: 1 << 20, Hi: math.MaxUint64}}, valueset.Floats{Intervals: []valueset.Interval[float64]{{Lo: -1, Hi: math.Inf(1)}}},
		} {
			want, ok, err := without.FindNumbers(t.Context(), rowset.All(n), test)
			require.NoError(t, err)
			got, can, err := with.FindNumbers(t.Context(), rowset.All(n), test)
			require.NoError(t, err)
			require.Equal(t, ok, can, "%s", dt)
			require.True(t, want.Equal(got), "%s %v", dt, test)
			if ok && !want.Empty() {
				asked++
			}
		}
	}
	require.Greater(t, asked, 15)
}

// A stored value that the Arrow type cannot hold is an error of the rows that have it, and of no others.
func TestMisfitsInDictionaries(t *testing.T) {
	seconds := arrow.NewSchema([]arrow.Field{{Name: "c", Type: &arrow.TimestampType{Unit: arrow.Second}}}, nil)
	times := []int64{1, 2, 200_000_000_000, 4, 2} // the year 8307
	arr := arrowutil.Make(seconds.Field(0).Type, 5, []*memory.Buffer{nil, memory.NewBufferBytes(arrowutil.Bytes(times))}, nil, 0)
	for _, form := range numberForms {
		a, columns := writeStripe(t, seconds, []arrow.RecordBatch{array.NewRecordBatch(seconds, []arrow.Array{arr}, 5)}, write.Options{})
		col := columns[0]
		require.Equal(t, 1, intoDictionaries(t, a, &col, form))
		col.Arrow.Type, col.Plain, col.Unit = arrow.FixedWidthTypes.Timestamp_ns, arrow.FixedWidthTypes.Timestamp_ns, convert.Nanosecond
		c, err := openColumn(t.Context(), a, col, nil)
		require.NoError(t, err)
		entries, err := c.Entries(t.Context())
		require.NoError(t, err)
		require.Nil(t, entries)
		_, err = c.Read(t.Context(), 1, 5)
		require.ErrorIs(t, err, fault.ErrUnsupported)
		var value *stripe.ValueError
		require.ErrorAs(t, err, &value)
		require.EqualValues(t, 2, value.Row)
		got, err := c.Read(t.Context(), 3, 5)
		require.NoError(t, err)
		require.EqualValues(t, int64(4_000_000_000), got.(*array.Timestamp).Value(0))
		require.EqualValues(t, 2_000_000_000, got.(*array.Timestamp).Value(1))
		got.Release()
	}
}

// Dictionaries of other types and sizes, with ids out of their order, and codes beyond them are errors.
func TestDamagedNumberDictionaries(t *testing.T) {
	s := arrow.NewSchema([]arrow.Field{{Name: "c", Type: arrow.PrimitiveTypes.Int64}}, nil)
	batch := arrowgen.New(1).Batch(s, 500)
	le := binary.LittleEndian
	for name, lie := range map[string]func(b []byte){
		"another type":    func(b []byte) { b[0]++ },
		"another size":    func(b []byte) { le.PutUint32(b[10:], 4) },
		"any size":        func(b []byte) { le.PutUint32(b[10:], 0) },
		"fewer entries":   func(b []byte) { le.PutUint32(b[1:], le.Uint32(b[1:])-1) },
		"more entries":    func(b []byte) { le.PutUint32(b[1:], le.Uint32(b[1:])+1) },
		"shorter values":  func(b []byte) { le.PutUint64(b[22:], le.Uint64(b[22:])-16) },
		"another payload": func(b []byte) { b[136]++ },
	} {
		a, columns := writeStripe(t, s, []arrow.RecordBatch{batch}, write.Options{})
		require.Equal(t, 1, intoDictionaries(t, a, &columns[0], numberForm{}))
		at := stripe.FindBuffer(stripe.NativeEncoding(a.nodes[columns[0].ID]).Buffers, shardpb.BufferKind_VALUE_DICTIONARY).Buffer.Range
		raw := a.bytes[at.Start:at.End]
		lie(raw)
		le.PutUint32(raw[124:], encoding.BlockChecksum(raw[:124]))
		c, err := openColumn(t.Context(), a, columns[0], nil)
		require.NoError(t, err)
		_, err = c.Read(t.Context(), 0, 500)
		require.True(t, errors.Is(err, fault.ErrCorrupt) || errors.Is(err, fault.ErrChecksum), "%s: %v", name, err)
		require.ErrorContains(t, err, "VALUE_DICTIONARY", name)
	}
}

// poolBatch has columns of some types, each of a few random values in random order, then of others.
func poolBatch(types []arrow.DataType, rows, distinct, others int, nulls float64) arrow.RecordBatch {
	fields, columns := make([]arrow.Field, len(types)), make([]arrow.Array, len(types))
	for i, dt := range types {
		g := arrowgen.New(uint64(i))
		b := array.NewBuilder(g.Mem, arrow.PrimitiveTypes.Uint64).(*array.Uint64Builder)
		r := g.Rand
		pool := make([]uint64, distinct)
		for k := range pool {
			pool[k] = r.Uint64()
		}
		for k := range rows {
			switch {
			case r.Float64() < nulls:
				b.AppendNull()
			case k < rows-others:
				b.Append(pool[r.IntN(distinct)])
			default:
				b.Append(r.Uint64())
			}
		}
		fields[i] = arrow.Field{Name: fmt.Sprint(dt), Type: dt, Nullable: true}
		columns[i] = numbersOf(b.NewUint64Array(), dt)
	}
	return array.NewRecordBatch(arrow.NewSchema(fields, nil), columns, int64(rows))
}

// numbersOf makes values of a type of random bits. Times keep within some thousand years, floats may be NaN and -0.0.
func numbersOf(words *array.Uint64, dt arrow.DataType) arrow.Array {
	width := dt.(arrow.FixedWidthDataType).Bytes()
	data := make([]byte, 0, words.Len()*width)
	for _, v := range words.Uint64Values() {
		switch dt.ID() {
		case arrow.TIMESTAMP:
			v >>= 16
		case arrow.DATE32:
			v %= 2_000_000
		case arrow.DURATION:
			v = uint64(int64(v) >> 12)
		case arrow.DECIMAL128:
			v >>= 10
		case arrow.FLOAT32, arrow.FLOAT64:
			if v%100 < 3 {
				v = []uint64{1 << 63, 0x7ff8_0000_0000_0001, 0x8000_0000_0000_0000 | 0x7ff8<<48}[v%100]
				if width == 4 {
					v >>= 32
				}
			}
		}
		data = append(data, append(binary.LittleEndian.AppendUint64(nil, v), make([]byte, 8)...)[:width]...)
	}
	valid := words.Data().Buffers()[0]
	if valid != nil {
		valid.Retain()
	}
	return arrowutil.Make(dt, words.Len(), []*memory.Buffer{valid, memory.NewBufferBytes(data)}, nil, words.NullN())
}

var pooledTypes = []arrow.DataType{
	arrow.PrimitiveTypes.Int64, arrow.PrimitiveTypes.Uint64, arrow.PrimitiveTypes.Float64, arrow.PrimitiveTypes.Float32, arrow.PrimitiveTypes.Int32,
	arrow.PrimitiveTypes.Uint32, arrow.FixedWidthTypes.Timestamp_us, arrow.FixedWidthTypes.Duration_ns, arrow.PrimitiveTypes.Int16, arrow.FixedWidthTypes.Date32,
	&arrow.Decimal128Type{Precision: 20, Scale: 2},
}

// dictionaries counts the columns with value dictionaries.
func dictionaries(a *artifact, columns []arrowmap.Column) (n int) {
	for _, col := range columns {
		if a.nodes[col.ID].Field.DictionarySize != nil {
			n++
		}
	}
	return n
}

// Writers make value dictionaries of numbers that repeat, and give them up once they do not. Values are the same, and all of the
// descriptor but the size of the dictionary, and range indexes.
func TestWriteNumberDictionaries(t *testing.T) {
	const rows = 150_000
	for i, c := range []struct{ distinct, others, least, most int }{
		{12_000, 0, 7, 10},        // all wide types
		{20, 0, 0, 0},             // blocks do as well
		{12_000, 40_000, 0, 10},   // given up at the end, if it does not pay
		{12_000, 90_000, 0, 0},    // given up at the second stage
		{1, rows, 0, 0},           // never begun
		{4000, rows - 1000, 0, 0}, // the same
	} {
		for _, nulls := range []float64{0, 0.2} {
			if i > 0 && nulls == 0 {
				continue
			}
			batch := poolBatch(pooledTypes, rows, c.distinct, c.others, nulls)
			for _, p := range profiles {
				if (testing.Short() || i > 0 || nulls > 0 && !sweep.All()) && p != encoding.Balanced {
					continue
				}
				o := write.Options{Parallelism: 3, Encoding: encoding.Options{Profile: p, Features: edition.E2026.Features()}}
				check(t, batch.Schema(), []arrow.RecordBatch{batch.NewSlice(0, 70_000), batch.NewSlice(70_000, rows)}, o)
				with, columns := writeStripe(t, batch.Schema(), []arrow.RecordBatch{batch}, o)
				o.Encoding.Features &^= edition.Only(edition.NumberDictionaries)
				without, _ := writeStripe(t, batch.Schema(), []arrow.RecordBatch{batch}, o)
				require.Zero(t, dictionaries(without, columns))
				n := dictionaries(with, columns)
				if p == encoding.ProfilePlain {
					require.Zero(t, n)
				} else {
					require.True(t, c.least <= n && n <= c.most, "%v %v: %d dictionaries", c, p, n)
					last := &columns[len(columns)-1]
					require.True(t, i > 0 || last.Stored.IsDecimal() && with.nodes[last.ID].Field.DictionarySize != nil, "%v: no dictionary of decimals", p)
				}
				for _, col := range columns {
					x, y := with.nodes[col.ID], without.nodes[col.ID]
					field := proto.CloneOf(x.Field)
					field.DictionarySize = nil
					require.True(t, proto.Equal(y.Field, field), "%s", col.Arrow.Name)
					require.Equal(t, rangeIndex(without, y), rangeIndex(with, x), col.Arrow.Name)
				}
				if n == 0 {
					require.Equal(t, len(without.bytes), len(with.bytes))
				}
			}
		}
	}
}

// rangeIndex is the bytes of the range index of a node.
func rangeIndex(a *artifact, d *shardpb.StripeFieldDescriptor) []byte {
	r := stripe.FindBuffer(stripe.NativeEncoding(d).GetBuffers(), shardpb.BufferKind_RANGE_INDEX).GetBuffer().GetRange()
	return a.bytes[r.GetStart():r.GetEnd()]
}

// plainBlock is a Plain block of non-null numbers, with a checksum.
func plainBlock[T numeric.Value](values []T) []byte {
	e := numeric.NewEncoder[T](encoding.Options{Profile: encoding.ProfilePlain})
	b, mark := encoding.BeginBlock(nil)
	b = encoding.EndPresence(b, mark)
	return encoding.EndBlock(append(b, e.AppendTree(nil, values, bitmap.All(len(values)))...), mark, true)
}
