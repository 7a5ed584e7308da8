// Package tabular reads other formats into Arrow record batches and writes
// batches back: CSV, JSON lines, JSON arrays, plain lines of text, and Arrow
// IPC files and streams. Package parquet adds Parquet behind the same two
// interfaces.
//
// A [Source] yields batches until io.EOF; a [Sink] takes them and makes its
// output visible only when it is closed. A [Format] knows how to open the one
// and create the other, and [Formats] picks a format by name, extension or the
// first bytes of a file.
//
// # Values never change silently
//
// Text has no types, so types are inferred from a bounded sample (see
// [ReadOptions]). Whatever has no exact typed form is kept as text and a notice
// says so: leading zeros ("00501"), columns that mix types, integers beyond 64
// bits, numbers with more digits than a float64 holds. A value after the sample that
// does not fit its column is an error ([ValueError]) with line and column,
// never a null.
//
// # Text forms
//
// Both text formats write a value in the same way, and read it back:
//
//	integers         decimal digits
//	floats           shortest text that reads back the same, always with "." or "e"; NaN, Inf, -Inf (strings in JSON)
//	decimals         digits with exactly the scale of the type; a string in JSON
//	dates            2012-12-31; years outside 0000–9999 have a sign: +12012-01-01
//	times            15:04:05.123456
//	timestamps       2012-12-31T15:04:05.123; those with a zone are written in UTC, with Z
//	durations        ISO 8601: PT1H2M3.5S; intervals P1M2DT3S, each part with its own sign
//	binary           base64 (standard alphabet, padded)
//	uuid             00112233-4455-6677-8899-aabbccddeeff
//	lists, structs   JSON: [1,2] and {"a":1}, also inside a CSV cell
//	maps             JSON: [{"key":"a","value":1}], which keeps order, duplicates and keys of any type
//	json             the JSON text itself
//
// Fractions of a second have as many digits as the value needs, in groups of
// three.
package tabular

import (
	"context"
	"fmt"
	"io"
	"path"
	"sort"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/memory"
)

// Source yields the rows of one input. It is used by one goroutine.
type Source interface {
	// Schema is that of every batch.
	Schema() *arrow.Schema
	// Next returns the next batch, which the caller releases, or io.EOF.
	// After any other error the source is only good for Close.
	Next(ctx context.Context) (arrow.RecordBatch, error)
	// Rows is the number of rows in the whole input; ok is false when nothing
	// is known. Formats that do not record it return an estimate that gets better as
	// they read.
	Rows() (n int64, ok bool)
	// Close releases the source and closes its input.
	Close() error
}

// Sink takes rows. It is used by one goroutine. Exactly one of Close and Abort
// ends it; Abort after either does nothing.
type Sink interface {
	// Write adds the rows of a batch of the schema that the sink was created
	// with. The batch stays the caller's.
	Write(ctx context.Context, batch arrow.RecordBatch) error
	// Close finishes the output and publishes it under its name. After an
	// error nothing is published.
	Close(ctx context.Context) error
	// Abort drops the output; nothing of it stays behind.
	Abort() error
}

// Input is what a [Source] reads. A source closes it.
type Input struct {
	Name   string      // for messages
	Reader io.Reader   // the bytes from the start
	At     io.ReaderAt // random access to the same bytes; nil for a pipe
	Size   int64       // bytes, or -1 if not known
	Closer io.Closer   // may be nil
}

// Close closes the input.
func (in Input) Close() error {
	if in.Closer == nil {
		return nil
	}
	return in.Closer.Close()
}

// Output is what a [Sink] writes: bytes that nobody sees until Publish.
// storage.Writer is one.
type Output interface {
	io.Writer
	Publish(ctx context.Context) error // makes the bytes visible, whole
	Abort() error                      // drops them; after Publish it does nothing
}

// ReadOptions are those of every source. The zero value is the default.
type ReadOptions struct {
	Allocator memory.Allocator // default memory.DefaultAllocator
	BatchRows int              // most rows of a batch; default 32,768
	Columns   []string         // top-level columns to read, in this order; nil: all
	TempDir   string           // for a pipe in a format that needs random access; default os.TempDir
	Notice    func(string)     // takes notices for people; default: none are given
	Parallel  bool             // Parquet: columns are decoded at the same time; for files known to be good, as arrow-go may panic on others

	// For CSV and JSON.
	Schema         []arrow.Field  // fixes the types of these columns; the others are inferred
	SampleRows     int            // rows that types are inferred from; default 10,000
	SampleBytes    int64          // bytes of the sample; default 8 MiB
	MaxRecordBytes int            // longest record; default 64 MiB
	CSV            CSVReadOptions // for CSV alone
}

// CSVReadOptions are those of CSV alone. The zero value is the default.
type CSVReadOptions struct {
	Delimiter byte     // default ','
	NoHeader  bool     // the first record is data; columns are named column1, column2, …
	Nulls     []string // unquoted fields that mean null, beside the empty one
}

// WriteOptions are those of every sink. The zero value is the default.
type WriteOptions struct {
	Allocator    memory.Allocator // default memory.DefaultAllocator
	TempDir      string           // for formats that need a second pass; default os.TempDir
	RowGroupRows int64            // Parquet: rows of a row group; default 1,048,576
	Level        int              // Parquet: level of zstd; default 3
	Compression  string           // Parquet: zstd (the default) or snappy
	Notice       func(string)     // takes notices for people; default: none are given
	CSV          CSVWriteOptions  // for CSV alone
}

