package index

import (
	"cmp"
	"context"
	"errors"
	"io"
	"slices"

	"google.golang.org/protobuf/proto"

	commonpb "github.com/amudai/amudai-go/gen/amudai/common"
	shardpb "github.com/amudai/amudai-go/gen/amudai/shard"
)

// Joiner is a [Kind] that makes one index of several, without the rows of any.
type Joiner interface {
	// Join writes the artifacts of the index of all rows of segments, which have the definition of d and follow each other. It tells the rows that meet a
	// condition as one does that is built of the rows. If the segments do not know enough for that, the error wraps [ErrCannotJoin].
	Join(ctx context.Context, d *shardpb.IndexDescriptor, o JoinOptions, segments []Segment, create func(name string) io.Writer) error
}

// Segment is an index of some of the rows of a joined one.
type Segment struct {
	Index
	First int64 // row of the joined index that is the first of these
}

// JoinOptions are the options of [Joiner.Join].
type JoinOptions struct {
	Rows int64
	BuildOptions
}

// ErrCannotJoin is the error for indexes that may be sound, but of which no one can be made.
var ErrCannotJoin = errors.New("indexes cannot be joined")

// SameDefinition reports whether two indexes are of the same type and of the same columns, with the same properties.
func SameDefinition(a, b *shardpb.IndexDescriptor) bool {
	return proto.Equal(definition(a), definition(b))
}

// definition is the part of a description that does not depend on rows.
func definition(d *shardpb.IndexDescriptor) *shardpb.IndexDescriptor {
	properties := withoutIdentity(d)
	slices.SortStableFunc(properties, func(a, b *commonpb.NameValuePair) int { return cmp.Compare(a.GetName(), b.GetName()) })
	return &shardpb.IndexDescriptor{IndexType: d.GetIndexType(), IndexedFields: d.GetIndexedFields(), Properties: properties}
}
