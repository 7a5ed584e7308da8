package rows

import (
	"context"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/amudai/amudai-go/cmd/amudai/internal/terminal"
	"github.com/amudai/amudai-go/table/provider"
)

// plotted has a bar in each row of a histogram, which are on a terminal.
type plotted struct {
	provider.Source
	schema *arrow.Schema
	width  int
}

// The columns of a histogram, which come behind those of its group.
var histogramColumns = []string{"from", "to", "count"}

const (
	widestBar    = 40 // tables cut longer texts
	besideBar    = 45 // columns of the terminal
	narrowestBar = 10
)

// plot draws the last columns of a source, if they are those of a histogram.
func plot(src provider.Source, width int) provider.Source {
	fields := src.Schema().Fields()
	var names []string
	for _, f := range fields[max(len(fields)-len(histogramColumns), 0):] {
		names = append(names, f.Name)
	}
	if !slices.Equal(names, histogramColumns) {
		return src
	}
	fields = append(slices.Clone(fields), arrow.Field{Name: " ", Type: arrow.BinaryTypes.String})
	return &plotted{src, arrow.NewSchema(fields, nil), min(max(width-besideBar, narrowestBar), widestBar)}
}

func (p *plotted) Schema() *arrow.Schema { return p.schema }

// Next implements [provider.Source]. The greatest count of each histogram has the widest bar.
func (p *plotted) Next(ctx context.Context) (arrow.RecordBatch, error) {
	b, err := p.Source.Next(ctx)
	if b == nil || err != nil {
		return nil, err
	}
	defer b.Release()
	last := int(b.NumCols()) - 1
	from, counts := b.Column(last-2).(*array.Float64), b.Column(last).(*array.Int64)
	out := array.NewStringBuilder(memory.DefaultAllocator)
	defer out.Release()
	for i := 0; i < counts.Len(); {
		end := i + 1
		for end < counts.Len() && from.Value(end) > from.Value(end-1) {
			end++
		}
		one := counts.Int64Values()[i:end]
		most := float64(slices.Max(one))
		for _, n := range one {
			bar := terminal.Bar(float64(n), most, p.width)
			if bar == "" && n > 0 {
				bar = "▏"
			}
			out.Append(bar)
		}
		i = end
	}
	bars := out.NewArray()
	defer bars.Release()
	return array.NewRecordBatch(p.schema, append(slices.Clone(b.Columns()), bars), b.NumRows()), nil
}
