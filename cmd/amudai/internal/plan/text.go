package plan

import (
	"strconv"

	"github.com/amudai/amudai-go/cmd/amudai/internal/terminal"
	"github.com/amudai/amudai-go/storage"
)

// Text prints the stripes as a table for people.
func (p *Plan) Text(out terminal.Screen) {
	t := terminal.NewTable().Text("input").Numbers("stripe", "first row", "rows", "selected", "bytes").Optional("first row")
	for _, in := range p.Inputs {
		for _, s := range in.Stripes {
			size := "?"
			if s.SelectedBytes != nil {
				size = terminal.Size(*s.SelectedBytes)
			}
			t.Row(storage.Redact(in.Location), s.Stripe, s.FirstRow, count(s.Rows), count(s.SelectedRows), size)
		}
	}
	out.Table(t, "")
}

func count(n *int64) string {
	if n == nil {
		return "?"
	}
	return strconv.FormatInt(*n, 10)
}
