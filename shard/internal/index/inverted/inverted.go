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

import "github.com/apache/arrow-go/v18/arrow"

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
