package rows

import (
	"context"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/amudai/amudai-go/cmd/amudai/internal/complete"
)

// completer completes words at Tab: as DuckDB proposes (keywords, functions, tables, files), and with columns of the locations that are named.
type completer struct {
	list func(question string) []string // the texts of an answer, none if it fails
	show io.Writer

	before  string              // the lines before the current one
	columns map[string][]string // by location
}

var (
	named   = regexp.MustCompile(`(?i)\b(?:from|join)\s+('(?:[^']|'')+')`)
	word    = regexp.MustCompile(`"?[\pL_][\pL\pN_]*$`)
	unquote = regexp.MustCompile(`^[a-z_][a-z0-9_]*$`)
)

// complete implements AutoCompleteCallback of [golang.org/x/term.Terminal].
func (c *completer) complete(line string, pos int, key rune) (string, int, bool) {
	if key != '\t' {
		return "", 0, false
	}
	text := c.before + line[:pos]
	start := len(text)
	var found []string
	add := func(from int, proposal string) {
		if typed := text[from:]; len(proposal) > len(typed) && strings.EqualFold(proposal[:len(typed)], typed) {
			if from < start {
				start, found = from, nil
			}
			if from == start {
				found = append(found, proposal)
			}
		}
	}
	for _, answer := range c.list("select suggestion_start || ' ' || suggestion from sql_auto_complete('" + strings.ReplaceAll(text, "'", "''") + "')") {
		at, proposal, _ := strings.Cut(answer, " ")
		if from, err := strconv.Atoi(at); err == nil && from <= len(text) {
			add(from, proposal)
		}
	}
	if at := word.FindStringIndex(text); at != nil && strings.Count(text, "'")%2 == 0 {
		for _, column := range c.known(c.before + line) {
			add(at[0], column)
		}
	}
	slices.Sort(found)
	found = slices.Compact(found)
	if len(found) == 0 {
		return line, pos, true
	}
	same := complete.Common(found)
	if len(same) <= len(text)-start && len(found) > 1 {
		fmt.Fprintln(c.show, strings.Join(found[:min(len(found), 50)], "  "))
		return line, pos, true
	}
	begun := pos - (len(text) - start)
	if begun < 0 || len(same) < len(text)-start { // the word began on another line, or its cases differ
		return line, pos, true
	}
	return line[:begun] + same + line[pos:], begun + len(same), true
}

// known are the columns of the locations in a question, as SQL writes them.
func (c *completer) known(question string) (all []string) {
	for _, m := range named.FindAllStringSubmatch(question, -1) {
		names, ok := c.columns[m[1]]
		if !ok {
			for _, name := range c.list("select column_name from (describe from " + m[1] + ")") {
				if !unquote.MatchString(name) {
					name = `"` + strings.ReplaceAll(name, `"`, `""`) + `"`
				}
				names = append(names, name)
			}
			c.columns[m[1]] = names
		}
		all = append(all, names...)
	}
	return all
}

// list is the first column of an answer, of texts. A question that fails has none: the next one tells why, if the engine is gone.
func (e *engine) list(question string) (all []string) {
	rows, err := e.ask(question)
	if err != nil {
		return nil
	}
	defer rows.Close()
	for {
		b, err := rows.Next(context.Background())
		if b == nil || err != nil {
			return all
		}
		texts, ok := b.Column(0).(array.StringLike)
		for i := 0; ok && i < int(b.NumRows()); i++ {
			all = append(all, strings.Clone(texts.Value(i)))
		}
		b.Release()
	}
}
