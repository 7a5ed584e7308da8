package shard

import (
	"context"

	"github.com/amudai/amudai-go/shard/internal/inspect"
	"github.com/amudai/amudai-go/shard/internal/root"
	"github.com/amudai/amudai-go/shard/internal/shardfile"
	"github.com/amudai/amudai-go/shard/internal/shardwriter"
)

// InspectOptions select parts of a shard and the level of detail of a [Structure]. The zero value is an overview of all.
//
//	type Options struct {
//		Detail  int      // 0: an overview, 1: stripes and columns, 2: buffers, 3: blocks
//		Stripes []int    // by number; empty: all
//		Columns []string // by path, with their children; empty: all
//	}
type InspectOptions = inspect.Options

// Structure describes how a shard is built. In JSON its fields have the names that amudai inspect --json uses.
//
//	type Structure struct {
//		Location   string
//		Bytes      int64 // of all files
//		Files      []File
//		Rows       int64
//		Deleted    uint64
//		RawBytes   uint64
//		Columns    int
//		Nodes      uint32
//		Stripes    int
//		Layout     string
//		Created    string
//		Properties map[string]any
//		Unknown    []string
//		Indexes    []string
//		StripeList []Stripe // from level 1 of detail
//	}
type Structure = inspect.Structure

// FileStructure is an artifact of a shard in a [Structure].
//
//	type File struct {
//		Name  string
//		Bytes int64
//	}
type FileStructure = inspect.File

// StripeStructure is a stripe in a [Structure].
//
//	type Stripe struct {
//		Index    int
//		Position int64
//		Rows     int64
//		RawBytes uint64
//		Bytes    int64
//		Columns  []Column
//	}
type StripeStructure = inspect.Stripe

// ColumnStructure is a schema node in a [StripeStructure].
//
//	type Column struct {
//		ID        uint32
//		Path      string
//		Type      string
//		Missing   bool // the stripe lacks the column: all rows are null
//		Positions uint64
//		Nulls     *uint64
//		Constant  any
//		Distinct
//		Bytes   int64
//		Buffers []Buffer // from level 2 of detail
//		Depth      int // of the node in the schema, from 0
//		Name       string // of the node, "(item)" for that of lists
//		IsConstant bool
//		Min, Max   string // bounds of the values as text, "" if there are none
//	}
type ColumnStructure = inspect.Column

// BufferStructure is an encoded buffer of a [ColumnStructure].
//
//	type Buffer struct {
//		Kind      string
//		File      string
//		Start     int64
//		Bytes     int64
//		MapBytes  int64
//		Blocks    uint64
//		Checksums bool
//		Presence  bool
//		Encodings []Share
//		List      []Block // from level 3 of detail
//		Error     string
//	}
type BufferStructure = inspect.Buffer

// BlockStructure is a block of a [BufferStructure].
//
//	type Block struct {
//		Index    int
//		First    uint64
//		Values   int
//		Offset   int64 // in the file
//		Bytes    int
//		Presence int
//		Tree     string
//		Error    string
//	}
type BlockStructure = inspect.Block

// TreeStructure is an encoding tree, or a part of one.
//
//	type Tree struct {
//		Type          string // "" if it is known from the part above
//		Values, Bytes int
//		Offset        int   // within the values of the block
//		Err           error // why it cannot be read
//	}
type TreeStructure = inspect.Tree

// EncodingShare is the part of a buffer or column that uses one encoding.
//
//	type Share struct {
//		Encoding string
//		Blocks   int
//		Values   int64
//		Bytes    int64
//	}
type EncodingShare = inspect.Share

// DistinctCount is the number of distinct values of a column without nulls.
//
//	type Distinct struct {
//		Distinct *uint64
//		Estimate bool
//	}
type DistinctCount = inspect.Distinct

// StoredNode is a node of the stored schema.
//
//	type Node struct {
//		ID       uint32
//		Depth    int    // from 0
//		Name     string // "(item)" for that of lists
//		Type     string // the stored type
//		Extended string // the extended type, or ""
//	}
type StoredNode = inspect.Node

// ColumnSummary describes a schema node in several stripes: its statistics, stored size and encodings.
//
//	type Summary struct {
//		ID        uint32
//		Path      string
//		Type      string
//		Positions uint64
//		Nulls     *uint64
//		Distinct
//		Min       any
//		Max       any
//		RawBytes  uint64
//		Bytes     int64
//		Encodings []Share
//		Details   map[string]any
//		Depth            int // of the node in the schema, from 0
//		Name             string // of the node, "(item)" for that of lists
//		MinText, MaxText string // bounds of the values as text, "" if there are none
//		Varies           bool // not constant in every stripe
//	}
type ColumnSummary = inspect.Summary

// Part is a part of a shard whose own parts are read when they are asked for.
//
//	type Part struct {
//		Name string // "stripe 0", the name of a column, the kind of a buffer, "block 0", or that of an encoding
//		// Value describes the part: *[Stripe] with its place only, *[Column], *[Buffer], *[Block], *[Tree], a string, or an error.
//		Value any
//		// Parts lists the parts. It is nil for a part without any.
//		Parts func(ctx context.Context) (*Parts, error)
//	}
type Part = inspect.Part

