// Package formats has the formats of the command and their flags. It opens inputs and creates outputs in the format that
// a flag, a name or the first bytes tell.
package formats

import (
	"fmt"
	"slices"
	"strings"

	"github.com/amudai/amudai-go/cmd/amudai/internal/usage"
	"github.com/amudai/amudai-go/internal/inputs"
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
