package index

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/zeebo/xxh3"

	shardpb "github.com/amudai/amudai-go/gen/amudai/shard"
	"github.com/amudai/amudai-go/internal/arrow/extension"
	"github.com/amudai/amudai-go/internal/arrow/kinds"
	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/engine/rowset"
	"github.com/amudai/amudai-go/internal/format/postings"
	"github.com/amudai/amudai-go/shard/internal/index/hash"
	"github.com/amudai/amudai-go/shard/internal/index/hashmap"
	"github.com/amudai/amudai-go/shard/internal/index/internal/columns"
	"github.com/amudai/amudai-go/shard/internal/shardfile"
	"github.com/amudai/amudai-go/storage"
)

// The types of indexes of hashes of values: the compact one (package hash), and that of the reference (package hashmap).
const (
	Hash    = "amudai-go-hash-v1"
	Hashmap = "hashmap-index"
)

// PropertyKeys is the property of an index of hashes that lists the path and the class of each column in it, such as "user.id:int". It knows nothing
// about other columns, nor about these if they are read as values of another class.
const PropertyKeys = "keys"

// hashSpecs has what both kinds have in common.
type hashSpecs struct{}

func (hashSpecs) Check(d *shardpb.IndexDescriptor, columns []arrow.Field) error {
	var keys []any
	for _, f := range d.IndexedFields {
		if len(f.SchemaIds) > maxTogether {
			return fault.Limitf("hash index of %d columns together", len(f.SchemaIds))
		}
		for _, c := range columns[:len(f.SchemaIds)] {
			names := appendKeyNames(nil, []string{c.Name}, c.Type)
			switch {
			case len(names) == 0:
				return fmt.Errorf("a hash index is of values that can be equal, not of %v", c.Type)
			case len(f.SchemaIds) > 1 && (!isSingle(c.Type) || extension.IsJSON(c.Type)):
				return fmt.Errorf("%s: several columns together have one value each in a row, unlike %v", c.Name, c.Type)
			}
			for _, name := range names {
				if slices.Contains(keys, any(name)) {
					return fmt.Errorf("%s: there are two of it", name)
				}
				keys = append(keys, name)
			}
		}
		columns = columns[len(f.SchemaIds):]
	}
	for _, have := range shardfile.PropertiesFromProto(d.Properties) {
		switch list, _ := have.Value.([]any); {
		case have.Name == PropertyIdentity:
		case have.Name != PropertyKeys:
			return fault.Unsupportedf("hash index with the property %s", have.Name)
		case !slices.Equal(list, keys):
			return fault.Unsupportedf("hash index of %v, which is read as %v", list, keys)
		}
	}
	return setDefault(d, PropertyKeys, keys)
}

// maxTogether bounds the columns of a field.
const maxTogether = 64

// isSingle reports whether a column leads to a single one with a value.
func isSingle(dt arrow.DataType) bool {
	return leafOf(dt).ID() != arrow.NULL && !kinds.Has(dt, func(t arrow.DataType) bool { return kinds.Of(t) == kinds.List })
}

// keysOf are the columns of an index. It has none that are known if the index is not of this version.
func keysOf(d *shardpb.IndexDescriptor) []any {
	keys, _ := property(d, PropertyKeys).([]any)
	return keys
}

// lookupCost is about how many values could be looked at in the time of one hash.
const lookupCost = 256

func (hashSpecs) Cost(d *shardpb.IndexDescriptor, _ Index, c *Condition) (int64, bool) {
	if len(c.Parts) != len(d.GetIndexedFields()[c.Field].GetSchemaIds()) {
		return 0, false
	}
	keys, total := keysOf(d), int64(1)
	for _, p := range c.Parts {
		name := keyPath(p.Path) + keyClass(p.Type)
		if p.Inside > 0 {
			name = keyPath(p.Path[:len(p.Path)-p.Inside]) + classJSON
		}
		n, ok := countKeys(p.Test)
		if total *= n; !ok || total > maxKeys || !slices.Contains(keys, any(name)) {
			return 0, false
		}
	}
	return total * lookupCost, true
}

