package zoo

import (
	"bytes"
	"cmp"
	"slices"
	"strconv"
	"strings"
)

// logModel is what is learnt from real lines. A line is a sequence of parts: separators, words that are constant in a
// template, and values.
type logModel struct {
	templates []*logTemplate
	order     []int   // the template of each real line
	places    [][]int // of each template in order
	at        int     // in order
	buf       []byte
}

type logTemplate struct {
	constant []string // "" for a value
	slots    []*slot  // nil for a constant
}

// newLogModel learns from real lines. Parts with a digit are values, and words where at least three occur between the same
// other parts.
func newLogModel(real []string) *logModel {
	m, parts, keys := &logModel{}, make([][]string, len(real)), make([][]string, len(real))
	for i, line := range real {
		parts[i] = split(line)
		keys[i] = slices.Clone(parts[i])
		for k, p := range parts[i] {
			if strings.ContainsAny(p, digits) {
				keys[i][k] = ""
			}
		}
	}
	for range 2 {
		generalize(keys)
	}
	ids := map[string]int{}
	for i, key := range keys {
		name := strings.Join(key, "\x1f")
		id, ok := ids[name]
		if !ok {
			id = len(m.templates)
			ids[name], m.templates, m.places = id, append(m.templates, newLogTemplate(key)), append(m.places, nil)
		}
		m.order, m.places[id] = append(m.order, id), append(m.places[id], i)
		m.templates[id].learn(parts[i])
	}
	for _, t := range m.templates {
		t.finish()
	}
	return m
}

// generalize makes a word a value if lines differ in it only, and have at least three different ones.
func generalize(keys [][]string) {
	words := map[string]map[string]bool{}
	name := func(key []string, k int) string {
		return strings.Join(key[:k], "\x1f") + "\x1e" + strings.Join(key[k+1:], "\x1f")
	}
	isWord := func(p string) bool { return len(p) > 1 && p[0] > ' ' }
	for _, key := range keys {
		for k, p := range key {
			if n := name(key, k); isWord(p) {
				if words[n] == nil {
					words[n] = map[string]bool{}
				}
				words[n][p] = true
			}
		}
	}
	for _, key := range keys {
		for k, p := range key {
			if isWord(p) && len(words[name(key, k)]) >= 3 {
				key[k] = ""
				break
			}
		}
	}
}

// split cuts a line at spaces and brackets, which are parts of their own.
func split(line string) (parts []string) {
	for line != "" {
		n := strings.IndexAny(line, " ,=()[]{}\"'|<>;@\x00\x01\x02")
		switch n {
		case 0:
			n = 1
		case -1:
			n = len(line)
		}
		parts, line = append(parts, line[:n]), line[n:]
	}
	return parts
}

func newLogTemplate(key []string) *logTemplate {
	t := &logTemplate{constant: key, slots: make([]*slot, len(key))}
	for k, p := range key {
		if p == "" {
			t.slots[k] = &slot{same: -1}
		}
	}
	return t
}

func (t *logTemplate) learn(parts []string) {
	for k, s := range t.slots {
		if s != nil {
			s.values = append(s.values, parts[k])
		}
	}
}

// finish finds values that occur twice in each line, and sums up each slot.
func (t *logTemplate) finish() {
	for k, s := range t.slots {
		if s == nil {
			continue
		}
		for e, earlier := range t.slots[:k] {
			if earlier != nil && len(s.values) > 2 && slices.Equal(s.values, earlier.values) {
				s.same = e
				break
			}
		}
		s.finish()
	}
}

// line is the next line, until the next call.
func (m *logModel) line(g *gen) []byte {
	m.at = one(g, m.places[m.order[m.at]]) + 1
	if m.at == len(m.order) {
		m.at = 0
	}
	t, now := m.templates[m.order[m.at]], make([]string, 0, 64)
	m.buf = m.buf[:0]
	for k, s := range t.slots {
		v := t.constant[k]
		if s != nil && s.same >= 0 {
			v = now[s.same]
		} else if s != nil {
			v = s.next(g)
		}
		now, m.buf = append(now, v), append(m.buf, v...)
	}
	return m.buf
}

