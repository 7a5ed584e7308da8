package lifetest_test

import (
	"fmt"
	"slices"
	"strings"
)

// State is a model of a shard: what it shows, and what changes can bring back.
type State struct {
	columns []column
	rows    []row
	note    string // a property
	first   *State // the first version
}

type column struct {
	name, kind string
	value      func(id int64) string
}

type row struct {
	id      int64
	deleted bool
	bare    bool // without values but the identifier
}

const null = "(null)"

// rows of the shard, and those of its stripes.
const (
	numRows    = 120
	stripeRows = 50
)

// Initial is the state of a new shard.
func Initial() State {
	s := State{columns: []column{
		{"id", "int64", func(id int64) string { return fmt.Sprint(id) }},
		{"text", "utf8", func(id int64) string {
			if text, ok := textOf(id); ok {
				return text
			}
			return null
		}},
		{"small", "int32", func(id int64) string { return fmt.Sprint(id % 7) }},
		{"gist", "utf8", gistOf},
		{"gone", "utf8", func(id int64) string { return fmt.Sprint("gone ", id%5) }},
		{"parts", "list<item: int32, nullable>", func(id int64) string {
			return "[" + strings.TrimSuffix(strings.Repeat("7,", int(id%4)), ",") + "]"
		}},
	}}
	for id := range int64(numRows) {
		s.rows = append(s.rows, row{id: id})
	}
	first := s.clone()
	s.first = &first
	s.mark(true, func(id int64) bool { return id >= 20 && id < 35 }) // see New
	return s
}

func textOf(id int64) (string, bool) { return []string{"red", "green", "blue"}[id%3], id%11 != 5 }

func gistOf(id int64) string { return fmt.Sprintf("g%04d", id/3) }

func (s *State) clone() State {
	c := *s
	c.columns, c.rows = slices.Clone(s.columns), slices.Clone(s.rows)
	return c
}

func (s *State) mark(deleted bool, which func(id int64) bool) {
	for i := range s.rows {
		if which(s.rows[i].id) {
			s.rows[i].deleted = deleted
		}
	}
}

func (s *State) purge() {
	s.rows = slices.DeleteFunc(s.rows, func(r row) bool { return r.deleted })
}

func (s *State) descend() {
	s.purge()
	slices.SortStableFunc(s.rows, func(a, b row) int { return int(b.id - a.id) })
}

func (s *State) column(name string) *column {
	return &s.columns[slices.IndexFunc(s.columns, func(c column) bool { return c.name == name })]
}

func order(c column) int {
	if c.name == "parts" {
		return 0
	}
	return 1
}

// Shown is what a shard shows.
type Shown struct {
	Columns, Note string
	Rows          []string
}

// Equal reports whether two shards show the same.
func (s Shown) Equal(o Shown) bool {
	return s.Columns == o.Columns && s.Note == o.Note && slices.Equal(s.Rows, o.Rows)
}

// Shows is what a shard in this state shows.
func (s State) Shows() Shown {
	var names []string
	for _, c := range s.columns {
		names = append(names, c.name+" "+c.kind)
	}
	out := Shown{Columns: strings.Join(names, ", "), Note: s.note}
	for _, r := range s.rows {
		if r.deleted {
			continue
		}
		var values []string
		for _, c := range s.columns {
			if r.bare && c.name != "id" {
				values = append(values, null)
			} else {
				values = append(values, c.value(r.id))
			}
		}
		out.Rows = append(out.Rows, strings.Join(values, " "))
	}
	return out
}

// After is the state after an operation.
func (s State) After(o Operation) State {
	c := s.clone()
	if o.Apply != nil {
		o.Apply(&c)
	}
	return c
}

// Makes is what the shards show that an operation makes.
func (s State) Makes(o Operation) Shown {
	c := s.clone()
	if o.Made != nil {
		c = o.Made(c)
	}
	return c.Shows()
}

// Serial reports whether some order of operations leads from the state to a shard that shows this, where each makes the shards that show that.
func (s State) Serial(done []Operation, shows Shown, made map[string]Shown) bool {
	type visit struct {
		left  int
		state string
	}
	seen := map[visit]bool{}
	var try func(left int, s State) bool
	try = func(left int, s State) bool {
		if left == 0 {
			return s.Shows().Equal(shows)
		}
		v := visit{left, fmt.Sprint(s.Shows(), s.rows)}
		if seen[v] {
			return false
		}
		seen[v] = true
		for i, o := range done {
			if left>>i&1 == 1 && (o.Makes == "" || s.Makes(o).Equal(made[o.Name])) && try(left&^(1<<i), s.After(o)) {
				return true
			}
		}
		return false
	}
	return try(1<<len(done)-1, s)
}
