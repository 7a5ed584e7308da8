// Package suggest finds the name that was probably meant.
package suggest

import (
	"iter"
	"strings"
)

// Name gives the known name that differs from another one in case only, or in one edit, or
// that begins with it; "" if there is none.
func Name(name string, known iter.Seq[string]) string {
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
	return best
}

// oneEdit reports whether two names differ in one character, or in two that changed places.
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