// hashesOf are the hashes of the keys that meet a condition with a Cost.
func hashesOf(c Condition) (hashes []uint64) {
	parts := make([][]uint64, len(c.Parts))
	for i, p := range c.Parts {
		key := []byte(keyPath(p.Path))
		n := len(key)
		eachKey(p.Type, p.Test, func(value []byte) {
			key = append(key[:n], value...)
			parts[i] = append(parts[i], xxh3.Hash(key))
		})
	}
	if len(parts) == 1 {
		return parts[0]
	}
	var product func(together []byte, parts [][]uint64)
	product = func(together []byte, parts [][]uint64) {
		if len(parts) == 0 {
			hashes = append(hashes, xxh3.Hash(together))
			return
		}
		for _, hash := range parts[0] {
			product(binary.LittleEndian.AppendUint64(together, hash), parts[1:])
		}
	}
	product(nil, parts)
	return hashes
}

// hashBuilder hashes the values of columns.
type hashBuilder struct {
	columns []arrow.Field
	fields  []int // columns of each field
	hashes  *hash.Builder

	hasher keyHasher
	rows   []uint32
	parts  []uint64 // of each row, the hashes of its columns
	filled []byte   // how many of them each row has
}

func (hashSpecs) NewBuilder(d *shardpb.IndexDescriptor, columns []arrow.Field, o BuildOptions) (Builder, error) {
	b := &hashBuilder{columns: columns, hashes: hash.NewBuilder(o.Memory, o.Spool)}
	for _, f := range d.IndexedFields {
		b.fields = append(b.fields, len(f.SchemaIds))
	}
	return b, nil
}

func hashesIn(b *hashBuilder) *hash.Builder { return b.hashes }

// Close implements [Builder].
func (b *hashBuilder) Close() error { return b.hashes.Close() }

// Add implements [Builder].
func (b *hashBuilder) Add(first int64, columns []arrow.Array) error {
	at := 0
	for _, n := range b.fields {
		rows := columns[at].Len()
		if first+int64(rows) > postings.MaxRow+1 {
			return fault.Limitf("hash index of more than %d rows", postings.MaxRow+1)
		}
		b.rows = b.rows[:0]
		for i := range rows {
			b.rows = append(b.rows, uint32(i))
		}
		var err error
		if n == 1 {
			b.hasher.yield = func(row uint32, hash uint64) error { return b.hashes.Add(hash, uint32(first)+row) }
			err = b.hasher.array([]string{b.columns[at].Name}, columns[at], b.rows)
		} else {
			err = b.together(first, b.columns[at:at+n], columns[at:at+n])
		}
		if err != nil {
			return err
		}
		at += n
	}
	return nil
}

// together adds the rows in which no column of a field is null.
func (b *hashBuilder) together(first int64, columns []arrow.Field, arrays []arrow.Array) error {
	rows := len(b.rows)
	b.parts = slices.Grow(b.parts[:0], rows*len(arrays))[:rows*len(arrays)]
	b.filled = slices.Grow(b.filled[:0], rows)[:rows]
	clear(b.filled)
	for i, arr := range arrays {
		b.hasher.yield = func(row uint32, hash uint64) error {
			b.parts[int(row)*len(arrays)+i] = hash
			b.filled[row]++
			return nil
		}
		if err := b.hasher.array([]string{columns[i].Name}, arr, b.rows); err != nil {
			return err
		}
	}
	var key []byte
	for row, n := range b.filled {
		if int(n) != len(arrays) {
			continue
		}
		key = key[:0]
		for _, hash := range b.parts[row*len(arrays) : (row+1)*len(arrays)] {
			key = binary.LittleEndian.AppendUint64(key, hash)
		}
		if err := b.hashes.Add(xxh3.Hash(key), uint32(first)+uint32(row)); err != nil {
			return err
		}
	}
	return nil
}

type hashKind struct{ hashSpecs }

func (hashKind) Type() string { return Hash }

func (hashKind) Write(ctx context.Context, _ *shardpb.IndexDescriptor, o WriteOptions, builders []Builder, create func(name string) io.Writer) error {
	return hash.Write(ctx, create("hashes"), o.Rows, each(builders, hashesIn)...)
}

