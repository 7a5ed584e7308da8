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

	where   filter.Expr
	rows    []table.RowRange
	stripes string
	strings shard.StringLayout
}

// stringLayouts are the names of the values of shard.StringLayout.
var stringLayouts = []string{"recorded", "string", "large", "view", "dictionary"}

// Register adds the flags, with a default for the limit.
func (s *ScanFlags) Register(cmd *cobra.Command, limit int64) {
	s.RegisterWhere(cmd)
	f := cmd.Flags()
	usage.Choice(cmd, &s.strings, "strings", stringLayouts[0], "shard: Arrow type of strings, for Arrow formats: "+strings.Join(stringLayouts[1:], ", ")+", or as recorded",
		stringLayouts, shard.StringsAsRecorded, shard.StringsPlain, shard.StringsLarge, shard.StringsView, shard.StringsDictionary)
	f.Int64VarP(&s.Limit, "limit", "n", limit, "maximum number of rows")
	usage.Parsed(cmd, &s.rows, "rows", "", "only these rows, by position from 0: 100:200, 100: or :100; -100: for the last 100 rows", func(text string) ([]table.RowRange, error) {
		r, err := table.ParseRows(text)
		return []table.RowRange{r}, err
	})
	f.StringVar(&s.stripes, "stripes", "", "only the rows of these stripes of one input, from 0: 0,3,5:9, as amudai plan lists them")
}

// All chooses all rows, for commands without these flags.
func (s *ScanFlags) All() { s.Limit = -1 }

// RegisterWhere adds only the flag of the condition.
func (s *ScanFlags) RegisterWhere(cmd *cobra.Command) {
	s.All()
	usage.Parsed(cmd, &s.where, "where", "", "only rows that match a condition, such as \"origin = 'SFO' and delay > 300\"", Condition)
}

// Options parses the flags.
func (s *ScanFlags) Options() (o table.ScanOptions, err error) {
	o.Filter, o.Rows = filter.And(s.where, s.Also), s.rows
	if s.Limit < -1 {
		return o, usage.Errorf("", "--limit %d: use a number of rows, or -1 for all", s.Limit)
	}
	o.Limit = max(s.Limit, 0)
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
	return !s.where.IsZero() || s.rows != nil || s.stripes != "" || s.Limit >= 0
}
