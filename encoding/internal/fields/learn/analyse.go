package learn

import (
	"slices"

	"github.com/amudai/amudai-go/encoding/internal/fields"
)

// piece is a part of a field: constant bytes, and a column behind them if there is one.
type piece struct {
	text    []byte
	column  bool
	number  uint32 // of the column
	form    fields.Column
	numbers []uint64
	spans   []span // of the kind Text
}

// analysis finds the forms of fields.
type analysis struct {
	data   []byte
	memory []uint64
	runs   [][]span
}

func (a *analysis) at(s span) []byte { return a.data[s.from:s.to] }

// numbers is memory for n numbers.
func (a *analysis) numbers(n int) []uint64 {
	if cap(a.memory)-len(a.memory) < n {
		a.memory = make([]uint64, 0, max(n, 2*cap(a.memory), 1<<16))
	}
	out := a.memory[len(a.memory) : len(a.memory)+n : len(a.memory)+n]
	a.memory = a.memory[:len(a.memory)+n]
	return out
}

// release takes back all numbers but the first ones, of which there were so many before.
func (a *analysis) release(before int) { a.memory = a.memory[:min(before, len(a.memory))] }

const maxRuns = 16

// split finds the form of fields: numbers, if all of them have the same delimiters and numbers between these.
func (a *analysis) split(spans []span) []piece {
	if pieces := a.signed(spans); pieces != nil {
		return pieces
	}
	if pieces, ok := a.plain(nil, spans); ok {
		return pieces
	}
	k := a.cut(spans)
	if k == 0 {
		return a.text(spans)
	}
	var out []piece
	texts, columns := 0, 0
	at := spans[0].from
	for i := range k {
		run := a.runs[i]
		separator := a.data[at:run[0].from]
		at = run[0].to
		from := len(out)
		out = a.run(out, run)
		out[from].text = append(append([]byte(nil), separator...), out[from].text...)
		for _, p := range out[from:] {
			if p.column {
				columns++
				if p.form.Kind == fields.Text {
					texts++
				}
			}
		}
	}
	if at < spans[0].to {
		out = append(out, piece{text: a.data[at:spans[0].to]})
	}
	if texts > 1 || texts == 1 && columns == 1 {
		return a.text(spans)
	}
	out = a.join(out)
	columns = 0
	for _, p := range out {
		if p.column {
			columns++
		}
	}
	if columns > 1 && a.few(spans) {
		return a.text(spans)
	}
	return out
}

// text is fields as byte strings, without what all begin and end with, as far as it ends or begins with a delimiter.
func (a *analysis) text(spans []span) []piece {
	first := a.at(spans[0])
	head, tail, shortest := a.common(spans)
	if head == len(first) && shortest == len(first) && !slices.ContainsFunc(spans, func(s span) bool { return int(s.to-s.from) != head }) {
		return []piece{{text: first}}
	}
	for head > 0 && alnum(first[head-1]) {
		head--
	}
	for tail > 0 && alnum(first[len(first)-tail]) {
		tail--
	}
	tail = min(tail, shortest-head)
	if head == 0 && tail == 0 {
		return []piece{{column: true, spans: spans}}
	}
	inner := make([]span, len(spans))
	for i, s := range spans {
		inner[i] = span{s.from + uint32(head), s.to - uint32(tail)}
	}
	out := []piece{{text: first[:head], column: true, spans: inner}}
	if tail > 0 {
		out = append(out, piece{text: first[len(first)-tail:]})
	}
	return out
}

// common is how many bytes all fields begin with and end with, and the size of the shortest, if they have such bytes.
func (a *analysis) common(spans []span) (head, tail, shortest int) {
	first := a.at(spans[0])
	head, tail, shortest = len(first), len(first), len(first)
	for _, s := range spans {
		v := a.at(s)
		head, tail, shortest = min(head, len(v)), min(tail, len(v)), min(shortest, len(v))
		for i := range head {
			if v[i] != first[i] {
				head = i
				break
			}
		}
		for i := range tail {
			if v[len(v)-1-i] != first[len(first)-1-i] {
				tail = i
				break
			}
		}
		if head == 0 && tail == 0 {
			break
		}
	}
	return head, tail, shortest
}

