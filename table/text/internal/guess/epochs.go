package guess

import (
	"bytes"
	"fmt"
	"regexp"
	"strconv"

	"github.com/amudai/amudai-go/internal/text"
)

// epochs are the bounds of integers that may be times since 1970.
type epochs struct {
	least, most int64
	n           int
	no          bool // one of them is no such time
}

// The years 2001 to 2099, in which a time since 1970 has a number of digits that tells its unit.
const (
	fromSecond = 978_307_200
	toSecond   = 4_102_444_800
)

// epochUnits are the units of times since 1970, and how many of them a second has.
var epochUnits = []struct {
	name      string
	perSecond int64
}{{"seconds", 1}, {"milliseconds", 1e3}, {"microseconds", 1e6}, {"nanoseconds", 1e9}}

// namesTime matches the names of columns of times. Other integers of ten or thirteen digits are as likely numbers of something.
var namesTime = regexp.MustCompile(`(?i)(time|date|epoch|stamp|created|updated|modified|^ts$|[_.]ts$|^ts[_.]|[_.]at$)|[a-z](At|TS|Ts)$`)

// add looks at an integer.
func (e *epochs) add(b []byte) {
	if e.no {
		return
	}
	v, err := strconv.ParseInt(string(bytes.TrimPrefix(b, []byte("+"))), 10, 64)
	if e.no = err != nil || v < fromSecond; e.no {
		return
	}
	if e.n++; e.n == 1 {
		e.least, e.most = v, v
	}
	e.least, e.most = min(e.least, v), max(e.most, v)
}

// look tells which times the integers of a column may be.
func (e *epochs) look(name string) (found string, ok bool) {
	if e.no || e.n == 0 || !namesTime.MatchString(name) {
		return "", false
	}
	for _, u := range epochUnits {
		if e.least >= fromSecond*u.perSecond && e.most/u.perSecond < toSecond {
			at := text.AppendTimestamp(nil, e.least, u.perSecond, true)
			return fmt.Sprintf("they may be %s since 1970, %d is %s", u.name, e.least, at), true
		}
	}
	return "", false
}
