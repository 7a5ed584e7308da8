package tables

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/amudai/amudai-go/table"
)

// Range is a range of rows by position, from 0. Negative numbers count from the end: -1 is the last row. It may be longer
// than the table. The zero value has all rows.
type Range struct {
	Begin int64
	End   int64 // the first row behind the range, if Ends is set
	Ends  bool  // it has an end
}

// ParseRange parses "100:200", "100:", ":100" or "-100:".
func ParseRange(s string) (r Range, err error) {
	from, to, ok := strings.Cut(s, ":")
	if !ok || s == ":" {
		return r, fmt.Errorf("%q is not a range such as 100:200; :100 is the first rows, and -100: the last", s)
	}
	if from != "" {
		if r.Begin, err = strconv.ParseInt(from, 10, 64); err != nil {
			return r, fmt.Errorf("%q is not a number of rows", from)
		}
	}
	if to != "" {
		r.Ends = true
		if r.End, err = strconv.ParseInt(to, 10, 64); err != nil {
			return r, fmt.Errorf("%q is not a number of rows", to)
		}
	}
	if r.Ends && (r.Begin < 0) == (r.End < 0) && r.End < r.Begin {
		return r, fmt.Errorf("%s ends before it begins", s)
	}
	return r, nil
}

// IsAll reports whether the range has all rows.
func (r Range) IsAll() bool { return r == Range{} }

// fromEnd reports whether the range depends on the number of rows.
func (r Range) fromEnd() bool { return r.Begin < 0 || r.Ends && r.End < 0 }

// resolve gives the range in a table of n rows.
func (r Range) resolve(n int64) table.RowRange {
	begin, end := r.Begin, r.End
	if begin < 0 {
		begin = max(begin+n, 0)
	}
	if r.Ends && end < 0 {
		end = max(end+n, 0)
	}
	switch {
	case !r.Ends:
		return table.RowRange{Begin: begin}
	case end <= begin:
		return none
	}
	return table.RowRange{Begin: begin, End: end}
}

// none is the range without rows.
var none = table.RowRange{Begin: math.MaxInt64, End: 1}

// part is the rows of a range that are in a part of n rows, whose first row has a position.
func part(r table.RowRange, position, n int64) table.RowRange {
	begin := max(r.Begin-position, 0)
	if r.End == 0 {
		if begin >= n {
			return none
		}
		return table.RowRange{Begin: begin}
	}
	end := min(r.End-position, n)
	if end <= begin {
		return none
	}
	return table.RowRange{Begin: begin, End: end}
}
