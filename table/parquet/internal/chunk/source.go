// Package chunk reads column chunks of scalars: pages found by the offset index or by their headers, decompressed, decoded into Arrow arrays of
// the rows that are asked for, and dictionaries.
package chunk

import (
	"context"
	"errors"
	"fmt"

	"github.com/apache/arrow-go/v18/parquet/metadata"

	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/base/lru"
	"github.com/amudai/amudai-go/internal/engine/table"
	"github.com/amudai/amudai-go/storage"
	"github.com/amudai/amudai-go/table/parquet/internal/thrift"
)

// Source is the file that chunks are read from, with the pages and dictionaries that are kept. Many goroutines may use it.
type Source struct {
	Reader storage.Reader
	Size   int64

	pages        *lru.Cache[pageKey, *page]
	dictionaries *lru.Cache[chunkKey, *dictionary]
}

const cachedBytes = 16 << 20 // of pages, and of dictionaries

// NewSource returns a file of some bytes.
func NewSource(r storage.Reader, size int64) *Source {
	return &Source{r, size, lru.New[pageKey, *page](cachedBytes), lru.New[chunkKey, *dictionary](cachedBytes)}
}

// chunkKey identifies a column chunk.
type chunkKey struct{ group, leaf int }

// pageKey identifies a page.
type pageKey struct {
	group, leaf, page int
}

// Chunk returns a column chunk. The footer, and the place of the chunk in it, were checked.
func (f *Source) Chunk(footer *metadata.FileMetaData, group, leaf int) (*Chunk, error) {
	g := footer.RowGroup(group)
	meta, err := g.ColumnChunk(leaf)
	if err != nil {
		return nil, err
	}
	c := &Chunk{Source: f, Group: group, Leaf: leaf, Meta: meta, Column: footer.Schema.Column(leaf), Rows: g.NumRows()}
	c.From = meta.DataPageOffset()
	if d := meta.DictionaryPageOffset(); meta.HasDictionaryPage() && d > 0 && d < c.From {
		c.From = d
	}
	c.End = c.From + meta.TotalCompressedSize()
	if footer.WriterVersion().LessThan(metadata.Parquet816FixedVersion) {
		c.End += dictionaryHeaderBytes // which old writers did not count
	}
	c.End = min(c.End, f.Size)
	return c, nil
}

const dictionaryHeaderBytes = 100

// BytesAt are n bytes of the file. They must not be changed.
func (f *Source) BytesAt(ctx context.Context, have storage.Prefetched, at, n int64) ([]byte, error) {
	if b := have.Bytes(f.Reader, at, n); b != nil {
		return b, nil
	}
	if at < 0 || n < 0 || at > f.Size || n > f.Size-at {
		return nil, fault.Corruptf("%d bytes at %d lie outside the file of %d bytes", n, at, f.Size)
	}
	return storage.ReadRange(ctx, f.Reader, at, n)
}

// PlaceIn adds the file, the row group and the column to an error.
func (f *Source) PlaceIn(err error, group int, column string) error {
	if err == nil {
		return nil
	}
	if !fault.Is(err) && isData(err) {
		err = fault.Corruptf("%v", err)
	}
	return fault.Of(fault.In(fault.In(err, fmt.Sprintf("column %q", column), -1), fmt.Sprintf("row group %d", group), -1), f.Reader.Name())
}

// isData reports whether an error is about the bytes of the file, not about reading them.
func isData(err error) bool {
	return errors.Is(err, thrift.ErrShort) || errors.Is(err, thrift.ErrFormat)
}

// Counters are those of pages.
type Counters = table.BlockCounters[pageKey]

// NewCounters returns counters of nothing.
func NewCounters() *Counters { return table.NewBlockCounters[pageKey]() }

// AddChunk counts a chunk whose pages are not known, once.
func AddChunk(to *Counters, chunk *Chunk) {
	if key := (pageKey{chunk.Group, chunk.Leaf, 0}); !to.Has(key) {
		to.AddBlock(key, chunk.End-chunk.From)
	}
}
