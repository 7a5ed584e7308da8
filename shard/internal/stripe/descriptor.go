package stripe

import (
	"iter"
	"math"

	"google.golang.org/protobuf/proto"

	shardpb "github.com/amudai/amudai-go/gen/amudai/shard"
	"github.com/amudai/amudai-go/internal/format/schema"
)

// NativeEncoding is the encoding of a node that readers use: the first one that is
// native and not a packed group, else that of its packed group, or nil.
func NativeEncoding(d *shardpb.StripeFieldDescriptor) *shardpb.NativeDataEncoding {
	if all := NativeEncodings(d); len(all) > 0 {
		return all[0]
	}
	return nil
}

// NativeEncodings are the native encodings of a node without a packed group, the first that of [NativeEncoding], or else that of its packed group.
func NativeEncodings(d *shardpb.StripeFieldDescriptor) (all []*shardpb.NativeDataEncoding) {
	for _, e := range d.GetEncodings() {
		if native := e.GetNative(); native != nil && !native.GetPackedGroup() {
			all = append(all, native)
		}
	}
	if group := GroupEncoding(d); len(all) == 0 && group != nil {
		all = append(all, group)
	}
	return all
}

// Buffers are the buffers of a node in all native encodings, with these.
func Buffers(d *shardpb.StripeFieldDescriptor) iter.Seq2[*shardpb.NativeDataEncoding, *shardpb.EncodedBuffer] {
	return func(yield func(*shardpb.NativeDataEncoding, *shardpb.EncodedBuffer) bool) {
		for _, e := range d.GetEncodings() {
			for _, b := range e.GetNative().GetBuffers() {
				if !yield(e.GetNative(), b) {
					return
				}
			}
		}
	}
}

// NativeBytes is the size of the buffers of a node in all native encodings.
func NativeBytes(d *shardpb.StripeFieldDescriptor) (n int64) {
	for _, b := range Buffers(d) {
		n += int64(b.GetBuffer().GetRange().GetEnd() - b.GetBuffer().GetRange().GetStart())
	}
	return n
}

// FieldOf is the descriptor of a node that has several encodings, as it is true of one: dictionary_size is there if the encoding has a dictionary.
func FieldOf(f *shardpb.FieldDescriptor, e *shardpb.NativeDataEncoding) *shardpb.FieldDescriptor {
	if f.DictionarySize != nil && FindBuffer(e.GetBuffers(), shardpb.BufferKind_VALUE_DICTIONARY) == nil {
		f = proto.CloneOf(f)
		f.DictionarySize = nil
	}
	return f
}

// GroupEncoding is the encoding of a node that holds a packed group (docs/format.md §6.5), or nil.
func GroupEncoding(d *shardpb.StripeFieldDescriptor) *shardpb.NativeDataEncoding {
	for _, e := range d.GetEncodings() {
		if native := e.GetNative(); native.GetPackedGroup() {
			return native
		}
	}
	return nil
}

// ParquetEncoding is the encoding of a node whose values readers take from Parquet files, because none before it is native, or nil.
func ParquetEncoding(d *shardpb.StripeFieldDescriptor) *shardpb.ExternalParquetDataEncoding {
	for _, e := range d.GetEncodings() {
		if e.GetNative() != nil {
			return nil
		}
		if p := e.GetParquet(); p != nil {
			return p
		}
	}
	return nil
}

// FindBuffer is the buffer of a kind among those of a node, nil if there is none.
func FindBuffer(buffers []*shardpb.EncodedBuffer, kind shardpb.BufferKind) *shardpb.EncodedBuffer {
	for _, b := range buffers {
		if b.GetKind() == kind {
			return b
		}
	}
	return nil
}

// OffsetsApart reports whether a node of byte strings has their bytes in DATA, and where each ends in OFFSETS.
func OffsetsApart(t schema.BasicType, buffers []*shardpb.EncodedBuffer) bool {
	return (t == schema.String || t == schema.Binary) && FindBuffer(buffers, shardpb.BufferKind_OFFSETS) != nil
}

// Addressed reports whether the alternatives of a union have positions of their own, which its OFFSETS tell.
func Addressed(t schema.BasicType, buffers []*shardpb.EncodedBuffer) bool {
	return t == schema.Union && FindBuffer(buffers, shardpb.BufferKind_OFFSETS) != nil
}

// AnyValues is a number of values that only another buffer tells.
const AnyValues = math.MaxUint64

// BufferValues is the number of values in the buffer of the given kind of a node. In
// buffers of bits a value is a byte. apart is that of [OffsetsApart].
func BufferValues(t schema.BasicType, kind shardpb.BufferKind, field *shardpb.FieldDescriptor, apart bool) uint64 {
	n := field.GetPositionCount()
	switch {
	case apart && kind == shardpb.BufferKind_DATA:
		return AnyValues
	case kind == shardpb.BufferKind_PRESENCE || t == schema.Boolean:
		return (n + 7) / 8
	case kind == shardpb.BufferKind_OFFSETS && t != schema.Union:
		return n + 1
	}
	return n
}

// IsSingleBlock reports whether a buffer is one block without a block map
// (docs/format.md §6.1). [BufferValues] is then the number of its values.
func IsSingleBlock(b *shardpb.EncodedBuffer) bool {
	return b.BlockMap == nil && len(b.GetInlineBlockMap()) == 0 && b.GetBlockCount() == 1
}

// IsGroup reports whether a buffer of an encoding has the super-blocks of a packed group.
func IsGroup(e *shardpb.NativeDataEncoding, b *shardpb.EncodedBuffer) bool {
	return e.GetPackedGroup() && b.GetKind() == shardpb.BufferKind_DATA
}

// IsMember reports whether the blocks of a buffer lie in those of a packed group.
func IsMember(b *shardpb.EncodedBuffer) bool {
	return b.GetBuffer() == nil && b.PackedGroupIndex != nil
}

// HasBlocks reports whether a buffer is made of blocks.
func HasBlocks(b *shardpb.EncodedBuffer) bool {
	return b.GetBlockMap() != nil || len(b.GetInlineBlockMap()) > 0 || IsSingleBlock(b) || IsMember(b)
}
