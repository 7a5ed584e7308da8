package csv

import (
	"fmt"
	"strings"

	"github.com/amudai/amudai-go/internal/base/advice"
	"github.com/amudai/amudai-go/internal/text"
)

// ragged counts the records with another number of fields than the table has columns.
type ragged struct {
	filled, cut, dropped lines
}

// lines counts records, and keeps the lines of the first.
type lines struct {
	n     int64
	first []int64
}

func (l *lines) add(line int64) {
	if l.n++; l.n <= 5 {
		l.first = append(l.first, line)
	}
}

// String names the lines.
func (l *lines) String() string {
	s := text.Plural(l.n, "line") + " "
	for i, line := range l.first {
		if i > 0 {
			s += ", "
		}
		s += fmt.Sprint(line)
	}
	if l.n > int64(len(l.first)) {
		s += ", …"
	}
	return s
}

// tell gives a notice of the records, once.
func (r *ragged) tell(input string, say func(string)) {
	var parts []string
	add := func(l *lines, done string) {
		if l.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s %s (%s)", l.n, text.Plural(l.n, "record"), done, l))
		}
	}
	add(&r.filled, "with too few fields filled with nulls")
	add(&r.cut, "without the empty fields at the end that were too many")
	add(&r.dropped, "with another number of fields left out")
	if len(parts) > 0 {
		say(fmt.Sprintf("%s: %s; --ragged error refuses them", input, strings.Join(parts, ", ")))
	}
	*r = ragged{}
}

// fit makes the fields of a record as many as the columns, or returns nil to drop the record.
func (s *source) fit(cells []cell) ([]cell, error) {
	n, want := len(cells), len(s.columns)
	line := s.scan.atLine
	switch {
	case s.dialect.shape == lastIsEmpty && n == want+1 && blank(cells[want]):
		return cells[:want], nil
	case s.o.Ragged == RaggedDrop:
		s.ragged.dropped.add(line)
		return nil, nil
	case s.o.Ragged == RaggedNull && n < want:
		s.ragged.filled.add(line)
		for len(cells) < want {
			cells = append(cells, cell{})
		}
		s.scan.cells = cells // keeps the room
		return cells, nil
	case s.o.Ragged == RaggedNull && allBlank(cells[want:]):
		s.ragged.cut.add(line)
		return cells[:want], nil
	}
	hint := "--ragged drop leaves out such records"
	if n < want {
		hint = "--ragged null fills in nulls, --ragged drop leaves out such records"
	}
	return nil, advice.WithHint(fmt.Errorf("a record has %d %s, not %d (line %d of %s)", n, text.Plural(n, "field"), want, line, s.In.Name), "%s", hint)
}

func blank(c cell) bool { return len(c.text) == 0 && !c.quoted }

func allBlank(cells []cell) bool {
	for _, c := range cells {
		if !blank(c) {
			return false
		}
	}
	return true
}
