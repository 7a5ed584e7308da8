package layout

import (
	"context"
	"errors"
	"iter"

	"github.com/amudai/amudai-go/blockpack/internal/column"
	"github.com/amudai/amudai-go/storage"
)

var errStub = errors.New("not written yet")

// ---- footer and header

// Footer is the last 22 bytes of a file.
type Footer struct {
	HeaderOffset  int64
	CompactOffset int64
	CompactLength int64 // 0: no compact index
}

// ParseFooter parses the footer at the end of tail, the last bytes of a file of size bytes.
func ParseFooter(tail []byte, size int64) (Footer, error) { return Footer{}, errStub }

// AppendFooter appends a footer of version 3.
func AppendFooter(dst []byte, f Footer) []byte { return dst }

// Header is the file header.
type Header struct {
	Version        uint8 // 10 or 11
	MetadataOffset int64
	MetadataLength int64
}

// ParseHeader parses the header that is at an offset of a file of size bytes.
func ParseHeader(data []byte, offset, size int64) (Header, error) { return Header{}, errStub }

// AppendHeader appends a header.
func AppendHeader(dst []byte, h Header) []byte { return dst }

// ---- file

// File is an open file. Its methods may be called concurrently.
type File struct {
	Footer Footer
	Size   int64
}

// Open reads the end of a file, and checks the footer. Nothing else is read before it is asked for.
func Open(ctx context.Context, r storage.Reader, o Options) (*File, error) { return nil, errStub }

// Header gives the header.
func (f *File) Header(ctx context.Context) (Header, error) { return Header{}, errStub }

// Metadata gives the metadata, read once.
func (f *File) Metadata(ctx context.Context) (*Metadata, error) { return nil, errStub }

// Compact gives the compact index, read once; nil if the file has none.
func (f *File) Compact(ctx context.Context) (*CompactIndex, error) { return nil, errStub }

// ---- metadata

// Variant is one of the layouts of a block index.
type Variant uint8

// The variants, in the order in which they are tried.
const (
	VariantSpec    Variant = iota // bloom and value stats
	VariantNoStats                // bloom
	VariantBare                   // neither
)

// Metadata is the metadata of a file.
type Metadata struct {
	Variant Variant
	Blocks  []Block
	Ranges  *RangeIndex
	Columns *ColumnIndex
	Traces  *TraceIndex
	Notes   []error // what is wrong, but was ignored
}

// ParseMetadata parses the metadata of a file with header h whose blocks end before dataEnd.
func ParseMetadata(data []byte, h Header, dataEnd int64, o Options) (*Metadata, error) {
	return nil, errStub
}

// Block is an entry of the block index.
type Block struct {
	Offset, Length int64
	Kind           uint8 // 0: a block of spans. Others are skipped
	Spans          int
	MinStart       uint64 // nanoseconds since 1970
	MaxStart       uint64 // both 0: unknown
	MinTrace       TraceID
	MaxTrace       TraceID
	Names          NameBloom
	Values         []ValueStats
}

// HasSpans reports whether the block is one of spans.
func (b *Block) HasSpans() bool { return b.Kind == 0 }

// MayHaveTrace reports whether the bounds of the block allow a trace.
func (b *Block) MayHaveTrace(id TraceID) bool { return true }

// MayStart reports whether the bounds of the block allow a span that starts in [from, to], in nanoseconds.
func (b *Block) MayStart(from, to uint64) bool { return true }

// ValueStats are bounds of a column in a block. Bounds with Known false say nothing.
type ValueStats struct {
	Name     string
	Known    bool
	Min, Max Value
}

// AppendBlockIndex appends the block index of version 11.
func AppendBlockIndex(dst []byte, blocks []Block) []byte { return dst }

// MayHaveColumn reports whether the bloom of names of a block allows a column. It says so of every name until
// [Metadata.Calibrate] has found the hashes of the file.
func (m *Metadata) MayHaveColumn(block int, name string) bool { return true }

// Calibrate finds the hash functions of the blooms, from the names of the columns of a block. It may be called
// concurrently with MayHaveColumn.
func (m *Metadata) Calibrate(block int, names []string) {}

// NameBloom is a Bloom filter of column names.
type NameBloom [32]byte

// Add adds a name.
func (b *NameBloom) Add(name string) {}

// ---- range index

// RangeIndex finds the blocks of values.
type RangeIndex struct{}

