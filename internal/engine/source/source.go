// Package source has the sources of knowledge about the rows of a stripe that need no values of these rows. Each source is a
// file.
//
//	statistics     bounds and counts of the stripe        reads descriptors
//	bloom          byte strings that the stripe lacks     nothing more
//	dictionary     the values that rows may have          reads the dictionary
//	range index    bounds of every 256 rows               reads the index
//
// A source is asked about one condition at a time, a leaf of a bound filter. Its answer divides rows into three: those for
// which the condition is true, those for which it is not true, and those whose values must be read. Package rowfilter
// combines the answers for the nodes of a filter.
//
// A new source is a file here, and an element of the list in [All].
package source

import (
	"context"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/amudai/amudai-go/internal/engine/predicate"
	"github.com/amudai/amudai-go/internal/engine/rowset"
)

// Kinds is a set of kinds of sources.
type Kinds uint8

// The kinds, in the order in which they are asked: by what they cost.
const (
	Statistics Kinds = 1 << iota
	BloomFilters
	Dictionaries
	RangeIndexes
)

// String is the name of a single kind.
func (k Kinds) String() string {
	switch k {
	case Statistics:
		return "statistics"
	case BloomFilters:
		return "Bloom filters"
	case Dictionaries:
		return "value dictionary"
	case RangeIndexes:
		return "range index"
	}
	return "several sources"
}

// Source is one kind of knowledge about the rows of one stripe. It is asked by one
// goroutine.
type Source interface {
	// Kind is the one kind of the source.
	Kind() Kinds
	// Cost is about how many values an answer to a condition looks at; ok is false if the
	// source knows nothing of the condition's columns.
	Cost(leaf *predicate.Node) (values int64, ok bool)
	// Ask tells what the source knows of some rows for a condition.
	Ask(ctx context.Context, leaf *predicate.Node, among rowset.Set) (Answer, error)
	// Note describes the answers given, for Explain; "" if there were none.
	Note() string
}

// Answer divides rows that a source was asked about: the condition is true for those of
// True, it may be true for those of Maybe, and it is true for no other. True is a part of
// Maybe.
type Answer struct {
	Maybe, True rowset.Set
}

// answerOf is the answer of a verdict that holds for all rows asked about.
func answerOf(v predicate.Verdict, among rowset.Set) Answer {
	switch v {
	case predicate.None:
		return Answer{}
	case predicate.All:
		return Answer{among, among}
	}
	return Answer{Maybe: among}
}

// Stripe is what sources look at: a stripe, and the columns of a filter in it.
type Stripe struct {
	Rows    int64
	Columns []Column // by the filter's index of the column
	// Facts are what sources have found out about all rows of the columns so far. Each
	// source adds to them.
	Facts []predicate.Facts
}

// Column is a column of a filter in a stripe.
type Column struct {
	Path string // as the filter names it
	Metadata
	// Entries reads the values of the column's dictionary, each once; nil if there is none
	// after all. They are not released.
	Entries func(ctx context.Context) (arrow.Array, error)
	// Pages reads the column's range index, nil if there is none.
	Pages func(ctx context.Context) (*Pages, error)
}

// Metadata is what the descriptors of a column in a stripe say.
type Metadata struct {
	Facts predicate.Facts
	// Direct says that no struct around the column is null, so that the column alone tells
	// which values its rows have.
	Direct bool
	// DictionaryEntries is how many entries the column's value dictionary has; 0 for none.
	DictionaryEntries int64
	// Bloom opens the column's Bloom filter: whether a byte string may be in the column.
	// Both are nil if there is none.
	Bloom func() func(value []byte) bool
}

// All are the sources of a stripe but for those of some kinds, in the order in which they
// are to be asked.
func All(s *Stripe, disable Kinds) []Source {
	sources := []Source{
		&statistics{stripe: s}, &bloom{stripe: s}, &Dictionary{stripe: s}, &rangeIndex{stripe: s},
	}
	kept := sources[:0]
	for _, src := range sources {
		if src.Kind()&disable == 0 {
			kept = append(kept, src)
		}
	}
	return kept
}

// notes joins what there is to say about several columns.
func notes(parts []string) string { return strings.Join(parts, ", ") }
