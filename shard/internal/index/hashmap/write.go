package hashmap

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"math/bits"
	"slices"

	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/amudai/amudai-go/shard/internal/index/hash"
	"github.com/amudai/amudai-go/shard/internal/index/internal/columns"
)

// entry is a row of a hash.
type entry struct {
	hash uint64
	row  uint32
}

// Write writes the partitions of an index, a power of two, of what builders have collected: each has the rows that follow those of the one before.
// create begins a partition by its name. Folders of temporary files are as in columns.NewWriter. It takes memory for a partition. The builders are
// to be closed afterwards.
func Write(ctx context.Context, create func(name string) io.Writer, partitions int, tempDir string, builders ...*hash.Builder) error {
	var entries []entry // of the open partition
	open := 0
	end := func() error {
		err := writePartition(ctx, create(fmt.Sprintf("part%d", open)), entries, tempDir)
		open, entries = open+1, entries[:0]
		return err
	}
	err := hash.Each(ctx, builders, func(hash uint64, row uint32) error {
		for open < partitionOf(hash, partitions) {
			if err := end(); err != nil {
				return err
			}
		}
		entries = append(entries, entry{hash, row})
		return nil
	})
	for err == nil && open < partitions {
		err = end()
	}
	return err
}

// bucketsOf is the number of buckets for some hashes.
func bucketsOf(hashes int) uint64 {
	if hashes < 4 {
		return 2
	}
	return 1 << bits.Len(uint(hashes/2-1))
}

// writePartition writes a partition. Hashes are in their order within a bucket, and rows in theirs, each once.
func writePartition(ctx context.Context, out io.Writer, entries []entry, tempDir string) error {
	slices.SortFunc(entries, func(a, b entry) int { return cmp.Or(cmp.Compare(a.hash, b.hash), cmp.Compare(a.row, b.row)) })
	entries = slices.Compact(entries)
	hashes := 0
	for i, e := range entries {
		if i == 0 || e.hash != entries[i-1].hash {
			hashes++
		}
	}
	buckets := bucketsOf(hashes)
	entries, ends := byBucket(entries, buckets)
	w, err := columns.NewWriter(bucketSchema, tempDir)
	if err != nil {
		return err
	}
	defer w.Close()
	from := 0
	for _, to := range ends {
		appendBucket(w, entries[from:to])
		from = to
		if w.Build.Field(0).Len() == bucketsAtOnce {
			if err := w.Flush(ctx); err != nil {
				return err
			}
		}
	}
	return w.Publish(ctx, out)
}

// byBucket sorts entries by their buckets, those of a bucket in their order, and returns the end of each bucket.
func byBucket(entries []entry, buckets uint64) (sorted []entry, ends []int) {
	ends = make([]int, buckets)
	for _, e := range entries {
		ends[e.hash&(buckets-1)]++
	}
	at := 0
	for i, n := range ends {
		ends[i] = at
		at += n
	}
	sorted = make([]entry, len(entries))
	for _, e := range entries {
		place := &ends[e.hash&(buckets-1)]
		sorted[*place] = e
		*place++
	}
	return sorted, ends
}

// bucketsAtOnce is how many buckets are Arrow arrays at a time.
const bucketsAtOnce = 1 << 14

// appendBucket builds a bucket of entries that are sorted by hash.
func appendBucket(w *columns.Writer, entries []entry) {
	list := w.Build.Field(0).(*array.LargeListBuilder)
	item := list.ValueBuilder().(*array.StructBuilder)
	hash, positions := item.FieldBuilder(0).(*array.Uint64Builder), item.FieldBuilder(1).(*array.LargeListBuilder)
	rows := positions.ValueBuilder().(*array.Uint64Builder)
	list.Append(true)
	for i, e := range entries {
		if i == 0 || e.hash != entries[i-1].hash {
			item.Append(true)
			hash.Append(e.hash)
			positions.Append(true)
		}
		rows.Append(uint64(e.row))
	}
}
