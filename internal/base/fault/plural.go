package fault

import (
	"reflect"
	"strings"
)

// singular is a format in which the nouns behind numbers that are 1 lose their plural: "%d bytes are left" with 1 is "%d byte is left".
func singular(format string, args []any) string {
	if !strings.Contains(format, "%d ") || strings.ContainsAny(format, "[*") { // or arguments in another order
		return format
	}
	parts := strings.Split(format, "%")
	for i, n := 1, 0; i < len(parts); i, n = i+1, n+1 {
		if parts[i] == "" { // %%
			i++
			n--
			continue
		}
		if rest, ok := strings.CutPrefix(parts[i], "d "); ok && n < len(args) && isOne(args[n]) {
			parts[i] = "d " + oneOf(rest)
		}
	}
	return strings.Join(parts, "%")
}

func isOne(v any) bool {
	switch r := reflect.ValueOf(v); {
	case r.CanInt():
		return r.Int() == 1
	case r.CanUint():
		return r.Uint() == 1
	}
	return false
}

// oneOf is a text whose first word loses its plural, as does the verb behind it.
func oneOf(text string) string {
	end := strings.IndexFunc(text, func(r rune) bool { return r < 'a' || r > 'z' })
	if end < 0 {
		end = len(text)
	}
	word, rest := text[:end], text[end:]
	for _, form := range []struct{ plural, singular string }{{"ies", "y"}, {"xes", "x"}, {"ches", "ch"}, {"s", ""}} {
		if stem, ok := strings.CutSuffix(word, form.plural); ok && len(stem) > 1 && word != "has" && word != "was" && !strings.HasSuffix(stem, "s") {
			word = stem + form.singular
			break
		}
	}
	for _, verb := range []struct{ plural, singular string }{{" are", " is"}, {" have", " has"}, {" follow", " follows"}, {" remain", " remains"}} {
		if behind, ok := strings.CutPrefix(rest, verb.plural); ok && (behind == "" || behind[0] == ' ') {
			rest = verb.singular + behind
		}
	}
	return word + rest
}
