package fields

import (
	"slices"

	"github.com/amudai/amudai-go/internal/base/scratch"
)

// span is a field: bytes of a value.
type span struct{ from, to uint32 }

// Encoder splits values. Its memory is used again. The zero value is ready.
type Encoder struct {
	Codes    []uint32 // the pattern of each value
	Patterns []Pattern
	Columns  []EncodedColumn

	data    []byte
	t       tree
	l       learner
	rests   []int32 // by node: the edge of what is left over there, -1 if there is none
	stream  []span  // the fields of all values
	counts  []int   // by edge: values that go along it or end with it
	codeOf  []uint32
	columns []int32 // by edge: its list of fields, -1 if it has none
	lists   [][]span
	spans   []span // memory of lists
	a       analysis
	pieces  [][]piece // by list
	steps   []int32
	text    []byte
	offsets []int64
	places  []uint32
	fewest  int   // fields of a column of its own
	few     int32 // the list of fields of edges that have few, -1 for none
	left    int32 // the list of what few values leave over
}

// Pattern is constant bytes and the places of fields.
type Pattern struct {
	Text   []byte
	Places []Place
}

// EncodedColumn is a column with its fields.
type EncodedColumn struct {
	Column
	Key     uint64 // the same for columns of different blocks that play the same part
	Numbers []uint64
	Most    uint64  // of the numbers
	Text    []byte  // of the kind Text: all fields back to back
	Offsets []int64 // and where each begins, and the last one ends
}

// fewFields is how many fields are too few for a column of their own.
const fewFields = 24

// fewSamples is how many values tell whether splitting suits them.
const fewSamples = 1024

// Encode splits the values data[offsets[i]:offsets[i+1]], fewer than 4 GiB in all. With all, patterns and columns are
// made of however few values there are.
func (e *Encoder) Encode(data []byte, offsets []int64, all bool) {
	n := len(offsets) - 1
	e.data = data[offsets[0]:offsets[n]]
	e.sample(offsets, sampleValues)
	least := max(rareLeast, len(e.l.values)/rareShare)
	if e.fewest = fewFields; all {
		e.fewest, least = 0, 1
	}
	e.l.learn(&e.t, e.grammar(), least)
	e.match(offsets)
	e.distribute()
	e.analyse()
	e.describe()
}

// Suits tells whether most of the bytes of values are probably in patterns and fields, and not left over.
func (e *Encoder) Suits(data []byte, offsets []int64) bool {
	n := len(offsets) - 1
	if n == 0 {
		return false
	}
	e.data = data[offsets[0]:offsets[n]]
	e.sample(offsets, fewSamples)
	e.l.learn(&e.t, e.grammar(), rareLeast)
	all, left := 0, 0
	for _, v := range e.l.values {
		all += len(v)
		left += e.t.left(v)
	}
	return 2*left < all
}

// left is the bytes of a value that are left over.
func (t *tree) left(v []byte) int {
	node := int32(0)
	for at := uint32(0); ; {
		k := t.grammar.next(v, at)
		n := t.step(node, v, &k)
		if n < 0 {
			return len(v) - int(k.start)
		}
		if t.edges[n].kind == ending {
			return 0
		}
		node, at = t.edges[n].to, k.end
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
		if t := phrases.next(v, 0); t.class != end && phrases.next(v, t.end).class != end {
			many++
		}
	}
	if 4*many > len(e.l.values) {
		return phrases
	}
	return words
}

// match finds the path of every value.
func (e *Encoder) match(offsets []int64) {
	n := len(offsets) - 1
	t := &e.t
	e.rests = scratch.Slice(&e.rests, t.nodes)
	for i := range e.rests {
		e.rests[i] = -1
	}
	e.Codes = scratch.Slice(&e.Codes, n)
	e.stream = e.stream[:0]
	at := uint32(0)
	for i := range e.Codes {
		end := uint32(offsets[i+1] - offsets[0])
		e.Codes[i] = e.path(e.data[at:end], at)
		at = end
	}
}

// path appends the fields of a value, which begins at base, to the stream, and returns the last edge of its path.
func (e *Encoder) path(v []byte, base uint32) uint32 {
	t := &e.t
	node, parent := int32(0), int32(-1)
	for at := uint32(0); ; {
		k := t.grammar.next(v, at)
		n := t.step(node, v, &k)
		if n < 0 {
			e.stream = append(e.stream, span{base + k.start, base + uint32(len(v))})
			if n = e.rests[node]; n < 0 {
				n = t.add(node, parent, rest, 0, nil)
				t.nodes-- // it leads nowhere
				e.rests[node] = n
			}
			return uint32(n)
		}
		switch t.edges[n].kind {
		case ending:
			return uint32(n)
		case constant:
		default:
			e.stream = append(e.stream, span{base + k.word, base + k.end})
		}
		node, parent, at = t.edges[n].to, n, k.end
	}
}

