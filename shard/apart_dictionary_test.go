package shard_test

import (
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/amudai/amudai-go/dictionary"
	"github.com/amudai/amudai-go/encoding"
	"github.com/amudai/amudai-go/encoding/numeric"
	shardpb "github.com/amudai/amudai-go/gen/amudai/shard"
	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
	"github.com/amudai/amudai-go/internal/base/bitmap"
	"github.com/amudai/amudai-go/internal/format/schema"
	"github.com/amudai/amudai-go/shard/internal/index/numrange"
)

// SetDictionary adds a value dictionary to a field of byte strings: the buffers that a writer makes of these
// values, nil for null. Statistics stay unchanged.
func (f *Field) SetDictionary(typ schema.BasicType, fixed int, values [][]byte) {
	d := dictionary.NewBuilder(byte(typ), fixed)
	codes := make([]uint32, len(values))
	for i, v := range values {
		if v == nil {
			codes[i] = d.AddNull()
		} else {
			codes[i] = d.Add(v)
		}
	}
	size := uint64(d.Len())
	f.Desc.Field.DictionarySize = &size
	f.Buffers = []*Buffer{
		{Desc: &shardpb.EncodedBuffer{Kind: shardpb.BufferKind_DATA, BlockChecksums: true}, Blocks: []BlockPart{{len(codes), Numbers(codes)}}},
		{Desc: &shardpb.EncodedBuffer{Kind: shardpb.BufferKind_VALUE_DICTIONARY}, Raw: d.Append(nil)},
	}
	one := uint64(1)
	f.Buffers[0].Desc.BlockCount = &one
}

// Numbers is a Plain block of non-null numbers, with a checksum.
func Numbers[T numeric.Value](values []T) []byte {
	e := numeric.NewEncoder[T](encoding.Options{Profile: encoding.ProfilePlain})
	return Tree(e.AppendTree(nil, values, bitmap.All(len(values))))
}

// Tree is a block of an encoding tree without nulls, with a checksum.
func Tree(tree []byte) []byte {
	b, mark := encoding.BeginBlock(nil)
	b = encoding.EndPresence(b, mark)
	return encoding.EndBlock(append(b, tree...), mark, true)
}

// AddRangeIndex gives a field of Int64 values the range index that the writer leaves out of short columns.
func (f *Field) AddRangeIndex(values *array.Int64) {
	x := numrange.NewBuilder[int64](byte(schema.Int64))
	x.Add(values.Int64Values(), arrowutil.Validity(values))
	raw, _ := x.Append(nil, encoding.Options{})
	f.Buffers = append(f.Buffers, &Buffer{Desc: &shardpb.EncodedBuffer{Kind: shardpb.BufferKind_RANGE_INDEX}, Raw: raw})
}
