package arrowmap

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/apache/arrow-go/v18/arrow"
)

// UniqueNames gives the fields of one parent names that the format allows: valid UTF-8, not
// empty and unique. Most fields keep their names, dots included. The rule for the others:
//
//  1. Bytes that are not valid UTF-8 are replaced by U+FFFD.
//  2. A field is stored under its name if that is not empty and no field before
//     it has the same name.
//  3. Every other field is stored as NAME#K, where K is the smallest number from
//     2 (from 1 if NAME is empty) that no field of this parent has or has got.
//
// So "a", "", "a", "a#2", "" become "a", "#1", "a#3", "a#2", "#2". A changed name is recorded
// with its node, and readers restore it.
func UniqueNames(fields []arrow.Field) []string {
	names := make([]string, len(fields))
	taken := make(map[string]bool, len(fields))
	for i, f := range fields {
		name := f.Name
		if !utf8.ValidString(name) {
			name = strings.ToValidUTF8(name, "\uFFFD")
		}
		if name != "" && !taken[name] {
			names[i] = name
			taken[name] = true
		}
	}
	next := map[string]int{}
	for i, f := range fields {
		if names[i] != "" {
			continue
		}
		base := strings.ToValidUTF8(f.Name, "\uFFFD")
		k := max(next[base], 2)
		if base == "" {
			k = max(next[base], 1)
		}
		for taken[base+"#"+strconv.Itoa(k)] {
			k++
		}
		next[base] = k + 1
		names[i] = base + "#" + strconv.Itoa(k)
		taken[names[i]] = true
	}
	return names
}
