// Package text has the formats of tables as text for people: comma- or tab-separated values, JSON, and lines such as those of logs. Each
// function returns a format with some options, of which the zero value is the default. Importing the package registers the formats with
// their defaults.
package text

import (
	"github.com/amudai/amudai-go/table/provider"
	"github.com/amudai/amudai-go/table/text/internal/csv"
	"github.com/amudai/amudai-go/table/text/internal/guess"
	"github.com/amudai/amudai-go/table/text/internal/jsonl"
	"github.com/amudai/amudai-go/table/text/internal/lines"
)

// CSVOptions are the options that only CSV and TSV have. The zero value is the default: the dialect is recognized in the first
// bytes, with a notice of everything but the plain form of RFC 4180 with a header. An option that is set is not
// recognized. The writer uses Delimiter, Header and Null only.
type CSVOptions struct {
	Text     provider.TextOptions
	Encoding string // "utf-8", "utf-16le", "windows-1252", "iso-8859-2", …

	Delimiter byte   // of fields; of the writer ',' by default, of TSV a tab
	Quote     byte   // around fields; None: there are no quotes
	Escape    byte   // '\\': before quotes in quoted fields; None: such quotes are doubled
	LineEnd   byte   // '\n', which a '\r' may precede, or '\r'
	Comment   byte   // the first character of lines that are skipped; None: there are no comments
	Skip      int    // lines before the header; -1: none
	Header    Header // whether the first record has the names of the columns
	Ragged    Ragged // records with another number of fields than the header
	Trim      Trim   // whether spaces and tabs around fields, also outside of quotes, belong to them
	Decimal   byte   // in numbers: '.' by default, or ','
	Thousands byte   // between groups of three digits in numbers; default: none
	Dates     DateOrder

	Nulls     []string // unquoted fields that mean null, beside the empty one
	AutoNulls bool     // unmistakable spellings of null, such as NULL and N/A, and in columns of other types than text also NA, - and such
	True      []string // texts that mean true, beside "true"; likewise False
	False     []string

	Null string // when writing: the text of a null; default: an empty field
}

// CSV returns the format of comma-separated values after RFC 4180, with a header record. Other dialects, encodings and notations are
// recognized in the first bytes; notices and [CSVOptions] have the details.
//
// A field without text is null. A quoted field without text ("") is the empty string in a column of text or bytes,
// and null in other columns, which have no empty value. The writer quotes empty strings, so that both come back. In a
// file with one column, an empty line is a null.
func CSV(o CSVOptions) provider.Format { return csv.New(csv.Options(o)) }

// TSV returns the format of [CSV] with tabs in place of commas.
func TSV(o CSVOptions) provider.Format { return csv.NewTSV(csv.Options(o)) }

// None is the value of options for characters that a file does not have.
const None = csv.None

// Header says where the names of columns come from.
type Header = csv.Header

// The choices of [CSVOptions.Header].
const (
	HeaderAuto    = csv.HeaderAuto    // the first record, unless its fields are numbers or dates as in the records after it
	HeaderPresent = csv.HeaderPresent // the first record
	HeaderAbsent  = csv.HeaderAbsent  // columns are named column1, column2, …; the writer writes no header
)

// Trim says whether spaces around fields are removed.
type Trim = csv.Trim

// The choices of [CSVOptions.Trim].
const (
	TrimAuto   = csv.TrimAuto   // removed if quotes follow spaces, as in: 1, "x, y"
	TrimNone   = csv.TrimNone   // kept
	TrimSpaces = csv.TrimSpaces // removed
)

// Ragged says how records are read that have more or fewer fields than the table has columns.
type Ragged = csv.Ragged

// The choices of [CSVOptions.Ragged].
const (
	RaggedAuto  = csv.RaggedAuto  // an error, unless all records of the sample have one field more than the header
	RaggedError = csv.RaggedError // an error
	RaggedNull  = csv.RaggedNull  // missing fields are null, and empty ones too many are dropped; others are an error
	RaggedDrop  = csv.RaggedDrop  // the record is dropped
)

