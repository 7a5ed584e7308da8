// Package source has the sources of knowledge about the rows of a stripe that do not read the values of these
// rows. Each source has a file.
//
//	statistics     bounds and counts of the stripe        reads descriptors
//	bloom          byte strings that the stripe lacks     nothing more
//	dictionary     the values that rows may have          reads the dictionary
//	index          rows by terms, and other indexes       reads parts of the index
//	range index    bounds of every 256 rows               reads the index
//
// A source is asked about one condition at a time, a leaf of a bound filter; indexes also about a conjunction of leaves. Its answer divides rows into three: those for
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

// The kinds, in the order in which they are asked: the cheapest first.
const (
	Statistics Kinds = 1 << iota
	BloomFilters
	Dictionaries
	Indexes
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
	case Indexes:
		return "index"
	}
	return "several sources"
}

// Source is one kind of knowledge about the rows of one stripe. It is asked by one
// goroutine.
type Source interface {
	// Kind is the one kind of the source.
	Kind() Kinds
	// Cost estimates the values examined to answer a condition. ok is false if the source has no knowledge about
	// the columns of the condition.
	Cost(leaf *predicate.Node) (values int64, ok bool)
	// Ask returns the knowledge of the source about some rows for a condition.
	Ask(ctx context.Context, leaf *predicate.Node, among rowset.Set) (Answer, error)
	// Note describes the answers for Explain. It is "" if there were none.
	Note() string
}

// Answer divides the rows that a source was asked about. The condition is true for the rows of True. It may be
// true for the rows of Maybe, which include True. It is not true for the others.
type Answer struct {
	Maybe, True rowset.Set
}

// Decided reports whether the condition is true for all rows of Maybe.
func (a Answer) Decided() bool { return a.True.Len() == a.Maybe.Len() }

// answerOf is the answer for rows that share a verdict.
func answerOf(v predicate.Verdict, among rowset.Set) Answer {
	switch v {
	case predicate.None:
		return Answer{}
	case predicate.All:
		return Answer{among, among}
	}
	return Answer{Maybe: among}
}

// Stripe is the input of sources: a stripe, and the columns of a filter in it.
type Stripe struct {
	Rows    int64
	Path    func(column int) string // of a column of the filter
	Columns []Column                // indexed by the filter's column number
	// Facts are the facts about all rows of the columns so far. Each source adds to them.
	Facts []predicate.Facts
	// Indexes are the indexes that have some of the columns.
	Indexes []Index
}

// Column is a column of a filter in a stripe.
type Column struct {
	Metadata
	// Entries reads the values of the column's dictionary, each once. It returns nil if there is no dictionary.
	// The caller must not release them.
	Entries func(ctx context.Context) (arrow.Array, error)
	// Pages reads the column's range index. It returns nil if there is none.
	Pages func(ctx context.Context) (*Pages, error)
}

// Metadata is the knowledge of descriptors about a column in a stripe.
type Metadata struct {
	Facts predicate.Facts
	// Direct is true if no struct around the column is null, so that the values of the column are those of its
	// rows.
	Direct bool
	// Apart is true if positions of the column are not those of the rows, so that bounds of pages of it say nothing about them: it is in an
	// alternative of a union that has its own.
	Apart bool
	// DictionaryEntries is the number of entries of the column's value dictionary, 0 if there is none.
	DictionaryEntries int64
	// Mixed tells that some rows have values that the dictionary may lack, so that it decides about no row alone.
	Mixed bool
	// Bloom opens the column's Bloom filter, which reports whether a byte string may be in the column. Bloom and its
	// result are nil if there is none.
	Bloom func() func(value []byte) bool
}

// All returns the sources of a stripe, without the disabled kinds, in the order in which they are asked.
func All(s *Stripe, disable Kinds) []Source {
	var sources []Source
	for i, of := range makers {
		if disable&(1<<i) == 0 {
			sources = append(sources, of(s))
		}
	}
	return sources
}

// makers make the sources, in the order of their kinds.
var makers = [...]func(s *Stripe) Source{
	func(s *Stripe) Source { return &statistics{stripe: s} },
	func(s *Stripe) Source { return &bloom{stripe: s} },
	func(s *Stripe) Source { return &Dictionary{stripe: s} },
	func(s *Stripe) Source { return &indexes{stripe: s} },
	func(s *Stripe) Source { return &rangeIndex{stripe: s} },
}

// notes joins remarks about several columns.
func notes(parts []string) string { return strings.Join(parts, ", ") }
