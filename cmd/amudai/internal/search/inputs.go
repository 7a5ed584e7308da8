package search

import (
	"bytes"
	"context"
	"strings"

	"github.com/amudai/amudai-go/cmd/amudai/internal/formats"
	"github.com/amudai/amudai-go/internal/inputs"
)

// formatOf is the name of the format to read an input in. Formats of text are searched line by line, unless columns are asked
// for. It is "" for an input that is neither text nor a table.
func formatOf(ctx context.Context, in inputs.Input, columns bool) (string, error) {
	name := strings.TrimSuffix(strings.TrimSuffix(in.Location, ".gz"), ".zst")
	file, _ := formats.All().SplitTable(name)
	if f, ok := formats.All().ByPath(file); ok {
		if f.Text && !columns {
			return formats.Lines, nil
		}
		return f.Name, nil
	}
	if in.Location == "-" || name != in.Location || inputs.IsDevice(in.Location) {
		return formats.Lines, nil
	}
	head, err := inputs.Head(ctx, in.Location, 4096)
	if err != nil {
		return "", inputs.Missing(in.Location, err)
	}
	isText := bytes.IndexByte(head, 0) < 0 // as every grep decides
	if f, ok := formats.All().Sniff(head); ok && !isText && !f.Text && !(in.Found && f.Doubtful) {
		return f.Name, nil
	}
	if in.Found && !isText && inputs.Compressed(head) == "" {
		return "", nil
	}
	return formats.Lines, nil
}
