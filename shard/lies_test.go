package shard_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/encoding"
	commonpb "github.com/amudai/amudai-go/gen/amudai/common"
	shardpb "github.com/amudai/amudai-go/gen/amudai/shard"
	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/format/edition"
	"github.com/amudai/amudai-go/internal/format/schema"
	"github.com/amudai/amudai-go/shard"
)

// The columns of liesShard, in order, and the schema ids of their items.
const (
	colInt, colText, colCode, colList = 0, 1, 2, 3
	colBool, colDecimal               = 5, 6
	colFixedList, colFixedBytes       = 9, 11
	colLargeList, colConstant         = 12, 14
	idListItem, idStructItem          = 4, 8
	idLargeItem                       = 13
	liesRows                          = 500
)

// liesShard has a column of each kind of node, in one stripe.
func liesShard(t testing.TB) *Parts {
	i64, str := arrow.PrimitiveTypes.Int64, arrow.BinaryTypes.String
	fields := []arrow.Field{
		{Name: "int", Type: i64}, {Name: "text", Type: str}, {Name: "code", Type: str},
		{Name: "list", Type: arrow.ListOf(i64)}, {Name: "bool", Type: arrow.FixedWidthTypes.Boolean},
		{Name: "decimal", Type: &arrow.Decimal128Type{Precision: 20, Scale: 2}},
		{Name: "struct", Type: arrow.StructOf(arrow.Field{Name: "a", Type: i64, Nullable: true})},
		{Name: "fixed list", Type: arrow.FixedSizeListOf(2, i64)},
		{Name: "fixed bytes", Type: &arrow.FixedSizeBinaryType{ByteWidth: 5}},
		{Name: "large list", Type: arrow.LargeListOf(arrow.FixedWidthTypes.Boolean)},
		{Name: "constant", Type: i64},
	}
	for i := range fields {
		fields[i].Nullable = true
	}
	b := array.NewRecordBuilder(memory.DefaultAllocator, arrow.NewSchema(fields, nil))
	defer b.Release()
	for i := range liesRows {
		for c := range fields {
			liesValue(b.Field(c), fields[c].Name, i)
		}
	}
	batch := b.NewRecordBatch()
	defer batch.Release()
	k := NewKind(t, "lies", batch, shard.WriterOptions{Edition: edition.E2026})
	p, err := Split(k.Root)
	require.NoError(t, err)
	require.Len(t, p.Stripes, 1)
	require.Len(t, p.Stripes[0].Fields, colConstant+1)
	var values [][]byte
	codes := batch.Column(2).(*array.String)
	for i := range codes.Len() {
		values = append(values, nil)
		if codes.IsValid(i) {
			values[i] = []byte(codes.Value(i))
		}
	}
	p.Stripes[0].Fields[colInt].AddRangeIndex(batch.Column(colInt).(*array.Int64))
	p.Stripes[0].Fields[colCode].SetDictionary(schema.String, 0, values)
	return p
}

func liesValue(b array.Builder, name string, i int) {
	if i%10 == 3 && name != "constant" {
		b.AppendNull()
		return
	}
	switch b := b.(type) {
	case *array.Int64Builder:
		if name == "constant" {
			i = 7
		}
		b.Append(int64(i) * 982_451_653)
	case *array.StringBuilder:
		if name == "code" {
			i %= 5
		}
		b.Append(fmt.Sprintf("the text of number %d", i*i))
	case *array.ListBuilder:
		b.Append(true)
		for k := range i % 3 {
			b.ValueBuilder().(*array.Int64Builder).Append(int64(k*i) << 20)
		}
	case *array.LargeListBuilder:
		b.Append(true)
		for k := range i % 3 {
			b.ValueBuilder().(*array.BooleanBuilder).Append(k*i%2 == 0)
		}
	case *array.FixedSizeListBuilder:
		b.Append(true)
		b.ValueBuilder().(*array.Int64Builder).AppendValues([]int64{int64(i), int64(-i)}, nil)
	case *array.BooleanBuilder:
		b.Append(i*i%3 == 0)
	case *array.Decimal128Builder:
		_ = b.AppendValueFromString(fmt.Sprintf("%d.%02d", i*i, i%100))
	case *array.StructBuilder:
		b.Append(true)
		b.FieldBuilder(0).(*array.Int64Builder).Append(int64(i*i) << 30)
	case *array.FixedSizeBinaryBuilder:
		b.Append(fmt.Appendf(nil, "%05d", i*7))
	}
}

