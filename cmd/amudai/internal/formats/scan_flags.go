package formats

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/amudai/amudai-go/cmd/amudai/internal/usage"
	"github.com/amudai/amudai-go/filter"
	"github.com/amudai/amudai-go/shard"
	"github.com/amudai/amudai-go/table"
)

// ScanFlags are the flags that choose rows, and their form.
type ScanFlags struct {
	Limit int64       // negative: all rows
	Also  filter.Expr // a condition beside that of the flags

	where, strings, rows, stripes string
	layout                        shard.StringLayout // of strings
}

// stringLayouts are the names of the values of shard.StringLayout.
var stringLayouts = []string{"recorded", "string", "large", "view", "dictionary"}

// Register adds the flags, with a default for the limit.
func (s *ScanFlags) Register(cmd *cobra.Command, limit int64) {
	s.RegisterWhere(cmd)
	f := cmd.Flags()
	f.StringVar(&s.strings, "strings", stringLayouts[0], "shard: Arrow type of strings, for Arrow formats: "+strings.Join(stringLayouts[1:], ", ")+", or as recorded")
	f.Int64VarP(&s.Limit, "limit", "n", limit, "maximum number of rows")
	f.StringVar(&s.rows, "rows", "", "only these rows, by position from 0: 100:200, 100: or :100; -100: for the last 100 rows")
	f.StringVar(&s.stripes, "stripes", "", "only the rows of these stripes of one input, from 0: 0,3,5:9, as amudai plan lists them")
	usage.Complete(cmd, "strings", stringLayouts...)
}

// All chooses all rows, for commands without these flags.
func (s *ScanFlags) All() { s.Limit, s.strings = -1, stringLayouts[0] }

// RegisterWhere adds only the flag of the condition.
func (s *ScanFlags) RegisterWhere(cmd *cobra.Command) {
	s.All()
	cmd.Flags().StringVar(&s.where, "where", "", "only rows that match a condition, such as \"origin = 'SFO' and delay > 300\"")
}

// Options parses the flags.
func (s *ScanFlags) Options() (o table.ScanOptions, err error) {
	if o.Filter, err = Condition(s.where); err != nil {
		return o, err
	}
	if !s.Also.IsZero() {
		o.Filter = filter.And(o.Filter, s.Also)
	}
	if s.layout, err = usage.OneOf("--strings", s.strings, stringLayouts,
		shard.StringsAsRecorded, shard.StringsPlain, shard.StringsLarge, shard.StringsView, shard.StringsDictionary); err != nil {
		return o, err
	}
	if s.Limit < -1 {
		return o, usage.Errorf("", "--limit %d: use a number of rows, or -1 for all", s.Limit)
	}
	o.Limit = max(s.Limit, 0)
	if s.rows != "" {
		r, err := table.ParseRows(s.rows)
		if err != nil {
			return o, usage.Errorf("", "--rows: %w", err)
		}
		o.Rows = []table.RowRange{r}
	}
	return o, nil
}

// Condition is the filter of the flag --where.
func Condition(text string) (filter.Expr, error) {
	if text == "" {
		return filter.Expr{}, nil
	}
	e, err := filter.Parse(text)
	if err != nil {
		return e, usage.Errorf("", "--where: %w", err)
	}
	return e, nil
}

// Selects reports whether the flags choose some of the rows.
func (s *ScanFlags) Selects() bool {
	return s.where != "" || s.rows != "" || s.stripes != "" || s.Limit >= 0
}
