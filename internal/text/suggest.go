package text

import (
	"iter"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
)

// Suggest ends an error about a name that does not exist: ": is NAME meant?", with the known
// name that differs in case only, or in one edit, or that begins with it. It is "" if there
// is none.
func Suggest(name string, known iter.Seq[string]) string {
	best, rank := "", 0
	for k := range known {
		r := 0
		switch {
		case k == "" || k == name:
		case strings.EqualFold(k, name):
			r = 3
		case oneEdit(k, name):
			r = 2
		case len(name) >= 3 && len(k) > len(name) && strings.EqualFold(k[:len(name)], name):
			r = 1
		}
		if r > rank {
			best, rank = k, r
		}
	}
	if rank == 0 {
		return ""
	}
	return ": is " + Clip(best) + " meant?"
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

// oneEdit tells whether two names differ in one character, or in two that changed places.
// Names of fewer than three bytes are like too many others.
func oneEdit(a, b string) bool {
	if min(len(a), len(b)) < 3 {
		return false
	}
	for len(a) > 0 && len(b) > 0 && a[0] == b[0] {
		a, b = a[1:], b[1:]
	}
	for len(a) > 0 && len(b) > 0 && a[len(a)-1] == b[len(b)-1] {
		a, b = a[:len(a)-1], b[:len(b)-1]
	}
	return len(a) <= 1 && len(b) <= 1 || len(a) == 2 && len(b) == 2 && a[0] == b[1] && a[1] == b[0]
}