// lie is a change of liesShard.
type lie struct {
	name string
	do   func(p *Parts)
	want error // kind of the error of a scan, nil if there may be none
	says string
}

// errAny stands for any kind of error about bytes.
var errAny = errors.New("any")

const data = shardpb.BufferKind_DATA

func field(p *Parts, id int) *shardpb.FieldDescriptor {
	return p.Stripes[0].Fields[id].Desc.Field
}

func buffer(p *Parts, id int, kind shardpb.BufferKind) *Buffer {
	return p.Stripes[0].Fields[id].Buffer(kind)
}

// setRows sets the number of rows to n everywhere outside of one column.
func setRows(p *Parts, n uint64) {
	p.Directory.TotalRecordCount = n
	p.Stripes[0].Directory.TotalRecordCount = n
}

// only makes the schema that of one column.
func only(p *Parts, typ schema.Field) {
	message, err := schema.Build([]schema.Field{typ})
	if err != nil {
		panic(err)
	}
	p.Schema = message
}

func code(c encoding.Code, rest ...[]byte) []byte {
	return append(binary.LittleEndian.AppendUint16(nil, uint16(c)), bytes.Join(rest, nil)...)
}

func u64(n uint64) []byte { return binary.LittleEndian.AppendUint64(nil, n) }

// lies are changes of liesShard that readers must reject or survive.
var lies = []lie{
	// Descriptors that disagree with each other or with the data.
	{"more rows than values", func(p *Parts) { setRows(p, liesRows+1) }, shard.ErrCorrupt, ""},
	{"a row count of 2^62", func(p *Parts) { setRows(p, 1<<62) }, shard.ErrCorrupt, ""},
	{"a row count of 2^64-1", func(p *Parts) { setRows(p, math.MaxUint64) }, shard.ErrCorrupt, ""},
	{"a stripe count of 2^60", func(p *Parts) { p.Directory.StripeCount = 1 << 60 }, shard.ErrCorrupt, ""},
	{"positions", func(p *Parts) { field(p, colInt).PositionCount = 1 << 40 }, shard.ErrCorrupt, ""},
	{"positions of items", func(p *Parts) { field(p, idListItem).PositionCount = 1 << 40 }, shard.ErrCorrupt, ""},
	{"positions below a struct", func(p *Parts) { field(p, idStructItem).PositionCount-- }, shard.ErrCorrupt, ""},
	{"nulls", func(p *Parts) { field(p, colInt).NullCount = ptr(0) }, shard.ErrCorrupt, ""},
	{"nulls of strings", func(p *Parts) { field(p, colText).NullCount = ptr(0) }, shard.ErrCorrupt, ""},
	{"nulls of codes", func(p *Parts) { field(p, colCode).NullCount = ptr(0) }, shard.ErrCorrupt, ""},
	{"nulls of decimals", func(p *Parts) { field(p, colDecimal).NullCount = ptr(0) }, shard.ErrCorrupt, ""},
	{"more nulls than positions", func(p *Parts) { field(p, colInt).NullCount = ptr(liesRows + 1) }, shard.ErrCorrupt, ""},
	{"block count", func(p *Parts) { buffer(p, colInt, data).Desc.BlockCount = ptr(1 << 50) }, shard.ErrCorrupt, ""},
	{"raw data size", func(p *Parts) { field(p, colText).RawDataSize = ptr(1 << 62) }, nil, ""},
	{"dictionary size without a dictionary", func(p *Parts) { field(p, colText).DictionarySize = ptr(1 << 40) }, shard.ErrCorrupt, ""},
	{"dictionary size", func(p *Parts) { field(p, colCode).DictionarySize = ptr(1 << 62) }, nil, ""},
	{"no buffers", func(p *Parts) { p.Stripes[0].Fields[colInt].Buffers = nil }, shard.ErrCorrupt, ""},
	{"buffers of another column", func(p *Parts) { p.Stripes[0].Fields[colInt].Buffers = p.Stripes[0].Fields[colText].Buffers }, shard.ErrCorrupt, ""},
	{"texts for decimals", func(p *Parts) {
		p.Stripes[0].Fields[colDecimal].Buffers = p.Stripes[0].Fields[colText].Buffers
	}, shard.ErrCorrupt, ""},
	{"constant of another type", func(p *Parts) { field(p, colConstant).ConstantValue = text("x") }, shard.ErrCorrupt, ""},
	{"a constant of null that is not", func(p *Parts) {
		field(p, colConstant).ConstantValue = &commonpb.AnyValue{Kind: &commonpb.AnyValue_NullValue{}}
	}, shard.ErrCorrupt, ""},
	{"a constant of the wrong size", func(p *Parts) {
		field(p, colFixedBytes).ConstantValue, field(p, colFixedBytes).NullCount = text("x"), ptr(0)
	}, shard.ErrCorrupt, ""},

	// Rows without bytes.
	{"2^62 rows of a constant", func(p *Parts) {
		only(p, schema.Field{Name: "c", Type: schema.Int64, Signed: true})
		setRows(p, 1<<62)
		field(p, colConstant).PositionCount = 1 << 62
		keep(p, colConstant)
	}, nil, ""},
	{"2^63-1 rows of a constant", func(p *Parts) {
		only(p, schema.Field{Name: "c", Type: schema.Int64, Signed: true})
		setRows(p, math.MaxInt64)
		field(p, colConstant).PositionCount = math.MaxInt64
		keep(p, colConstant)
	}, nil, ""},
	{"2^62 rows of nothing", func(p *Parts) {
		only(p, schema.Field{Name: "c", Type: schema.Int64, Signed: true})
		setRows(p, 1<<62)
		keep(p, colConstant)
		p.Stripes[0].Fields = nil
	}, nil, ""},

	// False block maps.
	{"a block of 2^31-1 numbers", func(p *Parts) { blockOf(p, colInt, data, math.MaxInt32) }, errAny, ""},
	{"a block of 2^31-1 numbers that agrees", bomb(colInt, schema.Field{Type: schema.Int64, Signed: true}, math.MaxInt32, code(encoding.SingleValue, u64(7))), errAny, ""},
	{"a block of 2^31-1 bytes", bomb(colInt, schema.Field{Type: schema.Int8}, math.MaxInt32, code(encoding.SingleValue, []byte{7})), errAny, ""},
	{"a block of 2^31-1 strings", bomb(colText, schema.Field{Type: schema.String}, math.MaxInt32, code(encoding.SingleValue, []byte("seven"))), errAny, ""},
	{"a block of 2^31-1 empty strings", bomb(colText, schema.Field{Type: schema.String}, math.MaxInt32, code(encoding.SingleValue)), errAny, ""},
	{"a block of 2^26 empty strings", bomb(colText, schema.Field{Type: schema.String}, 1<<26, code(encoding.SingleValue)), errAny, ""},
	{"a block of 2^26 numbers", bomb(colInt, schema.Field{Type: schema.Int64, Signed: true}, 1<<26, code(encoding.SingleValue, u64(7))), errAny, ""},
	{"a block of 2^31-1 bits", bomb(colBool, schema.Field{Type: schema.Boolean}, math.MaxInt32, code(encoding.SingleValue, []byte{7})), errAny, ""},
	{"a block of 2^31-1 codes", func(p *Parts) {
		bomb(colCode, schema.Field{Type: schema.String}, math.MaxInt32, code(encoding.SingleValue, []byte{1, 0, 0, 0}))(p)
	}, errAny, ""},
	{"a block of 2^31-1 list offsets", func(p *Parts) {
		buffer(p, colList, shardpb.BufferKind_OFFSETS).Blocks = []BlockPart{{N: math.MaxInt32, Bytes: Tree(code(encoding.SingleValue, u64(0)))}}
	}, errAny, ""},
	{"a single block of 2^31-1 numbers", single(bomb(colInt, schema.Field{Type: schema.Int64, Signed: true}, math.MaxInt32, code(encoding.SingleValue, u64(7)))), errAny, ""},
	{"a single block of more numbers than it has", single(bomb(colInt, schema.Field{Type: schema.Int64, Signed: true}, 100, code(encoding.Plain, make([]byte, 792)))), shard.ErrCorrupt, ""},
	{"a single block of 2^31-1 empty strings", single(bomb(colText, schema.Field{Type: schema.String}, math.MaxInt32, code(encoding.SingleValue))), errAny, ""},
	{"a single block that is several", edit(colInt, data, func(d *shardpb.EncodedBuffer) { d.BlockMap, d.BlockCount = nil, ptr(1) }), errAny, ""},
	{"several blocks without a block map", edit(colInt, data, func(d *shardpb.EncodedBuffer) { d.BlockMap, d.BlockCount = nil, ptr(2) }), shard.ErrCorrupt, ""},
	{"a block map of garbage", func(p *Parts) { buffer(p, colInt, data).Map = bytes.Repeat([]byte{0xff}, 160) }, shard.ErrCorrupt, ""},
	{"an empty block map", func(p *Parts) { buffer(p, colInt, data).Map = make([]byte, 56) }, shard.ErrCorrupt, ""},

	{"a buffer up to 2^62", edit(colInt, data, func(d *shardpb.EncodedBuffer) { d.Buffer.Range.End = 1 << 62 }), errAny, ""},
	{"a block map up to 2^62", edit(colInt, data, func(d *shardpb.EncodedBuffer) { d.Buffer.Range.End, d.BlockMap.Range.End = 1<<62, 1<<62 }), errAny, ""},
	{"a block map up to 2^63", edit(colInt, data, func(d *shardpb.EncodedBuffer) { d.Buffer.Range.End, d.BlockMap.Range.End = 1<<63, 1<<63 }), errAny, ""},
	{"a block map in the descriptor and none", edit(colInt, data, func(d *shardpb.EncodedBuffer) { d.BlockMap, d.InlineBlockMap = nil, make([]byte, 56) }), shard.ErrCorrupt, ""},
	{"a block map in the descriptor and another", edit(colInt, data, func(d *shardpb.EncodedBuffer) { d.InlineBlockMap = make([]byte, 56) }), shard.ErrCorrupt, ""},
	{"a block map in the descriptor of fewer numbers", inline(100), shard.ErrCorrupt, ""},
	{"a block map in the descriptor of 2^31-1 numbers", inline(math.MaxInt32), errAny, ""},
	{"a block map elsewhere", edit(colInt, data, func(d *shardpb.EncodedBuffer) { d.BlockMap.Range.Start = 0 }), shard.ErrCorrupt, ""},
	{"a buffer that ends before it starts", edit(colInt, data, func(d *shardpb.EncodedBuffer) { d.Buffer.Range.Start = 1 << 62 }), shard.ErrCorrupt, ""},
	{"a buffer in a missing artifact", edit(colInt, data, func(d *shardpb.EncodedBuffer) {
		d.Buffer.Url, d.BlockMap.Url = "../other.amudai.shard", "../other.amudai.shard"
	}), errAny, ""},
	{"a dictionary up to 2^62", edit(colCode, shardpb.BufferKind_VALUE_DICTIONARY, func(d *shardpb.EncodedBuffer) { d.Buffer.Range.End = 1 << 62 }), errAny, ""},
	{"a dictionary up to 2^63", edit(colCode, shardpb.BufferKind_VALUE_DICTIONARY, func(d *shardpb.EncodedBuffer) { d.Buffer.Range.End = 1 << 63 }), errAny, ""},
	{"a range index up to 2^62", edit(colInt, shardpb.BufferKind_RANGE_INDEX, func(d *shardpb.EncodedBuffer) { d.Buffer.Range.End = 1 << 62 }), nil, ""},

	// Invalid references in values.
	{"list offsets that descend", func(p *Parts) { offsets(p, colList, func(i int) uint64 { return uint64(i % 7) }) }, shard.ErrCorrupt, ""},
	{"list offsets past the items", func(p *Parts) { offsets(p, colList, func(i int) uint64 { return uint64(i) << 20 }) }, errAny, ""},
	{"a list of 2^62 items", func(p *Parts) { offsets(p, colList, lastOffset(1<<62)) }, errAny, ""},
	{"a list of 2^62 missing items", func(p *Parts) {
		offsets(p, colList, lastOffset(1<<62))
		p.Stripes[0].Fields[idListItem] = nil
	}, errAny, ""},
	{"a list of 2^31-1 missing items", func(p *Parts) {
		offsets(p, colList, lastOffset(math.MaxInt32))
		p.Stripes[0].Fields[idListItem] = nil
	}, errAny, ""},
	{"lists of 2^40 booleans", func(p *Parts) { offsets(p, colLargeList, lastOffset(1<<40)) }, errAny, ""},
	{"lists of 2^62 booleans", func(p *Parts) { offsets(p, colLargeList, lastOffset(1<<62)) }, errAny, ""},
	{"lists of 2^62 missing booleans", func(p *Parts) {
		offsets(p, colLargeList, lastOffset(1<<62))
		p.Stripes[0].Fields[idLargeItem] = nil
	}, errAny, ""},
	{"a list of 2^40 constants", func(p *Parts) {
		offsets(p, colList, lastOffset(1<<40))
		constant(p, idListItem, 1<<40)
	}, errAny, ""},
	{"a list of 2^28 constants", func(p *Parts) {
		offsets(p, colList, lastOffset(1<<28))
		constant(p, idListItem, 1<<28)
	}, errAny, ""},
	{"dictionary codes past the end", func(p *Parts) {
		buffer(p, colCode, data).Blocks = []BlockPart{{N: liesRows, Bytes: Tree(code(encoding.SingleValue, []byte{200, 0, 0, 0}))}}
	}, shard.ErrCorrupt, "code 200 of 6"},
	{"codes that all stand for a long value", func(p *Parts) {
		long := [][]byte{bytes.Repeat([]byte("x"), 1<<16)}
		for range liesRows - 1 {
			long = append(long, long[0])
		}
		p.Stripes[0].Fields[colCode].SetDictionary(schema.String, 0, long)
	}, nil, ""},
	{"a dictionary of other values", func(p *Parts) {
		p.Stripes[0].Fields[colCode].SetDictionary(schema.Binary, 0, make([][]byte, liesRows))
	}, shard.ErrCorrupt, ""},
	{"a dictionary of 2^32-1 entries", func(p *Parts) {
		b := buffer(p, colCode, shardpb.BufferKind_VALUE_DICTIONARY).Raw
		binary.LittleEndian.PutUint32(b[1:], math.MaxUint32)
	}, shard.ErrCorrupt, ""},
	{"a dictionary section past the end", func(p *Parts) {
		b := buffer(p, colCode, shardpb.BufferKind_VALUE_DICTIONARY).Raw
		binary.LittleEndian.PutUint64(b[22:], 1<<63)
	}, shard.ErrCorrupt, ""},

	// Sizes in the schema.
	{"fixed-size lists of 2^31-1 missing items", func(p *Parts) {
		fixedList(p, math.MaxInt32)
		p.Stripes[0].Fields[1] = nil
	}, errAny, ""},
	{"fixed-size lists of 2^31-1 items", func(p *Parts) { fixedList(p, math.MaxInt32) }, errAny, ""},
	{"fixed-size lists of more than 2^31 constants", func(p *Parts) {
		fixedList(p, 1<<30)
		constant(p, 1, liesRows<<30)
	}, errAny, ""},
	{"values of 2^31-1 bytes", func(p *Parts) {
		only(p, schema.Field{Name: "c", Type: schema.FixedSizeBinary, FixedSize: math.MaxInt32})
		keep(p, colFixedBytes)
	}, errAny, ""},
	{"values of no bytes", func(p *Parts) {
		only(p, schema.Field{Name: "c", Type: schema.FixedSizeBinary})
		keep(p, colFixedBytes)
	}, errAny, ""},

	// Bombs.
	{"zstd: 1 GiB of text", bomb(colText, schema.Field{Type: schema.String}, 1, zstdText(1<<30)), errAny, ""},
	{"zstd: 8 GiB of text as it says", bomb(colText, schema.Field{Type: schema.String}, 1, zstdLie(8<<30)), errAny, ""},
	{"zstd: 512 MiB of numbers", bomb(colInt, schema.Field{Type: schema.Int64, Signed: true}, 1<<26, code(encoding.Zstd, make([]byte, 6), zeros(1<<29))), errAny, ""},
	{"zstd: more numbers than expected", bomb(colInt, schema.Field{Type: schema.Int64, Signed: true}, 100, code(encoding.Zstd, make([]byte, 6), zeros(1<<29))), errAny, ""},
	{"lz4: a size of 4 GiB", bomb(colInt, schema.Field{Type: schema.Int64, Signed: true}, 100, code(encoding.LZ4, make([]byte, 6), []byte{0xff, 0xff, 0xff, 0xff}, make([]byte, 50))), errAny, ""},
	{"trees 10,000 deep", bomb(colInt, schema.Field{Type: schema.Int64, Signed: true}, 100, deepTree(10_000)), errAny, ""},
	{"runs of 2^32-1", bomb(colInt, schema.Field{Type: schema.Int64, Signed: true}, 100, runs(math.MaxUint32)), errAny, ""},
}

