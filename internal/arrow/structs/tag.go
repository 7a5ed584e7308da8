package structs

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
)

// tag is what the tag of a field says.
//
//	arrow:"-"                   no column
//	arrow:"price"               the name of the column
//	arrow:"price,decimal(9,2)"  its name and Arrow type
//	arrow:",date32"             the type alone
type tag struct {
	skip   bool
	name   string
	option string // such as timestamp, or "" for the usual type
	args   []string
}

func parseTag(text string) (tag, error) {
	if text == "-" {
		return tag{skip: true}, nil
	}
	name, option, _ := strings.Cut(text, ",")
	t := tag{name: name, option: strings.TrimSpace(option)}
	if word, args, ok := strings.Cut(t.option, "("); ok {
		args, ok = strings.CutSuffix(args, ")")
		if !ok {
			return tag{}, fmt.Errorf("tag %q: a parenthesis is not closed", text)
		}
		t.option = strings.TrimSpace(word)
		for arg := range strings.SplitSeq(args, ",") {
			t.args = append(t.args, strings.TrimSpace(arg))
		}
	}
	return t, nil
}

func (t tag) String() string {
	if len(t.args) == 0 {
		return t.option
	}
	return t.option + "(" + strings.Join(t.args, ",") + ")"
}

// unit is the argument of timestamp(us), nanoseconds by default.
func (t tag) unit() (arrow.TimeUnit, error) {
	if len(t.args) == 0 {
		return arrow.Nanosecond, nil
	}
	for u := arrow.Second; u <= arrow.Nanosecond; u++ {
		if len(t.args) == 1 && t.args[0] == u.String() {
			return u, nil
		}
	}
	return 0, fmt.Errorf("option %s: the unit is s, ms, us or ns", t)
}

// decimal is the arguments of decimal(9,2).
func (t tag) decimal() (precision, scale int32, err error) {
	if len(t.args) == 2 {
		p, bad := strconv.ParseInt(t.args[0], 10, 32)
		s, wrong := strconv.ParseInt(t.args[1], 10, 32)
		if bad == nil && wrong == nil {
			return int32(p), int32(s), nil
		}
	}
	return 0, 0, fmt.Errorf("option %s: a decimal has a precision and a scale, as in decimal(9,2)", t)
}
