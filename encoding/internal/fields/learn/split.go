package learn

import (
	"math/bits"
	"slices"

	"github.com/amudai/amudai-go/encoding/internal/fields"
	"github.com/amudai/amudai-go/internal/base/scratch"
)

// span is a field: bytes of a value.
type span struct{ from, to uint32 }

// Encoder splits values. Its memory is used again. The zero value is ready.
type Encoder struct {
	Codes    []uint32 // the pattern of each value
	Patterns []Pattern
	Columns  []EncodedColumn

	data     []byte
	t        *Patterns
	l        learner
	stream   []span // the fields of all values
	counts   []int  // by edge: values that go along it or end with it
	ends     []int  // values that end with it
	codeOf   []uint32
	columns  []int32 // by edge: its list of fields, -1 if it has none
	lists    [][]span
	first    []int32 // by path, in fieldsOf: its fields that belong in lists
	widths   []int32 // by path: its fields
	fieldsOf []fieldOf
	spans    []span // memory of lists
	a        analysis
	pieces   [][]piece // by list
	steps    []int32
	parsed   parsed
	text     []byte
	offsets  []int64
	places   []uint32
	narrow   []uint32
	fewest   int   // fields of a column of its own
	few      int32 // the list of fields of edges that have few, -1 for none
	left     int32 // the list of what few values leave over
}

// Pattern is constant bytes and the places of fields.
type Pattern struct {
	Text   []byte
	Places []fields.Place
}

// Encode splits the values data[offsets[i]:offsets[i+1]], fewer than 4 GiB in all, by patterns if these leave over about
// as little as when they were learnt, and else by others, which it returns. With all, patterns and columns are made of
// however few values there are.
func (e *Encoder) Encode(data []byte, offsets []int64, p *Patterns, all bool) *Patterns {
	n := len(offsets) - 1
	e.data = data[offsets[0]:offsets[n]]
	if e.fewest = fewFields; all {
		e.fewest = 0
	}
	if e.t = p; p == nil || !e.match(offsets) {
		e.sample(offsets, sampleValues)
		least := max(rareLeast, len(e.l.values)/rareShare)
		if all {
			least = 1
		}
		e.t = e.l.learn(e.grammar(), least)
		e.match(offsets)
	}
	e.distribute()
	e.analyse()
	e.describe()
	return e.t
}

// fewFields is how many fields are too few for a column of their own.
const fewFields = 24

// FewSamples is how many values tell whether splitting suits them. For most prose an eighth of these is enough.
const (
	FewSamples   = 1024
	firstSamples = 128
)

// mostLeft is the share of the bytes that patterns of a sample may leave over. Log lines leave less than a tenth, prose and source code a fifth to
// a half.
const mostLeft = 0.15

// Suits learns patterns of some values, from everywhere. They are nil unless nearly all bytes of values are probably in patterns and fields, and not
// left over.
func (e *Encoder) Suits(data []byte, offsets []int64) *Patterns {
	n := len(offsets) - 1
	if n == 0 {
		return nil
	}
	e.data = data[offsets[0]:offsets[n]]
	if e.sample(offsets, firstSamples); n > firstSamples && e.l.learn(e.grammar(), rareLeast).left > 2*mostLeft {
		return nil
	}
	e.sample(offsets, FewSamples)
	if p := e.l.learn(e.grammar(), rareLeast); p.left < mostLeft {
		return p
	}
	return nil
}

// leave is how many bytes of a value are left over.
func (t *Patterns) leave(v []byte) int {
	node := int32(0)
	for at := uint32(0); ; {
		b, _, end := t.step(node, v, at, uint32(len(v)), nil)
		if b == nil {
			return len(v) - int(at)
		}
		if b.kind == ending {
			return 0
		}
		node, at = b.to, end
	}
}

// sample takes values from all over the block.
func (e *Encoder) sample(offsets []int64, most int) {
	n := len(offsets) - 1
	some := min(n, most)
	e.l.values = e.l.values[:0]
	for i := range some {
		k := i * n / some
		e.l.values = append(e.l.values, e.data[offsets[k]-offsets[0]:offsets[k+1]-offsets[0]])
	}
}

// grammar is the one for the sample: phrases if values have several words.
func (e *Encoder) grammar() *grammar {
	many := 0
	for _, v := range e.l.values {
		if t, _ := phrases.next(v, 0); t.class != end {
			if t, _ = phrases.next(v, t.end); t.class != end {
				many++
			}
		}
	}
	if 4*many > len(e.l.values) {
		return phrases
	}
	return words
}

