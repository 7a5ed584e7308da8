package formats

import (
	"context"
	"errors"
	"strconv"
	"strings"

	"github.com/amudai/amudai-go/cmd/amudai/internal/usage"
	"github.com/amudai/amudai-go/table"
	"github.com/amudai/amudai-go/table/provider"
)

// HasStripes reports whether the flags choose stripes.
func (s *ScanFlags) HasStripes() bool { return s.stripes != "" }

// stripeRows are the rows of the stripes that the flags choose of the only input, in ascending order.
func (p *Opener) stripeRows(ctx context.Context, locations []string, t *TableFlags) (rows []provider.RowRange, err error) {
	if locations, err = p.Inputs(ctx, locations, &t.Read); err != nil {
		return nil, err
	}
	switch {
	case t.Rows.rows != nil:
		return nil, usage.Errorf("leave one out", "--stripes and --rows both choose rows")
	case len(locations) != 1 || locations[0] == "-":
		return nil, usage.Errorf("amudai plan lists the stripes of each input", "--stripes is for one input that is no pipe")
	}
	of, err := p.Table(ctx, locations[0], t.Read.From)
	if err != nil {
		return nil, err
	}
	all, err := of.Explain(ctx, table.ScanOptions{Columns: []string{}}, false)
	if err = errors.Join(err, of.Close()); err != nil {
		return nil, err
	}
	x := all[0]
	if x == nil {
		return nil, usage.Errorf("--rows chooses rows of any format", "%s has no stripes", locations[0])
	}
	chosen, err := parseStripes(t.Rows.stripes, len(x.Stripes))
	if err != nil {
		return nil, err
	}
	rows = []provider.RowRange{}
	for i, wanted := range chosen {
		s := &x.Stripes[i]
		end := s.First + s.Rows
		switch k := len(rows); {
		case !wanted || s.Rows == 0:
		case k > 0 && rows[k-1].To == s.First:
			rows[k-1].To = end
		default:
			rows = append(rows, provider.RowRange{From: s.First, To: end})
		}
	}
	return rows, nil
}

// parseStripes parses a list such as 0,3,5:9, of numbers and ranges without their ends.
func parseStripes(list string, n int) ([]bool, error) {
	chosen := make([]bool, n)
	for part := range strings.SplitSeq(list, ",") {
		begin, end, isRange := strings.Cut(part, ":")
		from, err := strconv.ParseUint(begin, 10, 31)
		to := from + 1
		if isRange && err == nil {
			to, err = strconv.ParseUint(end, 10, 31)
		}
		switch {
		case err != nil:
			return nil, usage.Errorf("use numbers and ranges, such as 0,3,5:9", "--stripes: %q is no number of a stripe", part)
		case from >= to:
			return nil, usage.Errorf("", "--stripes: %s ends before it begins", part)
		case to > uint64(n):
			return nil, usage.Errorf("amudai plan lists them", "--stripes: there is no stripe %d, only %d from 0", to-1, n)
		}
		for i := from; i < to; i++ {
			chosen[i] = true
		}
	}
	return chosen, nil
}
