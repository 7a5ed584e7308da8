package inverted

import (
	"context"

	"github.com/amudai/amudai-go/internal/base/lru"
	"github.com/amudai/amudai-go/internal/text/analysis"
	"github.com/amudai/amudai-go/shard/internal/index/internal/columns"
	"github.com/amudai/amudai-go/shard/internal/stripe/read"
	"github.com/amudai/amudai-go/storage"
)

// Index is an open index. Its methods may be called concurrently.
type Index struct {
	Collation analysis.Collation
	Rows      int64  // of the shard that is indexed
	Pages     int64  // of the tree
	Positions int64  // numbers in all lists
	Content   string // tells the index from others; empty for those of the reference

	level, entries, start *read.Column // nil without pages
	positions             *read.Column // nil without positions
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
	pages, n, content, err := columns.OpenIn(ctx, terms, termsSchema, maxPageBytes)
	if err != nil {
		return nil, err
	}
	if x.Pages = n; n > 0 {
		x.level, x.entries, x.start = pages[0], pages[1], pages[2]
	}
	positionColumns, n, more, err := columns.OpenIn(ctx, positions, positionsSchema, maxPageBytes)
	if err != nil {
		return nil, err
	}
	if x.Positions = n; n > 0 {
		x.positions = positionColumns[0]
	}
	if content != "" && more != "" {
		x.Content = content + more
	}
	return x, nil
}
