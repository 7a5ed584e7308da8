package fault

import (
	"reflect"
	"strings"
)

// nouns are the nouns of messages that are counted, with their singular.
var nouns = map[string]string{"entries": "entry", "indexes": "index", "boundaries": "boundary", "properties": "property", "matches": "match", "batches": "batch"}

// verbs of these nouns, with their singular.
var verbs = map[string]string{" are ": " is ", " have ": " has ", " follow ": " follows ", " lie ": " lies "}

// singular is a format in which nouns behind a number 1 are singular, and verbs behind these: "%d bytes are left" with the
// argument 1 becomes "%d byte is left".
func singular(format string, args []any) string {
	arg := -1
	for i := 0; i+1 < len(format); i++ {
		if format[i] != '%' {
			continue
		}
		if i++; format[i] == '%' {
			continue
		}
		if arg++; arg >= len(args) || format[i] != 'd' && format[i] != 'v' {
			if format[i] == '[' || format[i] == '*' { // arguments in another order
				return format
			}
			continue
		}
		rest, found := strings.CutPrefix(format[i+1:], " ")
		if !found || !isOne(args[arg]) {
			continue
		}
		end := strings.IndexFunc(rest, func(r rune) bool { return r < 'a' || r > 'z' })
		if end < 0 {
			end = len(rest)
		}
		noun := rest[:end]
		one, irregular := nouns[noun]
		if !irregular {
			one, found = strings.CutSuffix(noun, "s")
			if !found || one == "i" || one == "ha" || one == "wa" || strings.HasSuffix(one, "s") { // a verb, or "less"
				continue
			}
		}
		rest = rest[end:]
		for many, single := range verbs {
			if tail, found := strings.CutPrefix(rest, many); found {
				rest = single + tail
			}
		}
		format = format[:i+2] + one + rest
	}
	return format
}

// isOne reports whether an argument is the integer 1.
func isOne(arg any) bool {
	switch v := reflect.ValueOf(arg); {
	case v.CanInt():
		return v.Int() == 1
	case v.CanUint():
		return v.Uint() == 1
	}
	return false
}
