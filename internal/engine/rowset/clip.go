package rowset

import "slices"

// Clip returns the parts of ascending ranges within the first n rows. Nil stays nil.
func Clip(ranges []Range, n int64) []Range {
	if ranges == nil {
		return nil
	}
	within := make([]Range, 0, len(ranges))
	for _, r := range ranges {
		if r.To = min(r.To, n); r.From < r.To {
			within = append(within, r)
		}
	}
	return within
}

// Shift returns ascending ranges by their distance from a row, without the rows before it. Nil stays nil.
func Shift(ranges []Range, first int64) []Range {
	if ranges == nil {
		return nil
	}
	shifted := make([]Range, 0, len(ranges))
	for _, r := range ranges {
		if r.To > first {
			shifted = append(shifted, Range{max(r.From-first, 0), r.To - first})
		}
	}
	return shifted
}

// Count is the number of rows of ranges that do not overlap.
func Count(ranges []Range) (n int64) {
	for _, r := range ranges {
		n += r.Len()
	}
	return n
}

// Row returns the row with a number among the rows of ascending ranges. Nil stands for all rows.
func Row(ranges []Range, number int64) int64 {
	for _, r := range ranges {
		if number < r.Len() {
			return r.From + number
		}
		number -= r.Len()
	}
	return number
}

// Ranges are ascending rows as ranges.
func Ranges(rows []int64) []Range { return slices.AppendSeq([]Range{}, FromRows(rows).Ranges()) }
