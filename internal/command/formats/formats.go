// Package formats has the formats of the command and their flags. It opens inputs and creates outputs in the format that
// a flag, a name or the first bytes tell.
package formats

import (
	"fmt"
	"slices"
	"strings"

	"github.com/amudai/amudai-go/blockpack"
	"github.com/amudai/amudai-go/blockpack/otlp"
	"github.com/amudai/amudai-go/blockpack/tempo"
	"github.com/amudai/amudai-go/internal/command/files"
	"github.com/amudai/amudai-go/internal/command/usage"
	"github.com/amudai/amudai-go/rntuple"
	"github.com/amudai/amudai-go/table"
	"github.com/amudai/amudai-go/table/amudai"
	"github.com/amudai/amudai-go/table/arrowipc"
	"github.com/amudai/amudai-go/table/csv"
	"github.com/amudai/amudai-go/table/jsonl"
	"github.com/amudai/amudai-go/table/lines"
	"github.com/amudai/amudai-go/table/parquet"
)

// Names of formats that have flags.
const (
	Shard     = "shard"
	Blockpack = "blockpack"
	Parquet   = "parquet"
	NTuple    = "rntuple"
	Tempo     = "tempo"
	Lines     = "lines"
)

// IsText reports whether a file in a format is text for people, too.
func IsText(f table.Format) bool {
	return slices.Contains([]string{"csv", "tsv", "jsonl", "json", "otlp-json", Lines}, f.Name)
}

// All lists every format with its default options.
var All = with(csv.Options{}, jsonl.Options{}, rntuple.Options{})

// with lists every format that convert knows, with options for text and RNTuples.
func with(commas csv.Options, objects jsonl.Options, ntuple rntuple.Options) table.Formats {
	ntuple.VariantsAsStructs = true
	return table.Formats{
		amudai.New(amudai.Options{}),
		parquet.New(parquet.Options{}),
		csv.New(commas), csv.NewTSV(commas),
		jsonl.New(objects), jsonl.NewArray(objects),
		arrowipc.Format, arrowipc.Stream,
		rntuple.New(rntuple.FormatOptions{Read: ntuple}),
		blockpack.New(blockpack.FormatOptions{}),
		otlp.New(otlp.FormatOptions{}), otlp.NewJSON(otlp.FormatOptions{}),
		tempo.New(tempo.FormatOptions{}),
		lines.New(lines.Options{Text: commas.Text}),
	}
}

// Help lists names and extensions for help texts.
func Help() string {
	var b strings.Builder
	for _, f := range All {
		fmt.Fprintf(&b, "  %-8s %-18s %s\n", f.Name, f.Title, strings.Join(f.Extensions, " "))
	}
	return b.String()
}

func byName(fs table.Formats, name string) (table.Format, error) {
	f, err := fs.ByName(name)
	if err != nil {
		return f, usage.Errorf("", "%w", err)
	}
	return f, nil
}

// Output finds the format of an output.
func Output(location, name string) (table.Format, error) {
	if name != "" {
		return byName(slices.DeleteFunc(slices.Clone(All), func(f table.Format) bool { return f.Writer == nil }), name)
	}
	if location == "-" {
		return table.Format{}, usage.Errorf("--to jsonl, for example", "output to stdout needs a format")
	}
	plain, _ := files.Codec(location)
	f, ok := All.ByPath(plain)
	if !ok {
		return f, usage.Errorf("--to parquet, for example; known extensions: "+strings.Join(All.Extensions(), " "),
			"cannot tell the format of %s", location)
	}
	return f, nil
}
