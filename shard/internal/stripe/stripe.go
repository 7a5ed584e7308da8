// Package stripe holds the common parts of writers and readers of a stripe. A stripe is a
// tree of nodes of the same shape as the schema. Package write turns Arrow arrays
// into the encoded buffers of each node, package read turns those back into arrays;
// each has a file per kind of node. Which node has which buffers: docs/format.md §5.
//
// None of them knows files: a writer yields buffers that its caller places, and a
// column asks its [Source] for descriptors and bytes.
package stripe

import (
	"context"
	"slices"

	"github.com/amudai/amudai-go/encoding/numeric"
	commonpb "github.com/amudai/amudai-go/gen/amudai/common"
	shardpb "github.com/amudai/amudai-go/gen/amudai/shard"
	"github.com/amudai/amudai-go/internal/format/edition"
	"github.com/amudai/amudai-go/internal/format/schema"
	"github.com/amudai/amudai-go/storage"
	"github.com/amudai/amudai-go/stripe"
)

// Buffer is one encoded buffer of a node, complete but not yet placed in an
// artifact: its DataRefs are unset.
type Buffer struct {
	Desc      *shardpb.EncodedBuffer // kind, flags and number of blocks
	Data      *storage.Spool         // blocks, padding and block map; owned by the [Finished] stripe
	MapOffset int64                  // where the block map starts in Data, -1 if the buffer has none
}

// Node is the result of one schema node.
type Node struct {
	ID      uint32                   // schema id
	Field   *shardpb.FieldDescriptor // statistics, constant, dictionary size
	Buffers []Buffer                 // in the order to write them
	// Alternative are the buffers of a second encoding. It is empty if there is none.
	Alternative []Buffer
	Group       []Buffer // of the encoding with a packed group, its super-blocks first; empty in most nodes
	// Parquet is where the values are, instead of buffers.
	Parquet *shardpb.ExternalParquetDataEncoding
}

// Finished is a complete stripe. Nodes stand in the order in which their
// buffers are written: children before their parent (docs/format.md §2.6).
type Finished struct {
	Rows     int64       // number of records
	RawBytes uint64      // sum of the nodes' raw_data_size
	Features edition.Set // those beyond the reference that are really used
	Nodes    []Node      // one for each schema node
}

// Release drops the staged bytes of all buffers, and their temporary files.
func (f *Finished) Release() {
	for i := range f.Nodes {
		for _, b := range slices.Concat(f.Nodes[i].Buffers, f.Nodes[i].Alternative, f.Nodes[i].Group) {
			b.Data.Close()
		}
		f.Nodes[i].Buffers, f.Nodes[i].Alternative, f.Nodes[i].Group = nil, nil, nil
	}
}

// Source gives the readers of columns their input: the stripe's descriptors and the
// artifacts that they refer to. It must be safe for concurrent use.
type Source interface {
	// Rows is the number of records of the stripe.
	Rows() int64
	// Descriptor is the stripe's descriptor of a schema id, or nil if the stripe lacks the field: all its values are null.
	Descriptor(ctx context.Context, id uint32) (*shardpb.StripeFieldDescriptor, error)
	// Artifact opens the artifact that ref, found in the descriptor of id, points into. The caller does not close it.
	Artifact(ctx context.Context, id uint32, ref *commonpb.DataRef) (storage.Reader, error)
}

// ValueError and MisfitError are those of the public package.
type (
	ValueError  = stripe.ValueError
	MisfitError = stripe.MisfitError
)

// PerNumber has something for each type of stored numbers, such as the instances of a generic function: for the signed integers by
// their width, the unsigned ones, and the floats.
type PerNumber[F any] [10]F

// Of is the one for a stored type; ok is false if that is not of numbers.
func (p *PerNumber[F]) Of(t schema.BasicType, signed bool) (f F, ok bool) {
	switch {
	case t.IsInteger() && signed:
		return p[t-schema.Int8], true
	case t.IsInteger():
		return p[4+t-schema.Int8], true
	case t == schema.DateTime:
		return p[7], true
	case t == schema.Float32:
		return p[8], true
	case t == schema.Float64:
		return p[9], true
	}
	return f, false
}

var numberTypes = PerNumber[numeric.Type]{
	numeric.I8, numeric.I16, numeric.I32, numeric.I64, numeric.U8, numeric.U16, numeric.U32, numeric.U64, numeric.F32, numeric.F64,
}

// NumberType is the type of stored numbers; ok is false for other stored types.
func NumberType(t schema.BasicType, signed bool) (_ numeric.Type, ok bool) {
	return numberTypes.Of(t, signed)
}