// CSVWriteOptions are those of CSV alone. The zero value is the default.
type CSVWriteOptions struct {
	Delimiter byte   // default ','
	NoHeader  bool   // leaves out the record of column names
	Null      string // text of a null; default: an empty field
}

// Defaults of [ReadOptions].
const (
	DefaultBatchRows      = 32 << 10 // rows of a batch
	DefaultSampleRows     = 10_000   // rows that types are inferred from
	DefaultSampleBytes    = 8 << 20  // bytes that types are inferred from
	DefaultMaxRecordBytes = 64 << 20 // bytes of a record
)

// WithDefaults fills in what is zero, for implementations of sources.
func (o ReadOptions) WithDefaults() ReadOptions {
	if o.Allocator == nil {
		o.Allocator = memory.DefaultAllocator
	}
	if o.BatchRows <= 0 {
		o.BatchRows = DefaultBatchRows
	}
	if o.SampleRows <= 0 {
		o.SampleRows = DefaultSampleRows
	}
	if o.SampleBytes <= 0 {
		o.SampleBytes = DefaultSampleBytes
	}
	if o.MaxRecordBytes <= 0 {
		o.MaxRecordBytes = DefaultMaxRecordBytes
	}
	if o.CSV.Delimiter == 0 {
		o.CSV.Delimiter = ','
	}
	if o.Notice == nil {
		o.Notice = func(string) {}
	}
	return o
}

// Format is one way to keep a table in bytes.
type Format struct {
	Name       string   // as used by options: "csv"
	Title      string   // for people: "CSV"
	Extensions []string // with the dot, lower case
	Open       func(ctx context.Context, in Input, o ReadOptions) (Source, error)
	Create     func(ctx context.Context, out Output, schema *arrow.Schema, o WriteOptions) (Sink, error)
}

// Formats is a list of formats to choose from.
type Formats []Format

// All lists the formats of this package.
func All() Formats {
	return Formats{CSV, TSV, JSONLines, JSON, Arrow, ArrowStream, Lines}
}

// ByName gives the format of that name.
func (fs Formats) ByName(name string) (Format, error) {
	for _, f := range fs {
		if f.Name == name {
			return f, nil
		}
	}
	return Format{}, fmt.Errorf("unknown format %q: use one of %s", name, strings.Join(fs.Names(), ", "))
}

// ByPath gives the format that a path or URL ends in.
func (fs Formats) ByPath(location string) (Format, bool) {
	name := strings.ToLower(path.Base(strings.ReplaceAll(location, `\`, "/")))
	best, length := -1, 0
	for i, f := range fs {
		for _, e := range f.Extensions {
			if strings.HasSuffix(name, e) && len(e) > length {
				best, length = i, len(e)
			}
		}
	}
	if best < 0 {
		return Format{}, false
	}
	return fs[best], true
}

// Names lists the names of the formats.
func (fs Formats) Names() []string {
	names := make([]string, len(fs))
	for i, f := range fs {
		names[i] = f.Name
	}
	return names
}

// Extensions lists the extensions of all formats, sorted.
func (fs Formats) Extensions() []string {
	var all []string
	for _, f := range fs {
		all = append(all, f.Extensions...)
	}
	sort.Strings(all)
	return all
}

// Sniff names the format that a file starting with head is in, or "" if the
// first bytes do not tell: parquet, arrow, arrows, shard, jsonl or json.
// 16 bytes are enough.
func Sniff(head []byte) string {
	s := string(head)
	switch {
	case strings.HasPrefix(s, "PAR1"), strings.HasPrefix(s, "PARE"):
		return "parquet"
	case strings.HasPrefix(s, "ARROW1"):
		return "arrow"
	case strings.HasPrefix(s, "\xff\xff\xff\xff"):
		return "arrows"
	case strings.HasPrefix(s, "amud"):
		return "shard"
	}
	switch t := strings.TrimLeft(strings.TrimPrefix(s, "\xef\xbb\xbf"), " \t\r\n"); {
	case strings.HasPrefix(t, "{"):
		return "jsonl"
	case strings.HasPrefix(t, "["):
		return "json"
	}
	return ""
}

// ValueError says that a value does not fit its column.
type ValueError struct {
	Column string // its name, with dots for nested ones
	Value  string // as it was read, shortened
	Line   int64  // 1-based line in the input
	Input  string // name of the input
	Err    error  // why
	Remedy string // what to do about it
}

// Error names the value, its column and its place.
func (e *ValueError) Error() string {
	return fmt.Sprintf("column %q: %v (line %d of %s)", e.Column, e.Err, e.Line, e.Input)
}

// Unwrap gives the reason.
func (e *ValueError) Unwrap() error { return e.Err }

// Hint is the remedy.
func (e *ValueError) Hint() string { return e.Remedy }

// clip shortens a value for a message.
func clip(s string) string {
	const most = 40
	if len(s) <= most {
		return s
	}
	cut := most
	for cut > most-4 && s[cut]&0xc0 == 0x80 {
		cut--
	}
	return s[:cut] + "…"
}