func ptr(n uint64) *uint64 { return &n }

func text(s string) *commonpb.AnyValue {
	return &commonpb.AnyValue{Kind: &commonpb.AnyValue_StringValue{StringValue: s}}
}

// keep drops the descriptors of all nodes but one, which becomes the first.
func keep(p *Parts, id int) {
	p.Stripes[0].Fields = p.Stripes[0].Fields[id : id+1]
	p.Fields = p.Fields[id : id+1]
}

// blockOf sets the number of values of the first block of a buffer to n.
func blockOf(p *Parts, id int, kind shardpb.BufferKind, n int) {
	buffer(p, id, kind).Blocks[0].N = n
}

// bomb makes a shard of one column of n values, in one block of a tree. All counts are consistent.
func bomb(id int, typ schema.Field, n int, tree []byte) func(p *Parts) {
	return func(p *Parts) {
		typ.Name = "c"
		only(p, typ)
		keep(p, id)
		rows := uint64(n)
		b := buffer(p, 0, data)
		if typ.Type == schema.Boolean {
			rows *= 8
			p.Stripes[0].Fields[0].Buffers = []*Buffer{b}
		}
		b.Blocks = []BlockPart{{N: n, Bytes: Tree(tree)}}
		b.Desc.BlockCount = nil
		setRows(p, rows)
		p.Stripes[0].Fields[0].Desc.Field = &shardpb.FieldDescriptor{PositionCount: rows, DictionarySize: field(p, 0).DictionarySize}
	}
}