// DateOrder is the order of day, month and year in dates other than ISO 8601.
type DateOrder = guess.DateOrder

// The choices of [CSVOptions.Dates].
const (
	DatesAuto = guess.DatesAuto // the order that is possible for all dates of a column in the sample, if there is only one
	DatesNone = guess.DatesNone // such dates are text
	DMY       = guess.DMY       // 31.12.2012, 31/12/2012, 31-Dec-2012, 31 December 2012 23:59
	MDY       = guess.MDY       // 12/31/2012, Dec 31, 2012 11:59 PM
	YMD       = guess.YMD       // 2012/12/31, 2012.12.31
)

// JSONOptions are the options that only JSON has. The zero value is the default.
type JSONOptions struct {
	Text     provider.TextOptions
	Encoding string   // "utf-8", "utf-16le", "windows-1252", …; default: recognized, with a notice
	Unnest   string   // the path of an array in the records, with dots: its elements are the rows
	Keep     []string // paths of fields beside Unnest that are repeated in its rows
	Records  Records  // what the rows of the table are
}

// JSONLines returns the format of JSON values that follow one another, usually an object a line. It is recognized by a "{" at the start.
//
// The keys of the objects are the columns. A missing key is null. Nested objects become structs, arrays become lists,
// and strings that are all ISO dates or timestamps become those types. Columns that mix types, have numbers beyond 64
// bits, or are null in the whole sample, are kept as JSON text (extension type arrow.json), which any later value
// fits. A key that first appears after the sample is an error, never dropped: name it with
// [provider.ReadOptions.Schema], or use a larger sample. Records that are not objects make one column named "value".
func JSONLines(o JSONOptions) provider.Format { return jsonl.New(jsonl.Options(o)) }

// JSONArray returns the format of one JSON array of records. Reading also accepts a sequence of values, as in [JSONLines].
func JSONArray(o JSONOptions) provider.Format { return jsonl.NewArray(jsonl.Options(o)) }

// Records says what the rows of a table of JSON are.
type Records = jsonl.Records

// The choices of [JSONOptions.Records].
const (
	RecordsAuto    = jsonl.RecordsAuto // recognized in the first bytes, with a notice
	RecordsValues  = jsonl.Values      // the values, or the elements of one array
	RecordsEntries = jsonl.Entries     // the entries of one object: {"a": {…}, "b": {…}}; the first column is the key
	RecordsArrays  = jsonl.Arrays      // arrays, of which the first has the names: [["id", "name"], [1, "x"]]
)

// LinesOptions are the options that only lines of text have. The zero value is the default.
type LinesOptions struct {
	Text provider.TextOptions
	// Live returns lines as they arrive, in smaller batches, for pipes that others are still writing to. Only if ReadOptions asks for nothing but the
	// column "line", and says its type, there is no wait for a sample.
	Live bool
	// Whole reads only the column "line", unless ReadOptions asks for columns: no times and levels, which are recognized in lines.
	Whole bool
}

// Lines returns the format of plain text, such as logs. A line is a value of the column "line", which is text, or bytes if the
// sample is not UTF-8. Lines end in \n or \r\n when read, and in \n when written. Only a table with a single column of text can
// be written as lines.
//
// Where nearly all lines of the sample have a time, or a level such as INFO, at the same place and written in the same way, further
// columns have them: "time", a timestamp, in UTC if the lines tell their zone, and "level", as it is spelled. Both are null for lines
// without such a time, such as those of stack traces. Times without a year are no column, because any year would be a guess.
// A notice tells what was recognized, and ReadOptions.Columns with only "line" leaves it out. A column that ReadOptions.Schema
// names exists even if nothing was recognized.
func Lines(o LinesOptions) provider.Format { return lines.New(lines.Options(o)) }
