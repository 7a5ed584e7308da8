package formats

import (
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/amudai/amudai-go/cmd/amudai/internal/usage"
	"github.com/amudai/amudai-go/table/provider"
)

// flagFormats are the formats of flags that are not for all formats. convert also checks the flags of its output.
var flagFormats = map[string][]string{
	"sample":        {"csv", "tsv", "jsonl", "json", "lines"},
	"sample-bytes":  {"csv", "tsv", "jsonl", "json", "lines"},
	"delimiter":     {"csv", "tsv"},
	"no-header":     {"csv", "tsv"},
	"null":          {"csv", "tsv"},
	"header":        {"csv", "tsv"},
	"quote":         {"csv", "tsv"},
	"escape":        {"csv", "tsv"},
	"skip":          {"csv", "tsv"},
	"comment":       {"csv", "tsv"},
	"line-end":      {"csv", "tsv"},
	"ragged":        {"csv", "tsv"},
	"trim":          {"csv", "tsv"},
	"decimal":       {"csv", "tsv"},
	"thousands":     {"csv", "tsv"},
	"dates":         {"csv", "tsv"},
	"true":          {"csv", "tsv"},
	"false":         {"csv", "tsv"},
	"encoding":      {"csv", "tsv", "jsonl", "json"},
	"unnest":        {"jsonl", "json"},
	"keep":          {"jsonl", "json"},
	"records":       {"jsonl", "json"},
	"decimals":      {Shard},
	"ticks":         {Shard},
	"dynamics":      {Shard},
	"default-types": {Shard},
	"strings":       {Shard},
	"table":         {NTuple},
	"no-projected":  {NTuple},

	"profile":        {Shard},
	"edition":        {Shard},
	"layout":         {Shard},
	"stripe-rows":    {Shard},
	"stripe-bytes":   {Shard},
	"block-values":   {Shard},
	"nanos":          {Shard},
	"created":        {Shard},
	"memory":         {Shard},
	"index":          {Shard},
	"parallel":       {Shard},
	"level":          {Parquet},
	"row-group-rows": {Parquet},
	"no-nulls":       {NTuple},
}

// Check returns an error for flags about inputs that do not apply to any of some formats.
func (p *Opener) Check(location string, formats ...provider.Format) error {
	return checkFlags(p.flags, true, location, formats...)
}

// Check returns an error for flags about outputs that do not apply to a format.
func (w *WriteFlags) Check(location string, format provider.Format) error {
	return checkFlags(w.flags, false, location, format)
}

// checkFlags returns an error for flags that do not apply to any of some formats. Flags of inputs are those that
// [ReadFlags] registers.
func checkFlags(flags *pflag.FlagSet, ofInputs bool, what string, formats ...provider.Format) (err error) {
	if flags == nil { // not those of a command
		return nil
	}
	flags.Visit(func(f *pflag.Flag) {
		takers := flagFormats[f.Name]
		if err != nil || takers == nil || isInputFlag(f.Name) != ofInputs {
			return
		}
		for _, format := range formats {
			if slices.Contains(takers, format.Name) {
				return
			}
		}
		titles := make([]string, len(takers))
		for i, name := range takers {
			titles[i] = formatTitle(name)
		}
		err = usage.Errorf("leave it out", "--%s is only for %s; the format of %s is %s", f.Name, strings.Join(titles, ", "), what, formats[0].Title)
	})
	return err
}

func formatTitle(name string) string {
	f, _ := All().ByName(name)
	return f.Title
}

// isInputFlag reports whether a flag is about inputs.
func isInputFlag(name string) bool {
	switch name {
	case "sample", "sample-bytes", "delimiter", "no-header", "header", "null", "quote", "escape", "skip", "comment", "line-end", "ragged",
		"trim", "decimal", "thousands", "dates", "true", "false", "encoding", "unnest", "keep", "records", "decimals", "ticks", "dynamics", "default-types", "strings",
		"table", "no-projected":
		return true
	}
	return false
}