// Parts is a list of parts of one kind, which are read by their numbers.
//
//	type Parts struct {
//		Kind string // "stripes", "columns", "blocks"
//		Len  int
//		Read func(ctx context.Context, from, to int) ([]Part, error)
//	}
type Parts = inspect.Parts

// DumpLine is a line of a dump of bytes.
//
//	type Line struct {
//		Kind   Kind
//		Offset int64  // in the artifact, or -1 for a line that continues another
//		Indent int    // of the text
//		Title  string // what the bytes are
//		Text   string // of a message, an error, or a line of an encoding tree
//		Data   []byte // up to 16 bytes, until the next line
//		Bytes  int64  // in a region, a gap, a block, or behind the bytes that a dump of a region shows
//		// Of a block: its values, and the number of the first.
//		Values int
//		First  uint64
//	}
type DumpLine = inspect.Line

// DumpKind is the kind of a [DumpLine].
type DumpKind = inspect.Kind

// The kinds of [DumpLine].
const (
	DumpBytes    = inspect.KindBytes
	DumpArtifact = inspect.KindArtifact
	DumpRegion   = inspect.KindRegion
	DumpGap      = inspect.KindGap
	DumpBlock    = inspect.KindBlock
	DumpMore     = inspect.KindMore
	DumpMessage  = inspect.KindMessage
	DumpTree     = inspect.KindTree
	DumpError    = inspect.KindError
)

// Inspect describes how the shard is built. Damage within a buffer is part of the description. Damage of the metadata is an error.
func (s *Shard) Inspect(ctx context.Context, o InspectOptions) (*Structure, error) {
	return inspect.Shard(ctx, s.file, o)
}

// Stripes are the stripes as parts, then their columns, buffers, blocks and encoding trees, each read when it is asked for. Several
// goroutines may use them at once, as long as the shard is open.
func (s *Shard) Stripes(ctx context.Context) (*Parts, error) { return inspect.Stripes(ctx, s.file) }

// Summaries describes the columns in the stripes that options select. The detail of the options is not used.
func (s *Shard) Summaries(ctx context.Context, o InspectOptions) ([]*ColumnSummary, error) {
	return inspect.Summaries(ctx, s.file, o)
}

// StoredNodes lists the nodes of the stored schema, parents first.
func (s *Shard) StoredNodes(ctx context.Context) ([]StoredNode, error) {
	return inspect.Nodes(ctx, s.file)
}

// Dump calls emit for each line of a dump of the bytes of the shard, in the order of each artifact. With columns or stripes in the
// options, these are their buffers. An error of emit ends the dump.
func (s *Shard) Dump(ctx context.Context, o InspectOptions, emit func(DumpLine) error) error {
	return inspect.Dump(ctx, s.file, o, emit)
}

// StoredBytes is the size of all files of the shard that exist.
func (s *Shard) StoredBytes(ctx context.Context) (int64, error) {
	return inspect.StoredBytes(ctx, s.file)
}

// PartSuffixes are the ends of the names of the files that belong to a shard, beside its root.
func PartSuffixes() []string {
	return []string{shardwriter.StripeSuffix, shardwriter.IndexSuffix, root.DataSuffix}
}

// PropertyEdition is the standard property with the edition of the encodings of a shard.
const PropertyEdition = shardfile.PropertyEdition

// PlainValue converts a value of a [Property] that JSON cannot represent to text.
func PlainValue(v any) any { return inspect.PlainValue(v) }

// ColumnStatistics are the stored statistics of a column, in a shard or in one of its stripes
// (docs/format.md §10). Min and Max are garbage collected and need no Release.
//
//	type ColumnStatistics struct {
//		Rows  int64 // of the shard or stripe
//		Nulls int64 // rows whose value is null, or -1 if it is not known
//		// Bounds of the values that are neither null nor NaN: arrays of one value of the column's physical type (see
//		// stripe.Physical), or nil if the bound is not known or there are no such values. If it is exact, the bound itself
//		// occurs in the column; otherwise all values may lie further inside.
//		Min, Max           arrow.Array
//		MinExact, MaxExact bool
//		RawBytes           int64 // size of the values without any encoding, or 0 if it is not recorded
//		DictionaryEntries  int64 // of the value dictionary of a stripe, null included; 0 without one, and for a whole shard
//		NaNs               int64 // values that are NaN, or -1 if it is not known; 0 for types without NaN
//		Distinct           int64 // distinct values without nulls, or -1 if it is not known
//		DistinctEstimated  bool  // Distinct is not exact
//	}
type ColumnStatistics = inspect.ColumnStatistics

// Statistics reads the stored statistics of the column at path, which may be a field of a struct.
// Its nulls include those of the enclosing structs. No values are read.
func (s *Shard) Statistics(ctx context.Context, path string) (*ColumnStatistics, error) {
	return s.recorded().Column(ctx, path)
}

// StripeStatistics is [Shard.Statistics] for stripe i. It panics unless 0 <= i < NumStripes.
func (s *Shard) StripeStatistics(ctx context.Context, i int, path string) (*ColumnStatistics, error) {
	return s.recorded().ColumnOf(ctx, s.file.Stripe(i), path)
}

func (s *Shard) recorded() inspect.Recorded {
	return inspect.Recorded{File: s.file, Schema: s.schema, Table: s.table}
}
