// Package edition is the table of the features beyond those of the reference, and of the
// editions that have them. A writer resolves an [Edition] into a [Set] once, at Create, and
// filters every list of candidates by that set. There is no other check. The standard
// properties of a shard record its edition and the features that it uses (docs/format.md §13).
package edition

import (
	"fmt"
	"math/bits"
	"slices"
	"strings"
)

// Edition names a set of features. The zero value is the default.
type Edition uint8

const (
	// E2026 has the features of the table below.
	E2026 Edition = iota
	// Reference has only features that the reference implementation reads.
	Reference
)

// String is the name that options and shard properties use.
func (e Edition) String() string {
	switch e {
	case Reference:
		return "reference"
	case E2026:
		return "2026"
	}
	return fmt.Sprintf("Edition(%d)", uint8(e))
}

// oldestFirst lists all editions. Each has the features of those before it.
var oldestFirst = []Edition{Reference, E2026}

// Has reports whether an edition has the features that first came with another.
func (e Edition) Has(first Edition) bool {
	return slices.Index(oldestFirst, first) <= slices.Index(oldestFirst, e)
}

// Parse is the inverse of [Edition.String].
func Parse(name string) (Edition, error) {
	for _, e := range oldestFirst {
		if e.String() == name {
			return e, nil
		}
	}
	return 0, fmt.Errorf("unknown edition %q: use 2026 or reference", name)
}

// Feature is one row of the table.
type Feature uint8

// The features. Shards record their names, not these numbers.
const (
	DecimalTree        Feature = iota // decimals as exponent, integer tree and exceptions
	CommonDivisor                     // integers as multiples of a divisor
	BytePlanes                        // values split into planes of bytes, each compressed
	Narrow                            // unsigned values in a narrower type
	PatchedPack                       // bit packing with exceptions
	UnitNodes                         // Arrow nulls as Unit nodes, which have no buffers
	FixedSizeLists                    // fixed-size lists as such, not as lists
	PrefixBins                        // integers as prefix codes of ranges and offsets in them
	FlatLZ                            // bytes as sequences of one size and literals
	Template                          // texts as templates and digits
	SingleBlocks                      // buffers of one block without a block map
	TightPack                         // bit packing without chunks
	InlineMaps                        // block maps in descriptors
	OnPair                            // texts as tokens of a dictionary
	RadixPack                         // characters of small alphabets as digits
	FrontCoding                       // byte strings by what they share with the one before
	PackedDictionaries                // value dictionaries as encoding trees
	Fields                            // texts as patterns and columns of fields
	Unions                            // unions
	NullsApart                        // nulls of numbers in buffers of their own
	OffsetsApart                      // offsets of byte strings in buffers of their own
	ExternalParquet                   // columns that stay in Parquet files
	PackedGroups                      // blocks of several columns in super-blocks
	SharedDictionaries                // texts as tokens of a dictionary of the whole stripe
	NumberDictionaries                // value dictionaries of numbers
	Alternatives                      // fields with two encodings
	UnionOffsets                      // unions whose alternatives have positions of their own
	DeletedRecords                    // records that are marked as deleted
	PresenceRuns                      // nulls of blocks as lengths of runs
	LagDelta                          // integers as differences from those some positions before
	numFeatures
)

// Row describes a feature.
type Row struct {
	Feature Feature // its own number
	Name    string  // as recorded in the shard property
	Code    uint16  // block code, 0 if it is not an encoding
	Edition Edition // first edition that has it
	Since   string  // first version of this library that writes it
}

