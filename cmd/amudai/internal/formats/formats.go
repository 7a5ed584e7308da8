// Package formats has the formats of the command and their flags. It opens inputs and creates outputs in the format that
// a flag, a name or the first bytes tell.
package formats

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/spf13/cobra"

	"github.com/amudai/amudai-go/cmd/amudai/internal/terminal"
	"github.com/amudai/amudai-go/cmd/amudai/internal/usage"
	"github.com/amudai/amudai-go/filter"
	"github.com/amudai/amudai-go/internal/inputs"
	"github.com/amudai/amudai-go/internal/text"
	_ "github.com/amudai/amudai-go/table/formats" // which the command knows
	"github.com/amudai/amudai-go/table/provider"
)

// Names of formats that have flags, or commands of their own.
const (
	Shard     = "shard"
	Blockpack = "blockpack"
	NTuple    = "rntuple"
	Lines     = "lines"
)

// All lists every format with its default options.
func All() provider.Formats { return provider.Registered() }

// Help lists names and extensions for help texts.
func Help() string {
	var b strings.Builder
	for _, f := range All() {
		fmt.Fprintf(&b, "  %-8s %-18s %s\n", f.Name, f.Title, strings.Join(f.Extensions, " "))
	}
	return b.String()
}

// Output finds the format of an output.
func Output(location, name string) (provider.Format, error) {
	if name != "" {
		f, err := slices.DeleteFunc(All(), func(f provider.Format) bool { return f.Writer == nil }).ByName(name)
		if err != nil {
			err = usage.Errorf("", "%w", err)
		}
		return f, err
	}
	if location == "-" {
		return provider.Format{}, usage.Errorf("--to jsonl, for example", "output to stdout needs a format")
	}
	plain, _ := inputs.Codec(location)
	f, ok := All().ByPath(plain)
	if !ok {
		return f, usage.Errorf("--to parquet, for example; known extensions: "+strings.Join(All().Extensions(), " "),
			"cannot tell the format of %s", location)
	}
	return f, nil
}

// RegisterMemory adds the flag of the commands that move what they hold to temporary files.
func RegisterMemory(cmd *cobra.Command, memory *int64, what string) {
	RegisterSize(cmd, memory, "memory", "256MiB", what+" held in memory, up to 1GiB; the rest goes to temporary files")
}

// RegisterSize adds a flag of a number of bytes above 0.
func RegisterSize(cmd *cobra.Command, size *int64, flag, byDefault, help string) {
	usage.Parsed(cmd, size, flag, byDefault, help, func(text string) (int64, error) { return Size(flag, text, byDefault) })
}

// RegisterTimes adds the flags of a range of times: nil, texts as in filters, or a time.Time each.
func RegisterTimes(cmd *cobra.Command, since, until *any, helpSince, helpUntil string) {
	usage.Parsed(cmd, since, "since", "", helpSince, func(text string) (any, error) { return parseTime("--since", text) })
	usage.Parsed(cmd, until, "until", "", helpUntil, func(text string) (any, error) { return parseTime("--until", text) })
}

// Size parses a flag of a number of bytes above 0. example is one for the error.
func Size(flag, text, example string) (int64, error) {
	n, err := terminal.ParseSize(text)
	if err != nil || n <= 0 {
		return 0, usage.Errorf("", "--%s: %q is not a size such as %s", flag, text, example)
	}
	return n, nil
}

// parseTime parses a time, or one that lies so far back from now.
func parseTime(flag, value string) (any, error) {
	if ago, err := text.ParseSpan(value, int64(time.Second)); err == nil {
		return time.Now().Add(-time.Duration(ago)), nil
	}
	times := arrow.NewSchema([]arrow.Field{{Name: "time", Type: arrow.FixedWidthTypes.Timestamp_us}}, nil)
	if _, err := filter.Bind(filter.Ge(filter.Col("time"), value), times); err != nil {
		return nil, usage.Errorf("2026-11-30, '2026-11-30 15:04:05' and 2h are times", "%s: %q is not a time", flag, value)
	}
	return value, nil
}
