package inverted

import (
	"context"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/amudai/amudai-go/internal/base/lru"
	"github.com/amudai/amudai-go/internal/text/analysis"
	"github.com/amudai/amudai-go/shard/internal/index/internal/columns"
	"github.com/amudai/amudai-go/storage"
)

// Index is an open index. Its methods may be called concurrently.
type Index struct {
	Collation analysis.Collation
	Rows      int64  // of the shard that is indexed
	Pages     int64  // of the tree
	Positions int64  // numbers in all lists
	Content   string // tells the index from others; without meaning for those of the reference

	level, entries, start *columns.Column // nil without pages
	positions             *columns.Column // nil without positions
	cache                 *lru.Cache[int64, *page]
}

// cacheBytes is the memory for pages that were read.
const cacheBytes = 1 << 20

// maxPageBytes bounds what a page takes as Arrow arrays. Pages have about 8 KiB.
const maxPageBytes = 16 << 20

// Open opens the index in two artifacts, of a shard with so many rows. Each is a shard: the one in the range or, as in
// descriptions that the reference makes, the one at the end of its file if none begins with the range.
func Open(ctx context.Context, terms, positions storage.ByteRange, c analysis.Collation, rows int64) (*Index, error) {
	x := &Index{Collation: c, Rows: rows, cache: lru.New[int64, *page](cacheBytes)}
	pages, err := openIn(ctx, terms, termsSchema)
	if err != nil {
		return nil, err
	}
	if x.Pages = pages.Rows; x.Pages > 0 {
		x.level, x.entries, x.start = pages.Columns[0], pages.Columns[1], pages.Columns[2]
	}
	numbers, err := openIn(ctx, positions, positionsSchema)
	if err != nil {
		return nil, err
	}
	if x.Positions = numbers.Rows; x.Positions > 0 {
		x.positions = numbers.Columns[0]
	}
	x.Content = pages.Content + numbers.Content
	return x, nil
}

func openIn(ctx context.Context, at storage.ByteRange, s *arrow.Schema) (t columns.Table, err error) {
	f, err := columns.File(ctx, at)
	if err != nil {
		return t, err
	}
	return columns.Open(ctx, f, s, maxPageBytes)
}
