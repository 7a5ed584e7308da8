// Package formats has the formats of the command and their flags. It opens inputs and creates outputs in the format that
// a flag, a name or the first bytes tell.
package formats

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

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

// formatsOf are the names of the formats that a flag is for, nil for all: its description begins with them. convert also checks the
// flags of its output.
func formatsOf(f *pflag.Flag) []string {
	about, _, _ := strings.Cut(f.Usage, ": ")
	if f.Name == "sample" || f.Name == "sample-bytes" {
		about = "text"
	}
	return map[string][]string{
		"text": {"csv", "tsv", "jsonl", "json", "lines"}, "CSV and JSON": {"csv", "tsv", "jsonl", "json"}, "CSV": {"csv", "tsv"}, "JSON": {"jsonl", "json"},
		"shard": {Shard}, "shard of another writer": {Shard}, "Parquet": {"parquet"}, "RNTuple": {NTuple}, "RNTuple and shard": {NTuple, Shard}, "Blockpack": {"blockpack"},
	}[about]
}

// inputFlags are the flags about inputs.
var inputFlags = sync.OnceValue(func() *pflag.FlagSet {
	var t TableFlags
	cmd := &cobra.Command{}
	t.Register(cmd, -1)
	return cmd.Flags()
})

// Check returns an error for flags about inputs that do not apply to any of some formats.
func (p *Opener) Check(location string, formats ...provider.Format) error {
	return checkFlags(p.flags, true, location, formats...)
}

// Check returns an error for flags about outputs that do not apply to a format.
func (w *WriteFlags) Check(location string, format provider.Format) error {
	return checkFlags(w.flags, false, location, format)
}

// checkFlags returns an error for flags that do not apply to any of some formats.
func checkFlags(flags *pflag.FlagSet, ofInputs bool, what string, formats ...provider.Format) (err error) {
	if flags == nil { // not those of a command
		return nil
	}
	flags.Visit(func(f *pflag.Flag) {
		takers := formatsOf(f)
		if err != nil || takers == nil || (inputFlags().Lookup(f.Name) != nil) != ofInputs {
			return
		}
		for _, format := range formats {
			if slices.Contains(takers, format.Name) {
				return
			}
		}
		titles := make([]string, len(takers))
		for i, name := range takers {
			f, _ := All().ByName(name)
			titles[i] = f.Title
		}
		err = usage.Errorf("leave it out", "--%s is only for %s; the format of %s is %s", f.Name, strings.Join(titles, ", "), what, formats[0].Title)
	})
	return err
}