// Join implements [Joiner].
func (hashKind) Join(ctx context.Context, _ *shardpb.IndexDescriptor, o JoinOptions, segments []Segment, create func(name string) io.Writer) error {
	var parts []hash.Part
	for _, one := range segments {
		parts = append(parts, hash.Part{Index: one.Index.(*hashIndex).Index, First: one.First})
	}
	err := hash.Join(ctx, create("hashes"), o.Rows, o.Memory, o.Spool, parts...)
	if errors.Is(err, hash.ErrCannotJoin) {
		err = fmt.Errorf("%w: %w", ErrCannotJoin, err)
	}
	return err
}

func (hashKind) Open(ctx context.Context, _ *shardpb.IndexDescriptor, artifacts []storage.ByteRange, rows int64) (Index, error) {
	if len(artifacts) != 1 {
		return nil, fault.Corruptf("hash index of %d artifacts", len(artifacts))
	}
	x, err := hash.Open(ctx, artifacts[0], rows)
	if err != nil {
		return nil, err
	}
	return &hashIndex{x}, nil
}

type hashIndex struct{ *hash.Index }

func (x *hashIndex) Identity() uint64 { return x.Sum }

// Stats implements [Index].
func (x *hashIndex) Stats() []Stat {
	return []Stat{{"hashes", x.Hashes}, {"postings", x.Postings}, {"rows", x.Rows}}
}

// Ask implements [Index].
func (x *hashIndex) Ask(ctx context.Context, c Condition, all rowset.Set) (maybe, sure rowset.Set, err error) {
	rows, any, err := x.Find(ctx, hashesOf(c))
	if err != nil || any {
		return all, sure, err
	}
	return rowset.FromPositions(rows).And(all), sure, nil
}

// Compare implements [Index].
func (x *hashIndex) Compare(ctx context.Context, built Index, found func(error) error) error {
	return x.Index.Compare(ctx, built.(*hashIndex).Index, found)
}

type hashmapKind struct{ hashSpecs }

func (hashmapKind) Type() string { return Hashmap }

// hashmapPartitions is the number of partitions that are written, the least of the reference.
const hashmapPartitions = 8

func (hashmapKind) Write(ctx context.Context, _ *shardpb.IndexDescriptor, o WriteOptions, builders []Builder, create func(name string) io.Writer) error {
	return hashmap.Write(ctx, create, hashmapPartitions, o.TempDir, each(builders, hashesIn)...)
}

func (hashmapKind) Open(ctx context.Context, _ *shardpb.IndexDescriptor, artifacts []storage.ByteRange, rows int64) (Index, error) {
	x, err := hashmap.Open(ctx, len(artifacts), func(i int) (*shardfile.File, error) { return columns.File(ctx, artifacts[i]) }, rows)
	if err != nil {
		return nil, err
	}
	return &hashmapIndex{x}, nil
}

type hashmapIndex struct{ *hashmap.Index }

// Identity implements [Index].
func (x *hashmapIndex) Identity() uint64 { return xxh3.HashString(x.Content) }

// Stats implements [Index].
func (x *hashmapIndex) Stats() []Stat {
	return []Stat{{"partitions", int64(x.Partitions())}, {"rows", x.Rows}}
}

// Ask implements [Index].
func (x *hashmapIndex) Ask(ctx context.Context, c Condition, all rowset.Set) (maybe, sure rowset.Set, err error) {
	for _, hash := range hashesOf(c) {
		rows, err := x.Find(ctx, hash)
		if err != nil {
			return all, sure, err
		}
		maybe = maybe.Or(rows)
	}
	return maybe.And(all), sure, nil
}

// Compare implements [Index].
func (x *hashmapIndex) Compare(ctx context.Context, built Index, found func(error) error) error {
	hashes, sum, err := x.Digest(ctx)
	if err != nil {
		if ctx.Err() != nil {
			return err
		}
		return found(err)
	}
	want, wantSum, err := built.(*hashmapIndex).Digest(ctx)
	if err == nil && (hashes != want || sum != wantSum) {
		err = found(fault.Corruptf("%d hashes have other rows than the %d of the data", hashes, want))
	}
	return err
}
