// Package inverted reads and writes inverted text indexes as the reference stores them: the terms as the pages of a B-tree in
// one shard, their positions in another (docs/format.md §15.2). Positions are rows of the shard that is indexed.
//
// A page is a record of the terms shard, and the last one is the root:
//
//	level                   0 of a leaf
//	entries                 leaf: terms in the order of the collation; else: of each child the last term
//	    term
//	    child_position      number of the child; null in a leaf
//	    term_positions      in a leaf, by stripe
//	        stripe_id
//	        fields          by field
//	            field_schema_id
//	            repr_type   form of the list
//	            pos_list_end_offset
//	pos_list_start_offset   of the first list of a leaf; null in other pages
//
// The lists of positions are one behind the other in the positions shard, in the order of entries, stripes and fields. So a list
// begins where the one before it ends. Offsets count numbers.
//
// The reference loses postings: one that equals the last one of the term before. [Index.Before] is where to look for it.
package inverted

import (
	"context"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/amudai/amudai-go/internal/base/lru"
	"github.com/amudai/amudai-go/internal/text/analysis"
	"github.com/amudai/amudai-go/shard/internal/index/internal/columns"
	"github.com/amudai/amudai-go/storage"
)

// Form is the form of a list of positions.
type Form uint8

// The forms.
const (
	Rows        Form = iota // each row
	Ranges                  // the first row of each range, and the row behind its last
	Approximate             // the same, but not all rows between have the term
)

// List is the rows of a term in a field and a stripe.
type List struct {
	Stripe uint16
	Field  uint32 // schema id
	Form   Form

	from, to uint64 // numbers of the positions shard
}

// Entry is a term.
type Entry struct {
	Term  []byte // not to be changed
	Lists []List // by stripe and field; not to be changed
}

// termsSchema and positionsSchema are the columns of the two shards.
var (
	termsSchema = arrow.NewSchema([]arrow.Field{
		{Name: "level", Type: arrow.PrimitiveTypes.Uint8},
		{Name: "entries", Type: listOf(
			arrow.Field{Name: "term", Type: arrow.BinaryTypes.LargeBinary, Nullable: true},
			arrow.Field{Name: "child_position", Type: arrow.PrimitiveTypes.Uint64, Nullable: true},
			arrow.Field{Name: "term_positions", Nullable: true, Type: listOf(
				arrow.Field{Name: "stripe_id", Type: arrow.PrimitiveTypes.Uint16, Nullable: true},
				arrow.Field{Name: "fields", Nullable: true, Type: listOf(
					arrow.Field{Name: "field_schema_id", Type: arrow.PrimitiveTypes.Uint32, Nullable: true},
					arrow.Field{Name: "repr_type", Type: arrow.PrimitiveTypes.Uint8, Nullable: true},
					arrow.Field{Name: "pos_list_end_offset", Type: arrow.PrimitiveTypes.Uint64, Nullable: true})})})},
		{Name: "pos_list_start_offset", Type: arrow.PrimitiveTypes.Uint64},
	}, nil)
	positionsSchema = arrow.NewSchema([]arrow.Field{{Name: "position", Type: arrow.PrimitiveTypes.Uint64}}, nil)
)

func listOf(fields ...arrow.Field) arrow.DataType {
	return arrow.LargeListOf(arrow.StructOf(fields...))
}

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