// match finds the path of every value. It stops, and ok is false, if too much is left over.
func (e *Encoder) match(offsets []int64) (ok bool) {
	e.Codes = scratch.Slice(&e.Codes, len(offsets)-1)
	e.stream = e.stream[:0]
	e.parsed.begin(e.t)
	at, left := uint32(0), 0
	most := int((e.t.left*5/4 + 0.01) * float64(len(e.data)))
	for i := range e.Codes {
		end := uint32(offsets[i+1] - offsets[0])
		n := e.path(at, end)
		if e.Codes[i] = uint32(n); int(n) >= len(e.t.edges) {
			s := e.stream[len(e.stream)-1]
			left += int(s.to - s.from)
		}
		at = end
	}
	return left <= most
}

// path appends the fields of the value from at to stop to the stream, and returns the last edge of its path, or of what is
// left over at a node.
func (e *Encoder) path(at, stop uint32) int32 {
	t := e.t
	node := int32(0)
	for {
		h := &t.nodes[node].hop
		word := at + uint32(len(h.text))
		if h.kind != noHop && h.begins(load(e.data, at), e.data, at, stop) {
			b := &t.branches[h.branch]
			switch h.kind {
			case hopConstants:
				if t.wordEnds(e.data, word, stop) {
					node, at = h.to, word
				}
			case hopEnding:
				if word == stop {
					return b.edge
				}
			case hopField:
				var s scan
				if end, ok := e.parsed.field(t, b, &s, e.data, word, stop); ok {
					e.stream = append(e.stream, span{word, end})
					node, at = h.to, end
					continue
				}
			}
		}
		b, word, end := t.step(node, e.data, at, stop, &e.parsed)
		if b == nil {
			e.stream = append(e.stream, span{at, stop})
			return int32(len(t.edges)) + node
		}
		switch b.kind {
		case ending:
			return b.edge
		case constant:
		default:
			e.stream = append(e.stream, span{word, end})
		}
		node, at = b.to, end
	}
}

// step is the branch for the token from a place on, of the value that ends at stop, nil if there is none, and where its word
// begins and ends. Fields that have the form of earlier ones are parsed, if p is not nil.
func (t *Patterns) step(at int32, data []byte, from, stop uint32, p *parsed) (b *branch, word, end uint32) {
	node, first := &t.nodes[at], bits.ReverseBytes64(load(data, from))
	list, key := t.branches[node.constants:node.others], first&node.common
	for i := lower(list, key, node.common); i < len(list) && list[i].first&node.common == key; i++ {
		b := &list[i]
		if end := from + b.size; t.begins(b, first, data, from, stop) && t.wordEnds(data, end, stop) {
			return b, end, end
		}
	}
	var s scan
	list = t.branches[node.others:node.end]
	for i := range list {
		b := &list[i]
		if !t.begins(b, first, data, from, stop) {
			continue
		}
		if word = from + b.size; b.kind == ending {
			if word == stop {
				return b, word, word
			}
		} else if end, ok := p.field(t, b, &s, data, word, stop); ok {
			return b, word, end
		}
	}
	return nil, 0, 0
}

// wordEnds tells whether no word goes on at a place of a value that ends at stop.
func (t *Patterns) wordEnds(data []byte, at, stop uint32) bool {
	return at == stop || t.grammar.bytes[data[at]] == delimiter
}

// begins tells whether the bytes from a place to stop begin with a branch's text. first is the first 8 of them.
func (t *Patterns) begins(b *branch, first uint64, data []byte, from, stop uint32) bool {
	if (first^b.first)&b.mask != 0 || b.size > stop-from {
		return false
	}
	return b.size <= 8 || string(data[from+8:from+b.size]) == string(t.edges[b.edge].text[8:])
}

// lower is the first of the constants, which are sorted, whose bytes under a mask are not below key.
func lower(list []branch, key, mask uint64) int {
	const few = 4
	at, n := 0, len(list)
	for n > few {
		half := n / 2
		if list[at+half-1].first&mask < key {
			at += half
		}
		n -= half
	}
	for at < len(list) && list[at].first&mask < key {
		at++
	}
	return at
}

// hasField tells whether values have a field at an edge.
func (k kind) hasField() bool { return k != constant && k != ending }

// paths is how many edges there are, and behind these, what is left over at each node.
func (e *Encoder) paths() int { return len(e.t.edges) + len(e.t.nodes) }

func (e *Encoder) parent(n int32) int32 {
	if k := int(n) - len(e.t.edges); k >= 0 {
		return e.t.into[k]
	}
	return e.t.edges[n].parent
}

func (e *Encoder) kind(n int32) kind {
	if int(n) >= len(e.t.edges) {
		return rest
	}
	return e.t.edges[n].kind
}

func (e *Encoder) key(n int32) uint64 {
	if int(n) >= len(e.t.edges) {
		return e.t.key(e.parent(n)) + 3
	}
	return e.t.key(n)
}