// edit changes the message of a buffer.
func edit(id int, kind shardpb.BufferKind, do func(*shardpb.EncodedBuffer)) func(p *Parts) {
	return func(p *Parts) { buffer(p, id, kind).Edit = do }
}

// inline puts a block map of one block of n numbers into the descriptor.
func inline(n int) func(p *Parts) {
	return edit(colInt, data, func(d *shardpb.EncodedBuffer) {
		var m encoding.BlockMapBuilder
		m.Add(n, int(d.Buffer.Range.End-d.Buffer.Range.Start))
		d.BlockMap, d.InlineBlockMap = nil, m.Append(nil)
	})
}

// offsets sets the offsets of lists.
func offsets(p *Parts, id int, at func(i int) uint64) {
	values := make([]uint64, liesRows+1)
	for i := range values {
		values[i] = at(i)
	}
	buffer(p, id, shardpb.BufferKind_OFFSETS).Blocks = []BlockPart{{N: len(values), Bytes: Numbers(values)}}
}

// lastOffset makes all lists empty but the last one, of n items.
func lastOffset(n uint64) func(i int) uint64 {
	return func(i int) uint64 {
		if i < liesRows {
			return 0
		}
		return n
	}
}

// constant makes a node of n times the same number.
func constant(p *Parts, id int, n uint64) {
	f := p.Stripes[0].Fields[id]
	f.Buffers = nil
	f.Desc.Field = &shardpb.FieldDescriptor{
		PositionCount: n, NullCount: ptr(0),
		ConstantValue: &commonpb.AnyValue{Kind: &commonpb.AnyValue_I64Value{I64Value: 7}},
	}
}