// Table lists every feature, in the order of its constants.
var Table = [numFeatures]Row{
	{DecimalTree, "decimal-tree", 0x8001, E2026, "0.1.0"},
	{CommonDivisor, "common-divisor", 0x8002, E2026, "0.1.0"},
	{BytePlanes, "byte-planes", 0x8003, E2026, "0.1.0"},
	{Narrow, "narrow", 0x8004, E2026, "0.1.0"},
	{PatchedPack, "patched-pack", 0x8005, E2026, "0.1.0"},
	{UnitNodes, "unit-nodes", 0, E2026, "0.1.0"},
	{FixedSizeLists, "fixed-size-lists", 0, E2026, "0.1.0"},
	{PrefixBins, "prefix-bins", 0x8006, E2026, "0.1.0"},
	{FlatLZ, "flat-lz", 0x8007, E2026, "0.1.0"},
	{Template, "template", 0x8008, E2026, "0.1.0"},
	{SingleBlocks, "single-blocks", 0, E2026, "0.1.0"},
	{TightPack, "tight-pack", 0x800A, E2026, "0.1.0"},
	{InlineMaps, "inline-maps", 0, E2026, "0.1.0"},
	{OnPair, "on-pair", 0x800B, E2026, "0.1.0"},
	{RadixPack, "radix-pack", 0x800D, E2026, "0.1.0"},
	{FrontCoding, "front-coding", 0x800E, E2026, "0.1.0"},
	{PackedDictionaries, "packed-dictionaries", 0, E2026, "0.1.0"},
	{Fields, "fields", 0x800C, E2026, "0.1.0"},
	{Unions, "unions", 0, E2026, "0.1.0"},
	{NullsApart, "nulls-apart", 0, E2026, "0.1.0"},
	{OffsetsApart, "offsets-apart", 0, E2026, "0.1.0"},
	{ExternalParquet, "external-parquet", 0, E2026, "0.1.0"},
	{PackedGroups, "packed-groups", 0, E2026, "0.1.0"},
	{SharedDictionaries, "shared-dictionaries", 0x800F, E2026, "0.1.0"},
	{NumberDictionaries, "number-dictionaries", 0, E2026, "0.1.0"},
	{Alternatives, "alternatives", 0, E2026, "0.1.0"},
	{UnionOffsets, "union-offsets", 0, E2026, "0.1.0"},
	{DeletedRecords, "deleted-records", 0, E2026, "0.1.0"},
	{PresenceRuns, "presence-runs", 0, E2026, "0.1.0"},
	{LagDelta, "lag-delta", 0x8010, E2026, "0.1.0"},
}

// OfCode is the feature that a block code belongs to; false for codes of every edition and for
// unknown codes.
func OfCode(code uint16) (f Feature, ok bool) {
	for _, row := range Table {
		if row.Code == code && code != 0 {
			return row.Feature, true
		}
	}
	return 0, false
}

// Set is a set of features.
type Set uint64

// ParseSet is the inverse of [Set.String]; others are names that are not in the table.
func ParseSet(names string) (s Set, others []string) {
	for name := range strings.SplitSeq(names, ",") {
		i := slices.IndexFunc(Table[:], func(row Row) bool { return row.Name == name })
		switch {
		case i >= 0:
			s = s.With(Feature(i))
		case name != "":
			others = append(others, name)
		}
	}
	return s, others
}

// Only is the set of one feature.
func Only(f Feature) Set { return 1 << f }

// Features is the set of features that a shard of this edition may use.
func (e Edition) Features() Set {
	var s Set
	for _, row := range Table {
		if e.Has(row.Edition) {
			s = s.With(row.Feature)
		}
	}
	return s
}

// Has reports whether f is in the set.
func (s Set) Has(f Feature) bool { return s>>f&1 != 0 }

// With is the set with f added.
func (s Set) With(f Feature) Set { return s | 1<<f }

// Len is the number of features in the set.
func (s Set) Len() int { return bits.OnesCount64(uint64(s)) }

// String lists the names, separated by commas, in the order of the table.
func (s Set) String() string {
	var names []string
	for _, row := range Table {
		if s.Has(row.Feature) {
			names = append(names, row.Name)
		}
	}
	return strings.Join(names, ",")
}
