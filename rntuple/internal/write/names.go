package write

import (
	"strconv"
	"strings"
	"unicode"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/rntuple/internal/fields"
)

// checkName tells whether a field may have a name.
func checkName(name string) error {
	bad := func(r rune) bool {
		return r == '.' || r == ' ' || r == '\\' || r == '/' || unicode.IsControl(r) || r == unicode.ReplacementChar
	}
	switch {
	case name == "":
		return fault.Unsupportedf("a field without a name")
	case strings.ContainsFunc(name, bad):
		return fault.Unsupportedf("the name %q: RNTuple allows no blanks, dots, slashes, backslashes or control characters in names", name)
	}
	return nil
}

// template splits the name of a C++ template instance: "std::map<int,float>" is "std::map" with two
// arguments. Other names have none.
func template(name string) (head string, args []string) {
	open := strings.IndexByte(name, '<')
	if open < 0 || !strings.HasSuffix(name, ">") {
		return name, nil
	}
	depth, from := 0, open+1
	for i := open; i < len(name); i++ {
		switch name[i] {
		case '<', '(', '[':
			depth++
		case '>', ')', ']':
			depth--
		case ',':
			if depth == 1 {
				args = append(args, strings.TrimSpace(name[from:i]))
				from = i + 1
			}
		}
	}
	return name[:open], append(args, strings.TrimSpace(name[from:len(name)-1]))
}

// arg is an argument of a template, or "".
func arg(args []string, i int) string {
	if i < len(args) {
		return args[i]
	}
	return ""
}

// same compares names without blanks, which older files have in template arguments.
func same(a, b string) bool {
	return strings.ReplaceAll(a, " ", "") == strings.ReplaceAll(b, " ", "")
}

// isUser tells whether a name may be one of a class or an enumeration of the user.
func isUser(name string) bool {
	first, _, _ := strings.Cut(name, " ")
	return first != "" && !strings.HasPrefix(first, "std::") && !fundamental[first]
}

var fundamental = map[string]bool{
	"bool": true, "char": true, "float": true, "double": true, "int": true, "long": true, "short": true, "unsigned": true,
}

// vectors are templates of one argument whose collections have no more than items.
var vectors = map[string]bool{
	"std::vector": true, "ROOT::VecOps::RVec": true, "ROOT::RVec": true,
	"std::set": true, "std::unordered_set": true, "std::multiset": true, "std::unordered_multiset": true,
}

// maps are templates of two arguments whose items are pairs.
var maps = map[string]bool{"std::map": true, "std::unordered_map": true, "std::multimap": true, "std::unordered_multimap": true}

// typeOf is the C++ type that an Arrow field had when it was read from an RNTuple, or "". A class without fields for its base classes is none.
func typeOf(f arrow.Field) string {
	if metadata(f, fields.KeyBases) != "" {
		return ""
	}
	return metadata(f, fields.KeyType)
}

func metadata(f arrow.Field, key string) string {
	if i := f.Metadata.FindKey(key); i >= 0 {
		return f.Metadata.Values()[i]
	}
	return ""
}

// number is metadata that is a number, or 0.
func number(f arrow.Field, key string, base int) (n uint32, ok bool) {
	v, err := strconv.ParseUint(metadata(f, key), base, 32)
	return uint32(v), err == nil
}