// Mark is the text of the writer's mark, "module/version"; "" in files of other writers.
func (x *RangeIndex) Mark() string { return "" }

// FileColumns are the names and types of the columns of the file by the pseudo column file:columns; ok is false if
// there is none, or no mark.
func (x *RangeIndex) FileColumns() (columns []FileColumn, ok bool) { return nil, false }

// FileColumn is a column that some block of the file has.
type FileColumn struct {
	Name  string
	Type  column.Type
	Flags uint8
}

// Flags of a [FileColumn].
const (
	InEveryRow  = 1 // each row of each block has a value
	WidthOfID   = 2 // all values are as long as a trace id, or span id
	BeyondInt64 = 4 // a value is 2^63 or greater
)

// All gives the columns in the order of the file.
func (x *RangeIndex) All() iter.Seq[*RangeColumn] { return nil }

// Column gives the entry of a column; nil if there is none.
func (x *RangeIndex) Column(name string) *RangeColumn { return nil }

// Point gives the blocks that may hold a value, ascending. If known is false, every block may.
func (x *RangeIndex) Point(name string, v Value) (blocks []uint32, known bool) { return nil, false }

// Interval gives the blocks that may hold a value of lo to hi, both included; either may be nil.
func (x *RangeIndex) Interval(name string, lo, hi *Value) (blocks []uint32, known bool) {
	return nil, false
}

// Prefix gives the blocks that may hold a string, or bytes (t), with a prefix.
func (x *RangeIndex) Prefix(name string, t column.Type, prefix []byte) (blocks []uint32, known bool) {
	return nil, false
}

// RangeColumn is a column of the range index.
type RangeColumn struct {
	Name     string
	Type     column.Type
	Min, Max int64 // as stored; not bounds in files of other writers
	Values   int   // number of entries
}

// RangeEntry is a key and the blocks with values from it to the next key.
type RangeEntry struct {
	Key    Value
	Blocks []uint32
}

// Entries gives the entries ascending by key. They are parsed once.
func (c *RangeColumn) Entries() ([]RangeEntry, error) { return nil, errStub }

// RangeOptions control the building of a range index.
type RangeOptions struct {
	Buckets int   // most keys of a column; 0: 1000
	Budget  int64 // bytes of the index; 0: 2 % of the data, at least 64 KiB
	Exclude func(name string) bool
	// Distinct is the number of distinct values of a column up to which each value's blocks are known; 0: 100,000.
	Distinct int
}

// RangeBuilder builds a range index block by block.
type RangeBuilder struct{}

// NewRangeBuilder returns an empty builder.
func NewRangeBuilder(o RangeOptions) *RangeBuilder { return &RangeBuilder{} }

// AddBlock adds the values of the columns of the next block.
func (b *RangeBuilder) AddBlock(columns []*column.Column) {}

// Finish appends the range index of all blocks, with the mark of the writer, and the list of the columns of the file.
// dataBytes is the size of all blocks.
func (b *RangeBuilder) Finish(dst []byte, dataBytes int64, mark string, columns []FileColumn) ([]byte, error) {
	return dst, errStub
}

// ---- column index

// ColumnIndex has the extents of columns in their blocks. Blocks win if they say otherwise.
type ColumnIndex struct{}

// ColumnExtent is where a column is in its block.
type ColumnExtent struct {
	Name   string
	Offset uint32 // from the start of the block
	Length uint32
}

// Block gives the extents of the columns of a block; nil if it has none.
func (x *ColumnIndex) Block(block int) ([]ColumnExtent, error) { return nil, errStub }

// AppendColumnIndex appends a column index: the extents of each block.
func AppendColumnIndex(dst []byte, blocks [][]ColumnExtent) []byte { return dst }

// ---- trace index

// TraceIndex finds the rows of traces.
type TraceIndex struct{}

// Len is the number of entries.
func (x *TraceIndex) Len() int { return 0 }

// HasRows is false if entries have only blocks, in which the rows are to be looked for.
func (x *TraceIndex) HasRows() bool { return true }

// Lookup appends the blocks of a trace, ascending, to dst.
func (x *TraceIndex) Lookup(dst []TraceBlock, id TraceID) ([]TraceBlock, error) { return dst, errStub }

// All gives the entries in the order of the file.
func (x *TraceIndex) All() iter.Seq2[TraceID, []TraceBlock] { return nil }