// few tells whether fields have so few distinct values that these are better as texts.
func (a *analysis) few(spans []span) bool {
	return fewDistinct(len(spans), func(i int) uint64 { return hash(0, a.at(spans[i])) })
}

// fewDistinct tells whether a third of some of n values are distinct at most.
func fewDistinct(n int, hash func(i int) uint64) bool {
	some := min(n, 1024)
	seen := map[uint64]bool{}
	for i := range some {
		seen[hash(i*n/some)] = true
	}
	return 3*len(seen) < some
}

// cut cuts fields into runs of letters and digits, and returns how many there are, 0 if fields differ.
func (a *analysis) cut(spans []span) int {
	first := a.at(spans[0])
	k := 0
	for i := 0; i < len(first); {
		if !alnum(first[i]) {
			i++
			continue
		}
		for i < len(first) && alnum(first[i]) {
			i++
		}
		k++
	}
	if k == 0 || k > maxRuns {
		return 0
	}
	for len(a.runs) < k {
		a.runs = append(a.runs, nil)
	}
	for i := range k {
		a.runs[i] = slices.Grow(a.runs[i][:0], len(spans))
	}
	l := layoutOf(first)
	for _, s := range spans {
		if l.has(a.data, s) {
			for i, r := range l.runs[:k] {
				a.runs[i] = append(a.runs[i], span{s.from + r.from, s.from + r.to})
			}
		} else if !a.cutOne(s, first, k) {
			return 0
		}
	}
	return k
}

// layout is where a field has its delimiters, if it is not longer than maxLayout.
type layout struct {
	size  int // 0 if the field is longer
	bytes [maxLayout / 8]uint64
	alnum [maxLayout / 8]uint64 // all bits of the bytes that are in runs
	runs  [maxRuns]span
}

const maxLayout = 64

// layoutOf is the layout of a field of at most maxRuns runs.
func layoutOf(v []byte) *layout {
	l := &layout{}
	if len(v) > maxLayout {
		return l
	}
	l.size = len(v)
	k := 0
	for i, b := range v {
		l.bytes[i/8] |= uint64(b) << (i % 8 * 8)
		if !alnum(b) {
			continue
		}
		l.alnum[i/8] |= 0xff << (i % 8 * 8)
		if i == 0 || !alnum(v[i-1]) {
			l.runs[k].from = uint32(i)
			k++
		}
		l.runs[k-1].to = uint32(i + 1)
	}
	return l
}

// has tells whether a field has that layout, and the same delimiters.
func (l *layout) has(data []byte, s span) bool {
	if l.size == 0 || int(s.to-s.from) != l.size {
		return false
	}
	for i := 0; i < l.size; i += 8 {
		w, in := load(data, s.from+uint32(i)), l.alnum[i/8]
		mask := firstBytes(min(l.size-i, 8))
		if (w^l.bytes[i/8])&mask&^in|(alnums(w)^in)&mask&highBits != 0 {
			return false
		}
	}
	return true
}

// cutOne appends the runs of a field to the lists; false if its delimiters are not those of the first one.
func (a *analysis) cutOne(s span, first []byte, k int) bool {
	v := a.at(s)
	i, j, run := 0, 0, 0
	for i < len(v) || j < len(first) {
		for j < len(first) && !alnum(first[j]) {
			if i == len(v) || v[i] != first[j] {
				return false
			}
			i, j = i+1, j+1
		}
		if i == len(v) || j == len(first) {
			return i == len(v) && j == len(first)
		}
		from := i
		for i < len(v) && alnum(v[i]) {
			i++
		}
		for j < len(first) && alnum(first[j]) {
			j++
		}
		if i == from {
			return false
		}
		a.runs[run] = append(a.runs[run], span{s.from + uint32(from), s.from + uint32(i)})
		run++
	}
	return run == k
}

