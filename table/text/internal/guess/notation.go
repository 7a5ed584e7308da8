package guess

import (
	"bytes"
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/amudai/amudai-go/internal/text"
	"github.com/amudai/amudai-go/internal/text/values"
)

// notation is how the numbers of a column are written, as far as a float loses it. A version 1.10 is not 1.1, and 1E5 may be a name.
type notation struct {
	zero        string // the first number with a zero at its end: 1.10
	bare        string // the first with an exponent that has neither a sign nor a point before it: 1E5. Hardly a program writes such.
	scientific  bool   // another has a usual exponent
	padded      bool   // a fraction begins with a zero: 1.05, which is no version
	least, most int    // digits of fractions
}

// add looks at a number.
func (n *notation) add(b []byte) {
	if e := bytes.IndexAny(b, "eE"); e >= 0 {
		if isBare(b, e) {
			n.bare = firstOf(n.bare, b)
		} else {
			n.scientific = true
		}
		return
	}
	_, fraction, _ := bytes.Cut(b, []byte{'.'})
	digits := len(fraction)
	if digits == 0 {
		return
	}
	if n.least == 0 || digits < n.least {
		n.least = digits
	}
	n.most = max(n.most, digits)
	n.padded = n.padded || digits > 1 && fraction[0] == '0'
	if endsInZero(b) {
		n.zero = firstOf(n.zero, b)
	}
}

func firstOf(s string, b []byte) string {
	if s != "" {
		return s
	}
	return string(b)
}

// isBare reports whether a number has nothing but digits around the e at a position.
func isBare(b []byte, e int) bool {
	return bytes.IndexByte(b[:e], '.') < 0 && e+1 < len(b) && b[e+1]-'0' <= 9
}

// endsInZero reports whether a number has a fraction of two digits or more, with a zero at its end.
func endsInZero(b []byte) bool {
	n := len(b)
	return n >= 3 && b[n-1] == '0' && b[n-2] != '.' && bytes.IndexByte(b[:n-2], '.') >= 0 && !bytes.ContainsAny(b, "eE")
}

// mayBeText reports whether floats are written as versions or names may be. Numbers of prices have fractions of one length.
func (n *notation) mayBeText() (example string, ok bool) {
	switch {
	case n.bare != "" && !n.scientific:
		return n.bare, true
	case n.zero != "" && n.least < n.most && !n.padded:
		return n.zero, true
	}
	return "", false
}

// wrap refuses numbers in a notation that those of the sample do not have, and that a number loses.
func (n *notation) wrap(set values.Setter, t arrow.DataType) values.Setter {
	if t == nil || t.ID() != arrow.FLOAT64 {
		return set
	}
	return func(token []byte) error {
		if e := bytes.IndexAny(token, "eE"); e > 0 && !n.scientific && isBare(token, e) {
			return fmt.Errorf("%q may be a name as well as a number", text.Clip(string(token)))
		}
		if n.zero == "" && endsInZero(token) {
			return fmt.Errorf("%q has a zero at its end, which a number would lose", text.Clip(string(token)))
		}
		return set(token)
	}
}