// fixedList makes the schema that of a fixed-size list.
func fixedList(p *Parts, size uint32) {
	only(p, schema.Field{Name: "c", Type: schema.FixedSizeList, FixedSize: size, Children: []schema.Field{{Name: "item", Type: schema.Int64, Signed: true}}})
	p.Stripes[0].Fields = p.Stripes[0].Fields[colFixedList : colFixedList+2]
	p.Fields = p.Fields[colFixedList : colFixedList+2]
}

// zeros is a Zstandard frame of n zeros, with a window of 4 MiB. It is made by hand, as no test of the package should wait for its encoder.
func zeros(n int) []byte {
	const block, repeated, last = 128 << 10, 1 << 1, 1 // the largest block, and bits of its header
	frame := append([]byte{0x28, 0xb5, 0x2f, 0xfd, 0xc0, 12 << 3}, u64(uint64(n))...)
	for ; n > 0; n -= block {
		header := uint32(min(n, block))<<3 | repeated
		if n <= block {
			header |= last
		}
		frame = binary.LittleEndian.AppendUint32(frame, header) // of three bytes, then the byte to repeat
	}
	return frame
}

// zstdText is a block of one string of n zeros.
func zstdText(n int) []byte {
	frame := zeros(n)
	for len(frame)%8 != 0 {
		frame = append(frame, 0)
	}
	tree := code(encoding.Zstd, binary.LittleEndian.AppendUint32(nil, uint32(len(frame))), []byte{8, 0}, frame)
	return append(append(tree, u64(0)...), u64(uint64(n))...)
}