// distribute sorts the fields by columns, and numbers the patterns.
func (e *Encoder) distribute() {
	n := e.paths()
	scratch.Slice(&e.counts, n)
	clear(e.counts)
	for _, c := range e.Codes {
		e.counts[c]++
	}
	scratch.Slice(&e.codeOf, n)
	e.Patterns, e.steps = e.Patterns[:0], e.steps[:0]
	for i := range n {
		if e.counts[i] > 0 {
			e.codeOf[i] = uint32(len(e.Patterns))
			e.Patterns = append(e.Patterns, Pattern{})
		}
	}
	copy(scratch.Slice(&e.ends, n), e.counts)
	for i := n - 1; i >= 0; i-- { // edges come after their parents
		if p := e.parent(int32(i)); p >= 0 {
			e.counts[p] += e.counts[i]
		}
	}
	sizes := e.assign()
	total := 0
	for _, n := range sizes {
		total += n
	}
	spans := scratch.Slice(&e.spans, total)
	e.lists = e.lists[:0]
	for _, n := range sizes {
		e.lists = append(e.lists, spans[:0:n])
		spans = spans[n:]
	}
	e.fill(func(edge int32) bool { return !e.parsed.open[edge] || e.isShared(e.columns[edge]) })
}

// isShared tells whether a list has the fields of several edges.
func (e *Encoder) isShared(list int32) bool { return list == e.few || list == e.left }

// assign gives every edge with fields a list, some of which are shared, and returns their sizes.
func (e *Encoder) assign() (sizes []int) {
	few, left := int32(-1), int32(-1)
	list := func(shared *int32) int32 {
		if shared != nil && *shared >= 0 {
			return *shared
		}
		sizes = append(sizes, 0)
		n := int32(len(sizes) - 1)
		if shared != nil {
			*shared = n
		}
		return n
	}
	for i := range scratch.Slice(&e.columns, e.paths()) {
		k, n := e.kind(int32(i)), e.counts[i]
		e.columns[i] = -1
		switch {
		case !k.hasField() || n == 0:
			continue
		case k == rest && 16*n < len(e.Codes):
			e.columns[i] = list(&left)
		case k != rest && n < e.fewest:
			e.columns[i] = list(&few)
		default:
			e.columns[i] = list(nil)
		}
		sizes[e.columns[i]] += n
	}
	e.few, e.left = few, left
	return sizes
}

// fieldOf is a field of a path, counted from the last, that belongs in a list.
type fieldOf struct{ field, list int32 }

// fill puts the fields of some edges into their lists.
func (e *Encoder) fill(wanted func(edge int32) bool) {
	n := e.paths()
	first, widths := scratch.Slice(&e.first, n+1), scratch.Slice(&e.widths, n)
	all := e.fieldsOf[:0]
	for i := range n {
		first[i], widths[i] = int32(len(all)), 0
		if e.ends[i] == 0 {
			continue
		}
		for k := int32(i); k >= 0; k = e.parent(k) {
			if e.columns[k] < 0 {
				continue
			}
			if widths[i]++; wanted(k) {
				all = append(all, fieldOf{widths[i], e.columns[k]})
			}
		}
		slices.Reverse(all[first[i]:]) // a list takes its fields from the first on
	}
	first[n], e.fieldsOf = int32(len(all)), all
	stream := e.stream
	for _, c := range e.Codes {
		for _, p := range all[first[c]:first[c+1]] {
			e.lists[p.list] = append(e.lists[p.list], stream[widths[c]-p.field])
		}
		stream = stream[widths[c]:]
	}
}

// analyse finds the form of each list.
func (e *Encoder) analyse() {
	e.Columns = e.Columns[:0]
	e.pieces = scratch.Slice(&e.pieces, len(e.lists))
	e.a.data, e.a.memory = e.data, e.a.memory[:0]
	before := e.t
	for path, i := range e.columns {
		switch l := e.lists; {
		case i < 0:
		case e.isShared(i):
			e.pieces[i] = []piece{{column: true, spans: l[i]}}
		default:
			e.pieces[i] = e.split(before, path, i)
		}
	}
}

// split finds the form of the fields at a path: that of an earlier block, or if there is none or it does not suit them another, which is kept
// for the next block.
func (e *Encoder) split(before *Patterns, path int, list int32) []piece {
	f := before.form(path)
	switch {
	case f == nil:
	case f.elements == nil:
		if spans := e.lists[list]; e.a.isText(spans) {
			return e.a.text(spans)
		}
	case e.parsed.open[path]:
		if pieces, ok := e.a.fit(f, e.parsed.rows[path], e.counts[path]); ok {
			return pieces
		}
		e.fill(func(edge int32) bool { return edge == int32(path) })
	}
	spans := e.lists[list]
	pieces := e.a.split(spans)
	if e.t == before {
		t := *before
		t.forms = make([]*form, e.paths())
		copy(t.forms, before.forms)
		e.t = &t
	}
	e.t.forms[path] = newForm(pieces)
	return pieces
}