// plain appends the form of fields that are digits; ok is false if they are not, or all the same.
func (a *analysis) plain(out []piece, run []span) (_ []piece, ok bool) {
	if _, ok := decimal(a.data, run[0]); !ok {
		return out, false
	}
	before := len(a.memory)
	values := a.numbers(len(run))
	width, zero, differ := int(run[0].to-run[0].from), false, uint64(0)
	for i, s := range run {
		x, ok := decimal(a.data, s)
		n := int(s.to - s.from)
		if !ok || n > fields.MaxDigits {
			a.release(before)
			return out, false
		}
		if n != width {
			width = 0
		}
		zero = zero || n > 1 && a.data[s.from] == '0'
		values[i] = x
		differ |= x ^ values[0]
	}
	if differ == 0 || width == 0 && zero {
		a.release(before)
		return out, false
	}
	p := piece{column: true, numbers: values, form: fields.Column{Kind: fields.Decimal}}
	if width > 0 {
		p.form = fields.Column{Kind: fields.Digits, Groups: []fields.Group{{Width: width}}}
	}
	return append(out, p), true
}

// run appends the form of runs of letters and digits.
func (a *analysis) run(out []piece, run []span) []piece {
	if out, ok := a.plain(out, run); ok {
		return out
	}
	first := a.at(run[0])
	head, tail := 0, len(first)
	for head < len(first) && first[head]-'0' >= 10 {
		head++
	}
	for tail > head && first[tail-1]-'0' >= 10 {
		tail--
	}
	prefix, suffix := first[:head], first[tail:]
	same, numbers, width := true, true, len(first)
	for _, s := range run {
		v := a.at(s)
		same = same && string(v) == string(first)
		if len(v) != width {
			width = -1
		}
		numbers = numbers && len(v) > len(prefix)+len(suffix) && string(v[:len(prefix)]) == string(prefix) &&
			string(v[len(v)-len(suffix):]) == string(suffix) && allDigits(v[len(prefix):len(v)-len(suffix)])
		if !same && !numbers && width < 0 {
			return append(out, whole(run))
		}
	}
	if same {
		return append(out, piece{text: first})
	}
	if numbers {
		return a.digits(out, run, prefix, suffix, width)
	}
	if width > 0 && width <= 4*fields.MaxHex {
		return a.hex(out, run, width)
	}
	return append(out, whole(run))
}

// whole is fields as byte strings.
func whole(fields []span) piece { return piece{column: true, spans: slices.Clone(fields)} }

func allDigits(v []byte) bool {
	for _, b := range v {
		if b-'0' >= 10 {
			return false
		}
	}
	return true
}

// digits appends the form of numbers between a prefix and a suffix.
func (a *analysis) digits(out []piece, run []span, prefix, suffix []byte, width int) []piece {
	if width > 0 {
		width -= len(prefix) + len(suffix)
	}
	if width > fields.MaxDigits {
		return append(out, whole(run))
	}
	values := a.numbers(len(run))
	for i, s := range run {
		v := a.at(s)[len(prefix):]
		v = v[:len(v)-len(suffix)]
		if width < 0 && (v[0] == '0' && len(v) > 1 || len(v) > fields.MaxDigits) {
			return append(out, whole(run))
		}
		values[i], _ = decimal(a.data, span{s.from + uint32(len(prefix)), s.to - uint32(len(suffix))})
	}
	p := piece{text: prefix, column: true, numbers: values, form: fields.Column{Kind: fields.Decimal}}
	if width > 0 {
		p.form = fields.Column{Kind: fields.Digits, Groups: []fields.Group{{Width: width}}}
	}
	out = append(out, p)
	if len(suffix) > 0 {
		out = append(out, piece{text: suffix})
	}
	return out
}

