package profile

import (
	"io"

	"github.com/amudai/amudai-go/cmd/amudai/internal/terminal"
	"github.com/amudai/amudai-go/internal/engine/profile"
	"github.com/amudai/amudai-go/internal/text"
)

// The types json* have the names of --json, which docs/command-line.md lists.

type jsonReport struct {
	Input   string       `json:"input"`
	Rows    int64        `json:"rows"`
	Columns []jsonColumn `json:"columns"`
}

type jsonColumn struct {
	Path             string           `json:"path"`
	Type             string           `json:"type"`
	Class            profile.Class    `json:"class"`
	Count            int64            `json:"count"`
	Nulls            int64            `json:"nulls"`
	Distinct         *int64           `json:"distinct,omitempty"`
	DistinctEstimate bool             `json:"distinct_is_estimate,omitempty"`
	Min              *profile.Value   `json:"min,omitempty"`
	Max              *profile.Value   `json:"max,omitempty"`
	Order            string           `json:"order,omitempty"`
	Mean             *profile.Value   `json:"mean,omitempty"`
	Deviation        *float64         `json:"standard_deviation,omitempty"`
	Zeros            *int64           `json:"zeros,omitempty"`
	Negatives        *int64           `json:"negatives,omitempty"`
	NaNs             *int64           `json:"nans,omitempty"`
	Infinite         *int64           `json:"infinite,omitempty"`
	True             *int64           `json:"true,omitempty"`
	False            *int64           `json:"false,omitempty"`
	Quantiles        []jsonQuantile   `json:"quantiles,omitempty"`
	RankError        float64          `json:"quantile_rank_error,omitempty"`
	Top              []jsonTop        `json:"top,omitempty"`
	TopError         int64            `json:"top_count_error,omitempty"`
	Lengths          *profile.Lengths `json:"lengths,omitempty"`
	Empty            *int64           `json:"empty,omitempty"`
	Blank            *int64           `json:"blank,omitempty"`
	BlanksAround     *int64           `json:"blanks_around,omitempty"`
	Kinds            []jsonKind       `json:"text_kinds,omitempty"`
	Histogram        *jsonHistogram   `json:"histogram,omitempty"`
	Bytes            *int64           `json:"bytes,omitempty"`
	BytesEstimated   bool             `json:"bytes_in_memory,omitempty"`
	Findings         []Finding        `json:"findings,omitempty"`
}

type jsonQuantile struct {
	Share float64       `json:"share"`
	Value profile.Value `json:"value"`
}

type jsonTop struct {
	Value profile.Value `json:"value"`
	Count int64         `json:"count"`
}

type jsonKind struct {
	Kind    string `json:"kind"`
	Count   int64  `json:"count"`
	Example string `json:"example"`
	Row     *int64 `json:"row,omitempty"` // from 1
}

type jsonHistogram struct {
	Estimate bool          `json:"is_estimate,omitempty"`
	Below    int64         `json:"below,omitempty"`
	Above    int64         `json:"above,omitempty"`
	Bins     []profile.Bin `json:"bins"`
}

// JSON prints everything that a report has.
func JSON(w io.Writer, r *Report) error {
	out := jsonReport{Input: r.Name, Rows: r.Profile.Rows, Columns: []jsonColumn{}}
	for _, c := range r.Profile.Columns {
		out.Columns = append(out.Columns, jsonOf(r, c))
	}
	return terminal.JSON(w, out)
}

func jsonOf(r *Report, c *profile.Column) jsonColumn {
	j := jsonColumn{Path: c.Path, Type: text.Type(c.Type), Class: c.Class, Count: c.Count, Nulls: c.Nulls,
		Min: c.Min, Max: c.Max, Order: c.Order.String(), Lengths: c.Lengths, Findings: findings(c, r.CSV)}
	if c.Distinct >= 0 {
		j.Distinct, j.DistinctEstimate = &c.Distinct, !c.DistinctExact
	}
	if n := c.Numbers; n != nil {
		j.Mean, j.Deviation, j.RankError = n.Mean, n.Deviation, n.RankError
		if c.Class != profile.Time {
			j.Zeros, j.Negatives, j.NaNs, j.Infinite = &n.Zeros, &n.Negatives, &n.NaNs, &n.Infinite
		}
		for i, q := range n.Quantiles {
			j.Quantiles = append(j.Quantiles, jsonQuantile{profile.Shares[i], q})
		}
	}
	if b := c.Bools; b != nil {
		j.True, j.False = &b.True, &b.False
	}
	if c.Top != nil {
		j.TopError = c.Top.Error
		for _, v := range c.Top.Values {
			j.Top = append(j.Top, jsonTop{v.Value, v.Count})
		}
	}
	if t := c.Texts; t != nil {
		j.Empty, j.Blank, j.BlanksAround = &t.Empty, &t.Blank, &t.Edges
		for _, k := range t.Kinds {
			kind := jsonKind{Kind: k.Kind.String(), Count: k.Count, Example: k.First.Text}
			if row := k.First.Row + 1; row > 0 {
				kind.Row = &row
			}
			j.Kinds = append(j.Kinds, kind)
		}
	}
	if h := c.Histogram; h != nil {
		j.Histogram = &jsonHistogram{Estimate: !h.Exact, Below: h.Below, Above: h.Above, Bins: h.Bins}
	}
	if b, ok := r.bytesOf(c); ok {
		j.Bytes, j.BytesEstimated = &b, r.Bytes.Estimated
	}
	return j
}