// zstdLie is a block of one string whose frame and offsets claim n bytes.
func zstdLie(n uint64) []byte {
	frame := append([]byte{0x28, 0xb5, 0x2f, 0xfd, 0xe0}, u64(n)...)
	frame = append(frame, 3, 0, 0) // an empty last block
	tree := code(encoding.Zstd, binary.LittleEndian.AppendUint32(nil, uint32(len(frame))), []byte{8, 0}, frame)
	return append(append(tree, u64(0)...), u64(n)...)
}

// deepTree is a tree of FOR in FOR.
func deepTree(depth int) []byte {
	one := code(encoding.FOR, make([]byte, 14))
	return append(bytes.Repeat(one, depth), code(encoding.SingleValue, u64(1))...)
}

// runs is a tree of a single run of n values.
func runs(n uint32) []byte {
	tree := code(encoding.RunLength, []byte{8, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0}, u64(7))
	return binary.LittleEndian.AppendUint32(tree, n)
}

// TestLies opens, scans and verifies shards with false statements and valid checksums. The result is an error with
// its place, or values that the statement does not affect. Memory is limited to a small multiple of the file and a
// fixed amount.
func TestLies(t *testing.T) {
	report, used, err := refuse(t, liesShard(t).Join())
	require.NoError(t, err)
	require.Empty(t, report.Problems)
	t.Logf("%-45s %8d KiB allocated", "the sound shard", used>>10)
	for _, l := range lies {
		t.Run(l.name, func(t *testing.T) {
			p := liesShard(t)
			l.do(p)
			root := p.Join()
			Mend(root)
			report, used, err := refuse(t, root)
			t.Logf("%8d KiB allocated for %d bytes: %v", used>>10, len(root), err)
			require.Less(t, used, uint64(memoryBound+8*len(root)))
			require.NotEmpty(t, append(report.Problems, report.Notes...))
			switch {
			case l.want == nil:
				require.NoError(t, err)
				return
			case l.want == errAny:
				require.True(t, isFault(err), "%v", err)
			default:
				require.ErrorIs(t, err, l.want)
			}
			requirePlace(t, err, root)
			require.ErrorContains(t, err, l.says)
		})
	}
}

// requirePlace checks the place of an error: an artifact or column, and an offset within the file.
func requirePlace(t *testing.T, err error, root []byte) {
	t.Helper()
	var e *fault.Error
	require.ErrorAs(t, err, &e)
	require.NotEmpty(t, e.Place(), "%v", err)
	if e.Offset >= 0 {
		require.Equal(t, Location, e.Artifact)
		require.Less(t, e.Offset, int64(len(root)))
	}
	if e.Block >= 0 {
		require.GreaterOrEqual(t, e.Offset, int64(64), "%v", err) // no block is in front of that
	}
	require.NotContains(t, err.Error(), "\n")
}
