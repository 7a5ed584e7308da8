package formats

import (
	"slices"
	"strings"
	"sync"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/amudai/amudai-go/cmd/amudai/internal/usage"
	"github.com/amudai/amudai-go/table/provider"
)

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
