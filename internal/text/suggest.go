package text

import (
	"iter"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/amudai/amudai-go/internal/base/suggest"
)

// Suggest ends an error about a name that does not exist: ": is NAME meant?", with the known
// name that differs in case only, or in one edit, or that begins with it. It is "" if there
// is none.
func Suggest(name string, known iter.Seq[string]) string {
	meant := suggest.Name(name, known)
	if meant == "" {
		return ""
	}
	return ": is " + Clip(meant) + " meant?"
}

// Names gives the names of the fields of a schema or a struct.
func Names(fields interface {
	NumFields() int
	Field(i int) arrow.Field
}) iter.Seq[string] {
	return func(yield func(string) bool) {
		for i := range fields.NumFields() {
			if !yield(fields.Field(i).Name) {
				return
			}
		}
	}
}