// slot is a place in a template for a value.
type slot struct {
	values  []string // of the real lines; later a sample of all values
	total   int      // values so far
	known   int      // different values so far
	fresh   float64  // tendency to new values, after Pitman and Yor
	repeats float64  // share of values that are that of the line before
	steps   []int    // of a counter
	last    string
	same    int // slot of this line with the same value, or -1
	chars   map[string][][]byte
}

// sampled is the number of values that a slot remembers.
const sampled = 20_000

// finish learns the distribution of the values.
func (s *slot) finish() {
	counts, same := map[string]int{}, 0
	s.chars = map[string][][]byte{}
	for i, v := range s.values {
		counts[v]++
		if i > 0 && v == s.values[i-1] {
			same++
		}
		shape := shapeOf(v)
		if s.chars[shape] == nil {
			s.chars[shape] = make([][]byte, len(v))
		}
		for k := range len(v) {
			if set := s.chars[shape]; bytes.IndexByte(set[k], v[k]) < 0 {
				set[k] = append(set[k], v[k])
			}
		}
	}
	once := 0
	for _, n := range counts {
		if n == 1 {
			once++
		}
	}
	s.total, s.known, s.last = len(s.values), len(counts), s.values[len(s.values)-1]
	s.fresh, s.repeats = float64(once)/float64(len(counts)), float64(same)/float64(len(s.values))
	s.findSteps()
}

// findSteps finds counters: nearly all values are a little above the one before.
func (s *slot) findSteps() {
	for i := 1; i < len(s.values); i++ {
		a, err1 := strconv.Atoi(s.values[i-1])
		b, err2 := strconv.Atoi(s.values[i])
		if d := b - a; err1 == nil && err2 == nil && d >= 0 && (d <= 16 || d*20 <= a) {
			s.steps = append(s.steps, d)
		}
	}
	if len(s.steps) < 5 || len(s.steps)*5 < len(s.values)*4 || slices.Max(s.steps) == 0 {
		s.steps = nil
	}
}

// next is another value: the one before, one of those so far, or a new one.
func (s *slot) next(g *gen) string {
	switch {
	case s.steps != nil:
		n, _ := strconv.Atoi(s.last)
		s.last = strconv.Itoa(n + one(g, s.steps))
		return s.last
	case g.Float64() < s.repeats:
		return s.last
	}
	s.last = one(g, s.values)
	if g.Float64()*float64(s.total) < s.fresh*float64(s.known) {
		s.last = s.invent(g, s.last)
		s.known++
	}
	s.total++
	if len(s.values) < sampled {
		s.values = append(s.values, s.last)
	} else {
		s.values[g.IntN(sampled)] = s.last
	}
	return s.last
}

// invent is a value of the same shape: digits vary where they varied in real values. A value without digits gets the end of
// another one.
func (s *slot) invent(g *gen, v string) string {
	shape := shapeOf(v)
	out, varies := []byte(v), false
	for k, set := range s.chars[shape] {
		alphabet := digits
		switch {
		case len(set) < 2 || shape[k] != 'd' && shape[k] != 'h':
			continue
		case shape[k] == 'h':
			alphabet = hexLower
		case k == 0 || shape[k-1] != 'd':
			alphabet = digits[1:] // no leading zeros
		}
		if varies = true; len(set) < 4 {
			alphabet = string(set)
		}
		out[k] = one(g, []byte(alphabet))
	}
	if varies {
		return string(out)
	}
	other := one(g, s.values)
	return v[:cut(v)] + other[cut(other):]
}

// cut is a place to cut a value without cutting a character.
func cut(v string) int {
	i := (len(v) + 1) / 2
	for i < len(v) && v[i]&0xC0 == 0x80 {
		i++
	}
	return cmp.Or(i, len(v))
}

// shapeOf is a value with d for every digit, and h for every digit and letter of a hexadecimal number.
func shapeOf(v string) string {
	out := []byte(v)
	for at := 0; at < len(v); {
		end, hasDigit := at, false
		for end < len(v) && strings.IndexByte(hexLower, v[end]) >= 0 {
			hasDigit = hasDigit || v[end] <= '9'
			end++
		}
		isHex := hasDigit && end-at >= 5 && strings.ContainsAny(v[at:end], "abcdef")
		for ; at < end; at++ {
			if isHex {
				out[at] = 'h'
			} else if v[at] <= '9' {
				out[at] = 'd'
			}
		}
		at = max(at, end) + 1
	}
	return string(out)
}
