package search

import (
	"bytes"
	"unicode/utf8"

	"github.com/amudai/amudai-go/internal/query"
)

// snippet is the part of a line of about n bytes that has most of the texts that were searched for, the first of such parts. It begins and ends where words do, if these
// are not too long, and marks what is left out.
func snippet(line []byte, spans []query.Span, n int) []byte {
	if len(line) <= n {
		return line
	}
	first, most := 0, 0
	for i, from := range spans {
		k := i
		for k < len(spans) && spans[k].To <= from.From+n {
			k++
		}
		if k-i > most {
			first, most = i, k-i
		}
	}
	from, to := 0, n
	if most > 0 {
		begin, end := spans[first].From, spans[first+most-1].To
		from = max(begin-max(n-(end-begin), 0)/2, 0)
		to = min(from+n, len(line))
		from = max(to-n, 0)
	}
	const longest = 30 // bytes of a word that is not cut
	if from > 0 {
		if at := bytes.IndexAny(line[from:min(from+longest, to)], " \t"); at >= 0 && (most == 0 || from+at < spans[first].From) {
			from += at + 1
		}
		for from < to && !utf8.RuneStart(line[from]) {
			from++
		}
	}
	if to < len(line) {
		if at := bytes.LastIndexAny(line[max(to-longest, from):to], " \t"); at >= 0 && (most == 0 || max(to-longest, from)+at >= spans[first].To) {
			to = max(to-longest, from) + at
		}
		for to > from && !utf8.RuneStart(line[to]) {
			to--
		}
	}
	var out []byte
	if from > 0 {
		out = append(out, "… "...)
	}
	out = append(out, line[from:to]...)
	if to < len(line) {
		out = append(out, " …"...)
	}
	return out
}