// describe makes the columns and the patterns.
func (e *Encoder) describe() {
	for i, c := range e.Codes {
		e.Codes[i] = e.codeOf[c]
	}
	keys := make([]uint64, len(e.lists))
	for i, c := range e.columns {
		if c >= 0 {
			keys[c] = e.key(int32(i))
		}
	}
	if e.few >= 0 {
		keys[e.few] = 1
	}
	if e.left >= 0 {
		keys[e.left] = 2
	}
	for i, pieces := range e.pieces {
		for k := range pieces {
			if p := &pieces[k]; p.column {
				p.number = uint32(len(e.Columns))
				e.addColumn(p, keys[i]+uint64(k))
			}
		}
	}
	next := 0
	for i := range e.paths() {
		if e.terminal(i) {
			e.makePattern(&e.Patterns[next], int32(i))
			next++
		}
	}
}

func (e *Encoder) terminal(i int) bool {
	k := e.kind(int32(i))
	return (k == rest || k == ending) && e.counts[i] > 0
}

// makePattern makes the pattern of the values that end with an edge.
func (e *Encoder) makePattern(p *Pattern, last int32) {
	e.steps = e.steps[:0]
	for k := last; k >= 0; k = e.parent(k) {
		e.steps = append(e.steps, k)
	}
	p.Text, p.Places = p.Text[:0], p.Places[:0]
	before := 0
	for i := len(e.steps) - 1; i >= 0; i-- {
		k := e.steps[i]
		if int(k) < len(e.t.edges) {
			p.Text = append(p.Text, e.t.edges[k].text...)
		}
		if e.columns[k] < 0 {
			continue
		}
		for _, piece := range e.pieces[e.columns[k]] {
			p.Text = append(p.Text, piece.text...)
			if piece.column {
				p.Places = append(p.Places, fields.Place{Column: piece.number, Before: uint32(len(p.Text) - before)})
				before = len(p.Text)
			}
		}
	}
}

func (e *Encoder) addColumn(p *piece, key uint64) {
	n := len(e.Columns)
	if n == cap(e.Columns) {
		e.Columns = append(e.Columns[:n], EncodedColumn{})
	}
	e.Columns = e.Columns[:n+1]
	c := &e.Columns[n] // with the memory of an earlier one
	c.Column, c.Key, c.Numbers, c.Most = p.form, key, p.numbers, 0
	if c.Text, c.Offsets = c.Text[:0], c.Offsets[:0]; p.form.Kind == fields.Text {
		c.addTexts(e.data, p.spans)
	}
	for _, n := range c.Numbers {
		c.Most = max(c.Most, n)
	}
}

// addTexts makes fields the texts of a column.
func (c *EncodedColumn) addTexts(data []byte, spans []span) {
	size := 0
	for _, s := range spans {
		size += int(s.to - s.from)
	}
	const short = 16 // most are, and are copied in one step
	text := scratch.Slice(&c.Text, size+short)
	offsets := scratch.Slice(&c.Offsets, len(spans)+1)
	at := 0
	for i, s := range spans {
		offsets[i] = int64(at)
		if n := int(s.to - s.from); n <= short && int(s.from)+short <= len(data) {
			copy(text[at:at+short], data[s.from:s.from+short])
			at += n
		} else {
			at += copy(text[at:], data[s.from:s.to])
		}
	}
	offsets[len(spans)] = int64(at)
	c.Text = text[:size]
}

// Layout is the constant bytes of all patterns back to back, where each begins, and their places: how many each pattern
// has; then for each its column, and the constant bytes before it.
func (e *Encoder) Layout() (text []byte, offsets []int64, places []uint32) {
	e.text, e.offsets, e.places = e.text[:0], append(e.offsets[:0], 0), e.places[:0]
	for _, p := range e.Patterns {
		e.text = append(e.text, p.Text...)
		e.offsets = append(e.offsets, int64(len(e.text)))
		e.places = append(e.places, uint32(len(p.Places)))
	}
	for _, p := range e.Patterns {
		for _, f := range p.Places {
			e.places = append(e.places, f.Column, f.Before)
		}
	}
	return e.text, e.offsets, e.places
}

// Narrow is the numbers of a column that are less than 2^32, until the next call.
func (e *Encoder) Narrow(c *EncodedColumn) []uint32 {
	out := scratch.Slice(&e.narrow, len(c.Numbers))
	for i, n := range c.Numbers {
		out[i] = uint32(n)
	}
	return out
}
