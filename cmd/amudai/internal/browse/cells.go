package browse

import (
	"github.com/apache/arrow-go/v18/arrow"

	"github.com/amudai/amudai-go/cmd/amudai/internal/terminal"
	"github.com/amudai/amudai-go/internal/arrow/extension"
	"github.com/amudai/amudai-go/internal/arrow/kinds"
	"github.com/amudai/amudai-go/internal/text"
)

const cellWidth = 40 // of a column that is not alone

// field is a column of the table.
type field struct {
	name   string // safe to print
	path   string // for filters and projections
	typ    string
	number bool // aligned to the right
	text   bool // of strings, or with strings in it
}

func newField(f arrow.Field, path string) field {
	t, _ := extension.Unwrap(f.Type)
	id := t.ID()
	return field{
		name: terminal.Printable(f.Name), path: path, typ: terminal.Printable(text.Type(f.Type)),
		number: arrow.IsInteger(id) || arrow.IsFloating(id) || arrow.IsDecimal(id), text: kinds.HasID(t, arrow.STRING, arrow.LARGE_STRING, arrow.STRING_VIEW),
	}
}
