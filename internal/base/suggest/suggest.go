// Package suggest finds a known name that is similar to an unknown one.
package suggest

import (
	"iter"
	"strings"
)

// Name returns the known name that differs from an unknown one only in case or by one edit, or
// that begins with it. It is "" if there is none.
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

// oneEdit reports whether two names differ in one character, or by a swap of two adjacent ones.
// Names of fewer than three bytes resemble too many others.
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