// TraceBlock is a block with spans of a trace.
type TraceBlock struct {
	Block int
	Rows  Rows
}

// Rows are rows of a block, as stored: 16-bit numbers, little-endian.
type Rows []byte

// Len is the number of rows.
func (r Rows) Len() int { return len(r) / 2 }

// At is row i of them.
func (r Rows) At(i int) int { return int(r[2*i]) | int(r[2*i+1])<<8 }

// TraceIndexBuilder collects the rows of traces.
type TraceIndexBuilder struct{}

// Add adds a row of a block. Blocks come in ascending order, and so do rows of a block.
func (b *TraceIndexBuilder) Add(block, row int, id TraceID) {}

// Append appends the trace index, as it stands in the metadata and in the compact index.
func (b *TraceIndexBuilder) Append(dst []byte) ([]byte, error) { return dst, errStub }

// CompactIndex is a trace index with the extents of blocks.
type CompactIndex struct {
	Traces *TraceIndex
}

// ParseCompact parses a compact index that is at an offset of a file.
func ParseCompact(data []byte, offset, size int64) (*CompactIndex, error) { return nil, errStub }

// Blocks is the number of blocks.
func (c *CompactIndex) Blocks() int { return 0 }

// Block gives the extent of a block in the file.
func (c *CompactIndex) Block(i int) (offset, length int64) { return 0, 0 }

// AppendCompact appends a compact index.
func AppendCompact(dst []byte, blocks []Block, traces *TraceIndexBuilder) ([]byte, error) {
	return dst, errStub
}

// ---- block

// BlockHead is the start of a block: its header, and the metadata of its columns.
type BlockHead struct {
	Version          uint8
	Spans            int
	Traces           int   // 0: no trace table
	TraceTableLength int64 // bytes at the end of the block
	Columns          []BlockColumn
	Size             int64 // of the header and the metadata of the columns
}

// BlockColumn is the metadata of a column in a block. Offsets are from the start of the block.
type BlockColumn struct {
	Name        string
	Type        column.Type // as stored
	Offset      int64
	Length      int64 // 0: a column of the trace table
	StatsOffset int64
	StatsLength int64 // 0: unknown
}

// ParseBlockHead parses the start of a block of length bytes at an offset of the file. If data ends before the head
// does, need is the least number of bytes from the start of the block to call it with again, and head is nil.
func ParseBlockHead(data []byte, offset, length int64) (head *BlockHead, need int64, err error) {
	return nil, 0, errStub
}

// StatsEnd is the offset in the block behind all stats that begin before the data of the columns: a reader that wants
// stats reads up to it.
func (h *BlockHead) StatsEnd() int64 { return 0 }

// Column gives the number of the column of a name and base type, or -1.
func (h *BlockHead) Column(name string, t column.Type) int { return -1 }

// ColumnStats are bounds of the values of a column in a block.
type ColumnStats struct {
	Known    bool // Min and Max are bounds
	Empty    bool // stored as a column without values; believe it only if no row is present
	Min, Max Value
}

// ParseColumnStats parses the stats of a column of type t.
func ParseColumnStats(data []byte, t column.Type) (ColumnStats, error) { return ColumnStats{}, errStub }

// AppendColumnStats appends stats.
func AppendColumnStats(dst []byte, s ColumnStats) []byte { return dst }

// AppendBlockHead appends the head of a block and its stats, for columns of which Name, Type and Length are set, in
// the order of the data. stats has one for each column, empty bytes for none. It sets the offsets in columns.
func AppendBlockHead(dst []byte, spans int, columns []BlockColumn, stats [][]byte) ([]byte, error) {
	return dst, errStub
}

// TraceTable is the table at the end of a block. One of Traces and Columns is not nil.
type TraceTable struct {
	Traces  []TraceTableRow
	Columns []TraceTableColumn
}

// TraceTableRow are the rows of a trace in a block.
type TraceTableRow struct {
	ID   TraceID
	Rows Rows
}

// TraceTableColumn is a column with a value for each trace of the block, encoded as those of the block are.
type TraceTableColumn struct {
	Name string
	Type column.Type
	Data []byte
}

// ParseTraceTable parses the bytes of the trace table of a block.
func ParseTraceTable(data []byte, h *BlockHead) (*TraceTable, error) { return nil, errStub }