// hex appends the form of runs of one width, as up to 16 hexadecimal digits each.
func (a *analysis) hex(out []piece, run []span, width int) []piece {
	lower, upper := uint64(0), uint64(0)
	for _, s := range run {
		for at := s.from; at < s.to; at += 8 {
			w, mask := load(a.data, at), firstBytes(int(min(s.to-at, 8)))&highBits
			low, up := between(w, 'a', 'f'), between(w, 'A', 'F')
			if (between(w, '0', '9')|low|up)&mask != mask {
				return append(out, whole(run))
			}
			lower |= low & mask
			upper |= up & mask
		}
	}
	kind := fields.HexLower
	if upper != 0 {
		kind = fields.HexUpper
	}
	if lower != 0 && upper != 0 {
		return append(out, whole(run))
	}
	for from := 0; from < width; from += fields.MaxHex {
		to := min(from+fields.MaxHex, width)
		values := a.numbers(len(run))
		for i, s := range run {
			x := uint64(0)
			for at := from; at < to; at += 8 {
				n := min(to-at, 8)
				x = x<<(4*n) | hexOf(load(a.data, s.from+uint32(at)), n)
			}
			values[i] = x
		}
		out = append(out, piece{column: true, numbers: values, form: fields.Column{Kind: kind, Width: to - from}})
	}
	return out
}

// signed is the form of integers behind a common beginning, some of them negative; nil if fields are none.
func (a *analysis) signed(spans []span) []piece {
	first := a.at(spans[0])
	head := len(first)
	for head > 0 && (first[head-1]-'0' < 10) {
		head--
	}
	if head > 0 && first[head-1] == '-' {
		head--
	}
	if !slices.ContainsFunc(spans, func(s span) bool { return int(s.to-s.from) > head && a.data[int(s.from)+head] == '-' }) {
		return nil
	}
	before := len(a.memory)
	values := a.numbers(len(spans))
	for i, s := range spans {
		v := a.at(s)
		ok := len(v) > head && string(v[:head]) == string(first[:head])
		if ok {
			values[i], ok = signed(a.data, span{s.from + uint32(head), s.to})
		}
		if !ok {
			a.release(before)
			return nil
		}
	}
	return []piece{{text: first[:head], column: true, numbers: values, form: fields.Column{Kind: fields.Signed}}}
}

// signed parses an integer as two's complement. ok is false for -0, for leading zeros, and if it does not fit.
func signed(data []byte, s span) (x uint64, ok bool) {
	negative := data[s.from] == '-'
	if negative {
		s.from++
	}
	x, ok = decimal(data, s)
	n := s.to - s.from
	if !ok || n > fields.MaxDigits || x >= 1<<63 || data[s.from] == '0' && (n > 1 || negative) {
		return 0, false
	}
	if negative {
		x = -x
	}
	return x, true
}

// join makes one column of neighbours that are digits of one width each.
func (a *analysis) join(pieces []piece) []piece {
	out := pieces[:0]
	var before []byte // constants without a column
	for _, p := range pieces {
		p.text, before = append(before, p.text...), nil
		if !p.column {
			before = p.text
			continue
		}
		if len(out) > 0 && a.joined(&out[len(out)-1], &p) {
			continue
		}
		out = append(out, p)
	}
	if len(before) > 0 {
		out = append(out, piece{text: before})
	}
	return out
}

// joined adds a piece with one group of digits to the one before it if that is possible.
func (a *analysis) joined(to, p *piece) bool {
	c := &to.form
	if !to.column || !p.column || c.Kind != fields.Digits || p.form.Kind != fields.Digits || len(p.text) > fields.MaxSeparator || len(c.Groups) == fields.MaxGroups {
		return false
	}
	width := p.form.Groups[0].Width
	if width > fields.MaxGroup || c.TextWidth()+len(p.text)+width > fields.MaxWidth {
		return false
	}
	g := fields.Group{Separator: p.text, Width: width}
	if !addGroup(&g, to.numbers, p.numbers, 1) {
		return false
	}
	c.Groups = append(c.Groups, g)
	return true
}
