// Package hashmap reads and writes hashmap indexes as the reference stores them: the rows of each hash, in partitions (docs/format.md
// §15.3). It does not hash values.
//
// A partition is a shard with a row for each bucket:
//
//	bucket          list of the hashes in it, in no order
//	    hash
//	    positions   rows, some of them twice
//
// With 2^p partitions and 2^b buckets in one of them, a hash is in the partition that its p highest bits name, and there in the
// bucket that its b lowest bits name.
package hashmap

import (
	"context"
	"encoding/binary"
	"errors"
	"math/bits"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/zeebo/xxh3"

	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/engine/rowset"
	"github.com/amudai/amudai-go/shard/internal/index/internal/columns"
	"github.com/amudai/amudai-go/shard/internal/shardfile"
)

var bucketSchema = arrow.NewSchema([]arrow.Field{{Name: "bucket", Type: arrow.LargeListOf(arrow.StructOf(
	arrow.Field{Name: "hash", Type: arrow.PrimitiveTypes.Uint64, Nullable: true},
	arrow.Field{Name: "positions", Type: arrow.LargeListOf(arrow.PrimitiveTypes.Uint64), Nullable: true}))}}, nil)

// Index is an open index. Its methods may be called concurrently.
type Index struct {
	Rows    int64  // of the shard that is indexed
	Content string // tells the index from others; without meaning for those of the reference
	parts   []part
}

// part is a partition.
type part struct {
	bucket  *columns.Column
	buckets int64
}

// maxBucketBytes bounds what a bucket takes as Arrow arrays. Most have few hashes, but one hash may have all rows.
const maxBucketBytes = 1 << 30

// MaxPartitions is the most partitions of an index.
const MaxPartitions = 1 << 16

// Open opens the index in the shards of n partitions, which stay open. It is of a shard with so many rows.
func Open(ctx context.Context, n int, partition func(i int) (*shardfile.File, error), rows int64) (*Index, error) {
	if n == 0 || n > MaxPartitions || n&(n-1) != 0 {
		return nil, fault.Corruptf("hashmap index of %d partitions", n)
	}
	x := &Index{Rows: rows}
	for i := range n {
		f, err := partition(i)
		if err != nil {
			return nil, err
		}
		t, err := columns.Open(ctx, f, bucketSchema, maxBucketBytes)
		if err != nil {
			return nil, err
		}
		if t.Rows == 0 || t.Rows&(t.Rows-1) != 0 {
			return nil, fault.Of(fault.Corruptf("partition of %d buckets", t.Rows), f.Root().Name())
		}
		x.parts = append(x.parts, part{t.Columns[0], t.Rows})
		x.Content += t.Content
	}
	return x, nil
}

// Partitions is the number of partitions.
func (x *Index) Partitions() int { return len(x.parts) }

// partitionOf is the partition of a hash among n, a power of two.
func partitionOf(hash uint64, n int) int {
	return int(bits.RotateLeft64(hash, bits.Len(uint(n-1))) & uint64(n-1))
}

// Find returns the rows of a hash.
func (x *Index) Find(ctx context.Context, hash uint64) (rows rowset.Set, err error) {
	p := x.parts[partitionOf(hash, len(x.parts))]
	row := int64(hash & uint64(p.buckets-1))
	err = p.read(ctx, row, row+1, func(_ int64, h uint64, positions []uint64) error {
		if h != hash {
			return nil
		}
		some, err := x.set(positions)
		rows = rows.Or(some)
		return err
	})
	return rows, err
}

// Each calls yield with each hash and its rows, in no order.
func (x *Index) Each(ctx context.Context, yield func(hash uint64, rows rowset.Set) error) error {
	for i, p := range x.parts {
		for first := int64(0); first < p.buckets; first += bucketsAtOnce {
			err := p.read(ctx, first, min(first+bucketsAtOnce, p.buckets), func(bucket int64, hash uint64, positions []uint64) error {
				if partitionOf(hash, len(x.parts)) != i || int64(hash&uint64(p.buckets-1)) != bucket {
					return fault.Corruptf("hash %016x in bucket %d of partition %d", hash, bucket, i)
				}
				rows, err := x.set(positions)
				if err != nil {
					return err
				}
				return yield(hash, rows)
			})
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// Digest returns the number of hashes, and a checksum of them and their rows that does not depend on partitions and orders.
func (x *Index) Digest(ctx context.Context) (hashes int64, sum uint64, err error) {
	var b []byte
	err = x.Each(ctx, func(hash uint64, rows rowset.Set) error {
		b = b[:0]
		for r := range rows.Ranges() {
			b = binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(b, uint64(r.From)), uint64(r.To))
		}
		hashes++
		sum += xxh3.HashSeed(b, hash)
		return ctx.Err()
	})
	return hashes, sum, err
}

// set is the rows of positions.
func (x *Index) set(positions []uint64) (rowset.Set, error) {
	rows := make([]int64, len(positions))
	for i, p := range positions {
		if p >= uint64(x.Rows) {
			return rowset.Set{}, fault.Corruptf("row %d of %d", p, x.Rows)
		}
		rows[i] = int64(p)
	}
	slices.Sort(rows)
	return rowset.FromRows(rows), nil
}

// read calls yield with the hashes of some buckets and their positions.
func (p part) read(ctx context.Context, first, end int64, yield func(bucket int64, hash uint64, positions []uint64) error) error {
	arr, err := p.bucket.Read(ctx, first, end)
	if middle := (first + end) / 2; errors.Is(err, fault.ErrBatchTooLarge) && middle > first {
		if err := p.read(ctx, first, middle, yield); err != nil {
			return err
		}
		return p.read(ctx, middle, end, yield)
	}
	if err != nil {
		return err
	}
	defer arr.Release()
	list, ok := arr.(*array.LargeList)
	if !ok {
		return fault.Corruptf("buckets of the type %v", arr.DataType())
	}
	items, ok := list.ListValues().(*array.Struct)
	if !ok {
		return fault.Corruptf("buckets of the type %v", arr.DataType())
	}
	hashes, positions := items.Field(0).(*array.Uint64), items.Field(1).(*array.LargeList)
	values, ok := positions.ListValues().(*array.Uint64)
	if !ok || hashes.NullN()+values.NullN() > 0 {
		return fault.Corruptf("buckets from %d on with nulls", first)
	}
	for bucket := range list.Len() {
		for i, to := list.ValueOffsets(bucket); i < to; i++ {
			from, end := positions.ValueOffsets(int(i))
			if err := yield(first+int64(bucket), hashes.Value(int(i)), values.Uint64Values()[from:end]); err != nil {
				return fault.In(err, "bucket", first+int64(bucket))
			}
		}
	}
	return nil
}
