package formats

import (
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/spf13/cobra"

	"github.com/amudai/amudai-go/cmd/amudai/internal/terminal"
	"github.com/amudai/amudai-go/cmd/amudai/internal/usage"
	"github.com/amudai/amudai-go/filter"
	"github.com/amudai/amudai-go/internal/text"
)

// RegisterMemory adds the flag of the commands that move what they hold to temporary files.
func RegisterMemory(cmd *cobra.Command, memory *string, what string) {
	cmd.Flags().StringVar(memory, "memory", "256MiB", what+" held in memory, up to 1GiB; the rest goes to temporary files")
}

// Size parses a flag of a number of bytes above 0. example is one for the error.
func Size(flag, text, example string) (int64, error) {
	n, err := terminal.ParseSize(text)
	if err != nil || n <= 0 {
		return 0, usage.Errorf("", "--%s: %q is not a size such as %s", flag, text, example)
	}
	return n, nil
}

// Time is a bound of times: a text as in filters, or a point in time.
type Time struct {
	Text string
	At   time.Time
}

// ParseTime parses the value of a flag: a time, or one that lies so far back from now.
func ParseTime(flag, value string) (t Time, err error) {
	if value == "" {
		return t, nil
	}
	if ago, err := text.ParseSpan(value, int64(time.Second)); err == nil {
		return Time{At: time.Now().Add(-time.Duration(ago))}, nil
	}
	times := arrow.NewSchema([]arrow.Field{{Name: "time", Type: arrow.FixedWidthTypes.Timestamp_us}}, nil)
	if _, err := filter.Bind(filter.Ge(filter.Col("time"), value), times); err != nil {
		return t, usage.Errorf("2026-11-30, '2026-11-30 15:04:05' and 2h are times", "%s: %q is not a time", flag, value)
	}
	return Time{Text: value}, nil
}

// IsZero reports whether there is no bound.
func (t Time) IsZero() bool { return t == Time{} }

// Literal is the time for a column. One without a zone has local times, as logs do.
func (t Time) Literal(zoned bool) filter.Expr {
	switch {
	case t.Text != "":
		return filter.Lit(t.Text)
	case zoned:
		return filter.Lit(t.At)
	}
	return filter.Lit(t.At.Local().Format("2006-01-02T15:04:05"))
}
