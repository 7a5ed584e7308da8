package hashmap

import (
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"math/bits"
	"slices"

	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/amudai/amudai-go/shard/internal/index/internal/columns"
	"github.com/amudai/amudai-go/storage"
)

// Builder collects hashes with their rows. What exceeds its memory goes to a temporary file for each partition. It must not be used
// concurrently.
type Builder struct {
	parts  [][]entry
	spools []*storage.Spool
	spool  func() *storage.Spool
	limit  int // entries in memory
	n      int // of them
}

type entry struct{ hash, row uint64 }

const entrySize = 16

// NewBuilder returns a builder of an index with some partitions, a power of two. It takes about limit bytes of memory, and then spools, which it closes. Write
// takes memory for a partition beside that.
func NewBuilder(partitions int, limit int64, spool func() *storage.Spool) (*Builder, error) {
	if partitions < 1 || partitions > MaxPartitions || partitions&(partitions-1) != 0 {
		return nil, fmt.Errorf("a hashmap index has no %d partitions, but a power of two up to %d", partitions, MaxPartitions)
	}
	return &Builder{parts: make([][]entry, partitions), spools: make([]*storage.Spool, partitions), spool: spool, limit: int(limit / entrySize)}, nil
}

// Add adds a row to a hash.
func (b *Builder) Add(hash, row uint64) error {
	p := partitionOf(hash, len(b.parts))
	b.parts[p] = append(b.parts[p], entry{hash, row})
	if b.n++; b.n > b.limit {
		return b.spill()
	}
	return nil
}

// spill writes all entries to temporary files.
func (b *Builder) spill() error {
	var buf []byte
	for p, entries := range b.parts {
		if len(entries) == 0 {
			continue
		}
		if b.spools[p] == nil {
			b.spools[p] = b.spool()
		}
		buf = buf[:0]
		for _, e := range entries {
			buf = binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(buf, e.hash), e.row)
		}
		if _, err := b.spools[p].Write(buf); err != nil {
			return err
		}
		b.parts[p] = entries[:0]
	}
	b.n = 0
	return nil
}

// Close removes temporary files.
func (b *Builder) Close() error {
	var first error
	for i, s := range b.spools {
		if s == nil {
			continue
		}
		if err := s.Close(); err != nil && first == nil {
			first = err
		}
		b.spools[i] = nil
	}
	return first
}

// Write writes the partitions of builders that have as many, which create begins by their names. Folders of temporary files are as in columns.NewWriter. The builders are to
// be closed afterwards.
func Write(ctx context.Context, create func(name string) io.Writer, tempDir string, builders ...*Builder) error {
	for p := range builders[0].parts {
		var entries []entry
		for _, b := range builders {
			some, err := b.take(p)
			if err != nil {
				return err
			}
			entries = append(entries, some...)
		}
		if err := writePartition(ctx, create(fmt.Sprintf("part%d", p)), entries, tempDir); err != nil {
			return err
		}
	}
	return nil
}

// take returns the entries of a partition, and forgets them.
func (b *Builder) take(p int) ([]entry, error) {
	entries := b.parts[p]
	b.parts[p] = nil
	s := b.spools[p]
	if s == nil {
		return entries, nil
	}
	buf := make([]byte, s.Size())
	if _, err := io.ReadFull(io.NewSectionReader(s, 0, s.Size()), buf); err != nil {
		return nil, err
	}
	for ; len(buf) > 0; buf = buf[entrySize:] {
		entries = append(entries, entry{binary.LittleEndian.Uint64(buf), binary.LittleEndian.Uint64(buf[8:])})
	}
	return entries, nil
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
		rows.Append(e.row)
	}
}
