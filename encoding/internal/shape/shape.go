// Package shape reads the forms of trees that are asked for by name.
package shape

import (
	"fmt"
	"strings"
)

// Split cuts the form of a tree, as encoding.Tree.String writes it, into the name of the encoding, its parameters and the
// forms of its parts: PatchedPack[3,x=1](raw,Delta(FFOR)) is PatchedPack, "3,x=1", raw and Delta(FFOR).
func Split(text string) (name, params string, parts []string, err error) {
	name, rest, nested := strings.Cut(text, "(")
	if nested {
		if !strings.HasSuffix(rest, ")") {
			return "", "", nil, fmt.Errorf("no ) at the end of %q", text)
		}
		parts = splitParts(rest[:len(rest)-1])
	}
	name, params, bracket := strings.Cut(name, "[")
	if bracket && !strings.HasSuffix(params, "]") {
		return "", "", nil, fmt.Errorf("no ] in %q", text)
	}
	return name, strings.TrimSuffix(params, "]"), parts, nil
}

// splitParts cuts at the commas that are not inside parentheses.
func splitParts(text string) (parts []string) {
	depth, from := 0, 0
	for i, c := range text {
		switch c {
		case '(', '[':
			depth++
		case ')', ']':
			depth--
		case ',':
			if depth == 0 {
				parts = append(parts, text[from:i])
				from = i + 1
			}
		}
	}
	return append(parts, text[from:])
}
