package profile

import (
	"encoding/json"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/amudai/amudai-go/internal/text/textkind"
)

// Profile describes the values of a table.
type Profile struct {
	Rows    int64
	Columns []*Column // in the order of the schema; those inside of nested ones behind them
}

// Class is the class of the values of a column, which decides about what is said of it.
type Class string

// The classes.
const (
	Bool   Class = "bool"
	Number Class = "number"
	Time   Class = "time" // dates, times of day, timestamps
	Span   Class = "duration"
	Text   Class = "text"
	Binary Class = "binary"
	List   Class = "list"
	Map    Class = "map"
	Struct Class = "struct"
	Other  Class = "other" // counted only
)

// Column describes the values of a column, or of the fields, items, keys or values of a nested one.
type Column struct {
	Path  string
	Name  string
	Depth int // 0 for a column of the table
	Type  arrow.DataType
	Class Class

	Count    int64 // rows, or items for columns inside of lists and maps
	Items    bool  // the column is inside of a list or map
	Nulls    int64 // of Count, those of enclosing structs included
	Distinct int64 // values without nulls; -1: not counted
	// DistinctExact means that Distinct is not an estimate. The standard error of an estimate is 0.8 %.
	DistinctExact bool
	Bytes         int64 // estimate of the values in memory, without parts of nested columns

	Min, Max *Value // neither null nor NaN; nil if there are no values or if these have no order
	Order    Order

	Numbers   *Numbers
	Texts     *Texts
	Bools     *Bools
	Lengths   *Lengths // characters of texts, bytes of binary values, items of lists and maps
	Top       *Top
	Histogram *Histogram
}

// Value is a value as text, in the syntax of CSV.
type Value struct {
	Text   string
	Number bool    // Text is a number of JSON
	Float  float64 // of a number, or of a time in its unit
}

// MarshalJSON implements [json.Marshaler]: a number, or a string in the syntax of CSV.
func (v Value) MarshalJSON() ([]byte, error) {
	if v.Number && json.Valid([]byte(v.Text)) {
		return []byte(v.Text), nil
	}
	return json.Marshal(v.Text)
}

// Order is the order in which values come. Nulls do not count.
type Order uint8

// The orders. A column with fewer than two different values has none.
const (
	NoOrder          Order = iota
	Ascending              // no value is less than the one before
	StrictAscending        // each is greater
	Descending             // no value is greater than the one before
	StrictDescending       // each is less
)

var orderNames = [...]string{"", "ascending", "strictly ascending", "descending", "strictly descending"}

// String is the order in words, "" for NoOrder.
func (o Order) String() string { return orderNames[o] }

// Numbers describes numbers, times and durations.
type Numbers struct {
	Mean      *Value   // of those that are finite; nil if there are none
	Deviation *float64 // standard deviation of a sample, in the unit of the values; nil for times and fewer than two values
	Zeros     int64
	Negatives int64
	NaNs      int64
	Infinite  int64
	Fractions bool // there are floats that are no integers

	Quantiles []Value // at Shares, of the values that are not NaN
	// RankError is the bound of the error of the rank of a quantile, as a share of all values. 0: exact.
	RankError float64
}

// Shares are the shares of values that are at or below the quantiles.
var Shares = [...]float64{0.05, 0.25, 0.5, 0.75, 0.95}

// Texts describes texts.
type Texts struct {
	Empty, Blank int64     // without characters; of blanks only
	Edges        int64     // with blanks at the beginning or end
	EdgeExample  *Example  // nil if Edges is 0
	Kinds        []OfKind  // with those that occur, the most frequent first
	Shapes       []OfShape // spellings of those of textkind.Time, the most frequent first
	MixedCase    []string  // two frequent values that differ in case or in blanks around them
}

// Example is one of some values.
type Example struct {
	Text string
	Row  int64 // from 0; -1: inside of a list
}

// OfKind are the texts of a kind.
type OfKind struct {
	Kind  textkind.Kind
	Count int64
	First Example
	Top   []TopValue // frequent ones
}

// OfShape are the times of a spelling.
type OfShape struct {
	Shape string
	Count int64
	First *Example
}

// Bools counts booleans.
type Bools struct{ True, False int64 }

// Lengths describes the lengths of values.
type Lengths struct {
	Min   int64   `json:"min"`
	Mean  float64 `json:"mean"`
	Max   int64   `json:"max"`
	Empty int64   `json:"empty"`
}

// Top lists frequent values.
type Top struct {
	Values []TopValue
	// Error is the most that a count may be too low, or that values which are not listed may have. 0: counts are exact.
	Error int64
	All   bool // all values are listed
}

// TopValue is a value and how often it occurs.
type TopValue struct {
	Value
	Count int64
}

// Histogram counts values in ranges.
type Histogram struct {
	Bins  []Bin
	Below int64 // values less than the first range
	Above int64 // values greater than the last range
	Exact bool  // otherwise counts are estimates of a sample
}

// Bin is a range of values: From <= v < To, and v <= To in the last one.
type Bin struct {
	From  Value `json:"from"`
	To    Value `json:"to"`
	Count int64 `json:"count"`
}