// step is the edge for a token, -1 if there is none.
func (t *tree) step(node int32, v []byte, k *token) int32 {
	delimiters := v[k.start:k.word]
	d, h := t.grammar.hashes(v, k)
	n := int32(-1)
	switch k.class {
	case end:
		return t.find(node, ending, h, delimiters)
	case letters:
		n = t.find(node, constant, h, v[k.start:k.end])
	default:
		n = t.find(node, ofShape, h, delimiters)
	}
	if n < 0 {
		n = t.find(node, ofWord, d, delimiters)
	}
	return n
}

// hasField tells whether values have a field at an edge.
func (k kind) hasField() bool { return k != constant && k != ending }

// distribute sorts the fields by columns, and numbers the patterns.
func (e *Encoder) distribute() {
	edges := e.t.edges
	scratch.Slice(&e.counts, len(edges))
	clear(e.counts)
	for _, c := range e.Codes {
		e.counts[c]++
	}
	scratch.Slice(&e.codeOf, len(edges))
	e.Patterns, e.steps = e.Patterns[:0], e.steps[:0]
	for i := range edges {
		if e.counts[i] > 0 {
			e.codeOf[i] = uint32(len(e.Patterns))
			e.Patterns = append(e.Patterns, Pattern{})
		}
	}
	ends := slices.Clone(e.counts)
	for i := len(edges) - 1; i >= 0; i-- { // edges come after their parents
		if p := edges[i].parent; p >= 0 {
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
	e.fill(ends)
}

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
	scratch.Slice(&e.columns, len(e.t.edges))
	for i := range e.t.edges {
		k, n := e.t.edges[i].kind, e.counts[i]
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

// fill puts the fields into their lists.
func (e *Encoder) fill(ends []int) {
	// The columns of each pattern, in the order of the fields.
	var all []int32
	first := make([]int32, len(e.t.edges)+1)
	for i := range e.t.edges {
		first[i] = int32(len(all))
		if ends[i] > 0 {
			from := len(all)
			for k := int32(i); k >= 0; k = e.t.edges[k].parent {
				if e.columns[k] >= 0 {
					all = append(all, e.columns[k])
				}
			}
			slices.Reverse(all[from:])
		}
	}
	first[len(e.t.edges)] = int32(len(all))
	stream := e.stream
	for i, c := range e.Codes {
		for k, list := range all[first[c]:first[c+1]] {
			e.lists[list] = append(e.lists[list], stream[k])
		}
		stream = stream[first[c+1]-first[c]:]
		e.Codes[i] = e.codeOf[c]
	}
}

// analyse finds the form of each list.
func (e *Encoder) analyse() {
	e.Columns = e.Columns[:0]
	e.pieces = e.pieces[:0]
	e.a.data, e.a.memory = e.data, e.a.memory[:0]
	for i, l := range e.lists {
		if int32(i) == e.few || int32(i) == e.left {
			e.pieces = append(e.pieces, []piece{{column: true, spans: l}})
			continue
		}
		e.pieces = append(e.pieces, e.a.split(l))
	}
}

// describe makes the columns and the patterns.
func (e *Encoder) describe() {
	keys := make([]uint64, len(e.lists))
	for i := range e.t.edges {
		if c := e.columns[i]; c >= 0 {
			keys[c] = e.t.edges[i].key
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
	for i := range e.t.edges {
		if e.terminal(i) {
			e.makePattern(&e.Patterns[next], int32(i))
			next++
		}
	}
}

func (e *Encoder) terminal(i int) bool {
	k := e.t.edges[i].kind
	return (k == rest || k == ending) && e.counts[i] > 0
}

// makePattern makes the pattern of the values that end with an edge.
func (e *Encoder) makePattern(p *Pattern, last int32) {
	e.steps = e.steps[:0]
	for k := last; k >= 0; k = e.t.edges[k].parent {
		e.steps = append(e.steps, k)
	}
	p.Text, p.Places = p.Text[:0], p.Places[:0]
	before := 0
	for i := len(e.steps) - 1; i >= 0; i-- {
		k := e.steps[i]
		p.Text = append(p.Text, e.t.edges[k].text...)
		if e.columns[k] < 0 {
			continue
		}
		for _, piece := range e.pieces[e.columns[k]] {
			p.Text = append(p.Text, piece.text...)
			if piece.column {
				p.Places = append(p.Places, Place{piece.number, uint32(len(p.Text) - before)})
				before = len(p.Text)
			}
		}
	}
}

func (e *Encoder) addColumn(p *piece, key uint64) {
	c := EncodedColumn{Column: p.form, Key: key, Numbers: p.numbers}
	if p.form.Kind == Text {
		c.Offsets = append(c.Offsets, 0)
		for _, s := range p.spans {
			c.Text = append(c.Text, e.data[s.from:s.to]...)
			c.Offsets = append(c.Offsets, int64(len(c.Text)))
		}
	}
	for _, n := range c.Numbers {
		c.Most = max(c.Most, n)
	}
	e.Columns = append(e.Columns, c)
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

// Narrow is the numbers of a column that are less than 2^32.
func (c *EncodedColumn) Narrow() []uint32 {
	out := make([]uint32, len(c.Numbers))
	for i, n := range c.Numbers {
		out[i] = uint32(n)
	}
	return out
}
