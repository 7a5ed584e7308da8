package tables

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/amudai/amudai-go/table/provider"
)

// ParseRange parses "100:200", "100:", ":100" or "-100:". Negative positions count from the end.
func ParseRange(s string) (r provider.RowRange, err error) {
	from, to, ok := strings.Cut(s, ":")
	if !ok || s == ":" {
		return r, fmt.Errorf("%q is not a range such as 100:200; :100 is the first rows, and -100: the last", s)
	}
	if from != "" {
		if r.From, err = strconv.ParseInt(from, 10, 64); err != nil {
			return r, fmt.Errorf("%q is not a number of rows", from)
		}
	}
	if r.To = math.MaxInt64; to != "" {
		if r.To, err = strconv.ParseInt(to, 10, 64); err != nil {
			return r, fmt.Errorf("%q is not a number of rows", to)
		}
	}
	if (r.From < 0) == (r.To < 0) && r.To < r.From {
		return r, fmt.Errorf("%s ends before it begins", s)
	}
	return r, nil
}

// fromEnd reports whether the only range counts from the end of the table.
func fromEnd(rows []provider.RowRange) (bool, error) {
	for _, r := range rows {
		if r.From < 0 || r.To < 0 {
			if len(rows) > 1 {
				return false, errors.New("of several ranges of rows none may count from the end")
			}
			return true, nil
		}
	}
	return false, nil
}

// resolve gives a range in a table of n rows.
func resolve(r provider.RowRange, n int64) provider.RowRange {
	if r.From < 0 {
		r.From = max(r.From+n, 0)
	}
	if r.To < 0 {
		r.To = max(r.To+n, 0)
	}
	return r
}
