// Package index has the kinds of indexes of shards: what each is built of, how it is stored, and what it knows about a condition
// (docs/format.md §15).
//
// An index is described by a message of the shard ([shardpb.IndexDescriptor]): the type names its [Kind], indexed_fields are the
// columns, and artifacts the bytes. Rows are numbers in the shard, or in the stripe whose index it is. An index never decides
// more than it knows: rows that it does not know about are to be read.
//
// A new kind is a file here with its part of [Kinds], and a package for its bytes.
package index

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
	"google.golang.org/protobuf/proto"

	commonpb "github.com/amudai/amudai-go/gen/amudai/common"
	shardpb "github.com/amudai/amudai-go/gen/amudai/shard"
	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/engine/predicate"
	"github.com/amudai/amudai-go/internal/engine/rowset"
	"github.com/amudai/amudai-go/shard/internal/shardfile"
	"github.com/amudai/amudai-go/storage"
)

// Kind is a kind of index. Kinds have no state.
type Kind interface {
	// Type is the name in descriptors.
	Type() string
	// Check completes the description of an index that is to be built by defaults. columns are those of its fields, one field after the other: columns
	// of a table, structs only with the part that is indexed.
	Check(d *shardpb.IndexDescriptor, columns []arrow.Field) error
	// NewBuilder returns a builder of an index that Check has completed, with the same columns.
	NewBuilder(d *shardpb.IndexDescriptor, columns []arrow.Field, o BuildOptions) (Builder, error)
	// Write writes the artifacts of an index, by builders that have its rows one after the other. create begins an artifact, which ends with
	// the next one.
	Write(ctx context.Context, d *shardpb.IndexDescriptor, o WriteOptions, builders []Builder, create func(name string) io.Writer) error
	// Cost estimates the values examined for a condition. ok is false if the index knows nothing about it. opened is the index if it is open, else nil.
	Cost(d *shardpb.IndexDescriptor, opened Index, c *Condition) (values int64, ok bool)
	// Open opens an index over so many rows.
	Open(ctx context.Context, d *shardpb.IndexDescriptor, artifacts []storage.ByteRange, rows int64) (Index, error)
}

// Condition is a condition on a field of an index: tests that are all to be met, one of each column of the field, or several of the only one.
type Condition struct {
	Field   int
	Parts   []Part
	NoNulls bool // the columns of the field have no nulls, which indexes of words do not tell from values without the words

	asked *question // what the condition says about words, once an index of words has estimated its cost
}

// Part is a test of a column of a field, or of a column in it.
type Part struct {
	Path   []string // names from the top-level column to the column, and within its JSON texts
	Inside int      // how many names are within JSON texts
	Type   arrow.DataType
	Test   predicate.Test
}

// Kinds are all kinds, the one that is built by default first.
var Kinds = []Kind{termKind{}, invertedKind{}, hashKind{}, hashmapKind{}, rangeKind{}}

// ByType returns the kind of indexes of a type, nil if this version knows none.
func ByType(name string) Kind {
	for _, k := range Kinds {
		if k.Type() == name {
			return k
		}
	}
	return nil
}

// BuildOptions are the options of [Kind.NewBuilder].
type BuildOptions struct {
	Memory int64                 // bytes to take before temporary files are used
	Spool  func() *storage.Spool // makes a temporary file
}

// WriteOptions are the options of [Kind.Write].
type WriteOptions struct {
	Rows    int64
	TempDir string // folder of temporary files; empty means that of the system
}

// Builder collects an index of consecutive rows. It belongs to one goroutine at a time.
type Builder interface {
	// Add adds the rows from first on: an array for each column. Calls come in the order of rows.
	Add(first int64, columns []arrow.Array) error
	// Close removes temporary files.
	Close() error
}

// Index is an open index. Its methods may be called concurrently.
type Index interface {
	// Ask divides some rows by a condition: it may be true for maybe, and is for sure, a part of them. Neither has rows outside the bounds of all.
	Ask(ctx context.Context, c Condition, all rowset.Set) (maybe, sure rowset.Set, err error)
	// Compare calls found with each difference to an index that was built anew.
	Compare(ctx context.Context, built Index, found func(error) error) error
	// Stats are numbers that describe the index.
	Stats() []Stat
	// Identity is a hash of all that the index has, which tells it from every other one of the same kind.
	Identity() uint64
}

// PropertyIdentity is the identity of an index as 16 hexadecimal digits, which its description has to tell it from those of other shards.
const PropertyIdentity = "identity"

// Identify puts the identity of an index into its description.
func Identify(d *shardpb.IndexDescriptor, x Index) error {
	d.Properties = withoutIdentity(d)
	return setDefault(d, PropertyIdentity, identityOf(x))
}

// withoutIdentity is a copy of the properties of a description but its identity.
func withoutIdentity(d *shardpb.IndexDescriptor) []*commonpb.NameValuePair {
	return slices.DeleteFunc(slices.Clone(d.GetProperties()), func(p *commonpb.NameValuePair) bool { return p.GetName() == PropertyIdentity })
}

// property is the value of a property of a description, nil if there is none.
func property(d *shardpb.IndexDescriptor, name string) any {
	for _, p := range d.GetProperties() {
		if p.GetName() == name {
			return shardfile.ValueFromProto(p.GetValue())
		}
	}
	return nil
}

// setDefault sets a property of a description, unless it is there.
func setDefault(d *shardpb.IndexDescriptor, name string, value any) error {
	if property(d, name) != nil {
		return nil
	}
	p, err := shardfile.PropertiesToProto([]shardfile.Property{{Name: name, Value: value}})
	d.Properties = append(slices.Clip(d.Properties), p...)
	return err
}

func identityOf(x Index) string { return fmt.Sprintf("%016x", x.Identity()) }

// CheckIdentity checks that an index is the one of a description. That of another writer has no identity, and may be of any index.
func CheckIdentity(d *shardpb.IndexDescriptor, x Index) error {
	if want := property(d, PropertyIdentity); want != nil && want != identityOf(x) {
		return fault.Corruptf("index with the identity %s instead of %v: it is of other data", identityOf(x), want)
	}
	return nil
}

// each takes the builders of a kind out of its [Builder]s.
func each[W Builder, B any](builders []Builder, in func(W) B) []B {
	out := make([]B, len(builders))
	for i, b := range builders {
		out[i] = in(b.(W))
	}
	return out
}

// Stat is a number that describes an index.
type Stat struct {
	Name  string
	Value int64
}

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
