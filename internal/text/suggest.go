package text

import (
	"iter"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/amudai/amudai-go/internal/base/suggest"
)

// Suggest completes an error about an unknown name: ": is NAME meant?" It chooses the known name that differs in case
// only, or by one edit, or that begins with the unknown one. It returns "" if there is none.
func Suggest(name string, known iter.Seq[string]) string {
	meant := suggest.Name(name, known)
	if meant == "" {
		return ""
	}
	return ": is " + Clip(meant) + " meant?"
}

// Names returns the names of the fields of a schema or a struct.
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
