package query

import (
	"github.com/apache/arrow-go/v18/arrow"

	"github.com/amudai/amudai-go/internal/arrow/kinds"
	"github.com/amudai/amudai-go/internal/format/arrowmap"
	"github.com/amudai/amudai-go/internal/format/schema"
)

// TextColumns are the paths of the columns that are searched by default: "line", or all columns of strings.
func TextColumns(s *arrow.Schema) (columns []string) {
	for i, name := range arrowmap.UniqueNames(s.Fields()) {
		dt := kinds.Unwrapped(s.Field(i).Type)
		isText := kinds.IsText(dt) || dt.ID() == arrow.BINARY && name == "line"
		if isText && name == "line" {
			return []string{name}
		}
		if isText {
			columns = append(columns, schema.Escape(name))
		}
	}
	return columns
}

// TimeColumn is the path of the first column of times or dates, or "".
func TimeColumn(s *arrow.Schema) string {
	for i, name := range arrowmap.UniqueNames(s.Fields()) {
		switch s.Field(i).Type.ID() {
		case arrow.TIMESTAMP, arrow.DATE32, arrow.DATE64:
			return schema.Escape(name)
		}
	}
	return ""
}
