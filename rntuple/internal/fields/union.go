package fields

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
)

// Union is the names and type codes of the fields of an Arrow union: that of type null, which stands for variants without a
// value, and then the alternatives. An annotation keeps them if they are not those that an alternative has by its number:
//
//	std::variant<float,std::string>  "[arrow: union 0 "none", 5 "energy", 7 "label"]"
type Union []Alternative

// Alternative is a field of a union.
type Alternative struct {
	Code arrow.UnionTypeCode
	Name string
}

var unions = annotation[Union]{annotationStart + "union ", parseUnion, slices.Equal[Union]}

// defaultUnion is that of a variant of so many alternatives.
func defaultUnion(n int) Union {
	u := Union{{0, "none"}}
	for i := range n {
		u = append(u, Alternative{arrow.UnionTypeCode(i + 1), "_" + strconv.Itoa(i)})
	}
	return u
}

// UnionOf is that of an Arrow type. A field for variants without a value is made up if it has none.
func UnionOf(dt arrow.UnionType) Union {
	u := Union{{-1, "none"}}
	for i, f := range dt.Fields() {
		a := Alternative{dt.TypeCodes()[i], f.Name}
		if f.Type.ID() != arrow.NULL {
			u = append(u, a)
		} else if u[0].Code < 0 {
			u[0] = a
		}
	}
	for code := arrow.UnionTypeCode(0); u[0].Code < 0; code++ {
		if !slices.ContainsFunc(u, func(a Alternative) bool { return a.Code == code }) {
			u[0].Code = code
		}
	}
	return u
}

// AnnotateUnion adds the names and codes of a union to a description, if it needs them.
func AnnotateUnion(description string, u Union) (string, error) {
	if slices.Equal(u, defaultUnion(len(u)-1)) {
		return unions.none(description), nil
	}
	parts := make([]string, len(u))
	for i, a := range u {
		parts[i] = fmt.Sprintf("%d %q", a.Code, a.Name)
	}
	return unions.add(description, strings.Join(parts, ", "), u, "the names of the union's fields")
}

func parseUnion(text string) (u Union, ok bool) {
	var seen [128]bool
	for first := true; first || text != ""; first = false {
		if !first {
			if text, ok = strings.CutPrefix(text, ", "); !ok {
				return nil, false
			}
		}
		code, quoted, _ := strings.Cut(text, " ")
		number, err := strconv.ParseUint(code, 10, 7)
		if err != nil || seen[number] {
			return nil, false
		}
		seen[number] = true
		name, err := strconv.QuotedPrefix(quoted)
		if err != nil {
			return nil, false
		}
		text = quoted[len(name):]
		if name, err = strconv.Unquote(name); err != nil {
			return nil, false
		}
		u = append(u, Alternative{arrow.UnionTypeCode(number), name})
	}
	return u, true
}
