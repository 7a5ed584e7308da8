package profile

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
	"github.com/amudai/amudai-go/internal/arrow/extension"
	"github.com/amudai/amudai-go/internal/text"
	"github.com/amudai/amudai-go/internal/text/textkind"
)

// texts collects texts and byte strings. Each different value is looked at once, as long as it stays in the table of counts.
type texts struct {
	binary  bool
	counts  *textCounts
	min     []byte
	max     []byte
	last    []byte
	n       int64
	order   order
	lengths lengths
	bytes   int64
	kinds   [textkind.Kinds]ofKind
	edges   int64
	edge    *Example
	shapes  []OfShape

	codes []int64 // for each entry of a dictionary how often it occurs
	first []int64 // and where
}

type ofKind struct {
	n     int64
	first *Example
}

// facts are what is known of a value that is in the table of counts.
type facts struct {
	length int64
	bytes  int64
	kind   textkind.Kind
	edges  bool
	shape  int16 // of a time: its place in the list of spellings; -1: none
}

const (
	maxShapes  = 64  // spellings of times
	maxExample = 200 // bytes of an example
)

func newTexts(binary bool, l limits) *texts {
	t := &texts{binary: binary}
	t.counts = &textCounts{limit: l.distinct, bytes: l.bytes, index: make([]uint32, 64), learn: t.learn, leave: t.leave}
	return t
}

// learn looks at a value that is new in the table of counts.
func (t *texts) learn(value []byte, row int64) facts {
	if t.min == nil || bytes.Compare(value, t.min) < 0 {
		t.min = append(make([]byte, 0, len(value)), value...)
	}
	if t.max == nil || bytes.Compare(value, t.max) > 0 {
		t.max = append(make([]byte, 0, len(value)), value...)
	}
	f := facts{bytes: int64(len(value)), length: int64(len(value)), shape: -1}
	if t.binary {
		return f
	}
	f.length = int64(utf8.RuneCount(value)) // each byte that is not UTF-8 is one
	f.kind = textkind.Of(value)
	first(&t.kinds[f.kind].first, value, row)
	if f.kind == textkind.Time {
		f.shape = t.shapeOf(value, row)
	}
	if f.edges = f.kind != textkind.Blank && hasEdges(value); f.edges {
		first(&t.edge, value, row)
	}
	return f
}

// first keeps the example of the first row. The values of a dictionary do not come in the order of rows.
func first(e **Example, value []byte, row int64) {
	if *e == nil || row < (*e).Row {
		*e = &Example{string(value[:min(len(value), maxExample)]), row}
	}
}

func (t *texts) shapeOf(value []byte, row int64) int16 {
	shape, ok := textkind.TimeShape(bytes.TrimSpace(value))
	if !ok {
		return -1
	}
	i := slices.IndexFunc(t.shapes, func(s OfShape) bool { return s.Shape == shape })
	if i < 0 && len(t.shapes) < maxShapes {
		i = len(t.shapes)
		t.shapes = append(t.shapes, OfShape{Shape: shape})
	}
	if i >= 0 {
		first(&t.shapes[i].First, value, row)
	}
	return int16(i)
}

// leave counts the occurrences of a value.
func (t *texts) leave(f *facts, n int64) {
	t.lengths.add(f.length, n)
	t.bytes += n * f.bytes
	t.kinds[f.kind].n += n
	if f.edges {
		t.edges += n
	}
	if f.shape >= 0 {
		t.shapes[f.shape].Count += n
	}
}

// add implements [collector].
func (t *texts) add(arr arrow.Array, row int64) error {
	value := arrowutil.BytesOf(arr)
	if value == nil {
		return fmt.Errorf("an array of %s instead of texts", arr.DataType())
	}
	for i := range arr.Len() {
		if arr.IsValid(i) {
			v := value(i)
			t.follow(v)
			t.counts.add(v, 1, rowAt(row, i))
		}
	}
	return nil
}

func rowAt(row int64, i int) int64 {
	if row < 0 {
		return -1
	}
	return row + int64(i)
}

// follow compares a value with the one before, as long as the column may have an order.
func (t *texts) follow(v []byte) {
	t.n++
	if t.order.up && t.order.down {
		return
	}
	if t.n > 1 {
		switch d := bytes.Compare(v, t.last); {
		case d > 0:
			t.order.up = true
		case d < 0:
			t.order.down = true
		default:
			t.order.same++
			return
		}
	}
	t.last = append(t.last[:0], v...)
}

// addCodes adds the values of a dictionary array. It returns the number of nulls.
func (t *texts) addCodes(a *array.Dictionary, row int64) (nulls int64) {
	dict := a.Dictionary()
	value := arrowutil.BytesOf(dict)
	few := dict.Len() > 4*a.Len() // of its values occur
	if !few {
		t.codes = slices.Grow(t.codes[:0], dict.Len())[:dict.Len()]
		t.first = slices.Grow(t.first[:0], dict.Len())[:dict.Len()]
		clear(t.codes)
	}
	before := -1
	for i := range a.Len() {
		code := -1
		if a.IsValid(i) {
			code = a.GetValueIndex(i)
		}
		switch {
		case code < 0 || code >= dict.Len() || dict.IsNull(code):
			nulls++
			continue
		case few:
			t.follow(value(code))
			t.counts.add(value(code), 1, rowAt(row, i))
			continue
		}
		if t.codes[code] == 0 {
			t.first[code] = rowAt(row, i)
		}
		t.codes[code]++
		if code != before {
			t.follow(value(code))
			before = code
		} else {
			t.n++
			t.order.same++
		}
	}
	for code, n := range t.codes {
		if n > 0 && !few {
			t.counts.add(value(code), n, t.first[code])
		}
	}
	return nulls
}

// finish implements [collector].
func (t *texts) finish(r *Column, dt arrow.DataType, o Options) {
	t.counts.tell()
	if r.Distinct != 0 {
		r.Distinct, r.DistinctExact = min(t.counts.distinct(), t.n), t.counts.exact()
	}
	r.Lengths = t.lengths.result()
	r.Bytes = t.bytes + 4*r.Count
	r.Order = t.order.result()
	if r.Order != NoOrder { // equal values follow each other
		r.Distinct, r.DistinctExact = t.n-t.order.same, true
	}
	if !t.binary {
		r.Texts = t.describe()
	}
	if t.n == 0 {
		return
	}
	show := showBytes(dt, t.binary)
	r.Min, r.Max = &Value{Text: show(t.min)}, &Value{Text: show(t.max)}
	top := t.counts.top(len(t.counts.list))
	r.Top = &Top{Error: t.counts.error, All: len(top) <= o.TopValues && t.counts.exact()}
	for _, v := range top[:min(len(top), o.TopValues)] {
		r.Top.Values = append(r.Top.Values, TopValue{Value{Text: show(t.counts.value(v))}, v.n})
	}
	if r.Texts == nil {
		return
	}
	r.Texts.MixedCase = mixedCase(t.counts, top)
	for i := range r.Texts.Kinds {
		k := &r.Texts.Kinds[i]
		for _, v := range top {
			if v.facts.kind == k.Kind && len(k.Top) < o.TopValues {
				k.Top = append(k.Top, TopValue{Value{Text: string(t.counts.value(v))}, v.n})
			}
		}
	}
}

// describe summarizes the facts of all values.
func (t *texts) describe() *Texts {
	out := &Texts{Empty: t.kinds[textkind.Empty].n, Blank: t.kinds[textkind.Blank].n, Edges: t.edges, EdgeExample: t.edge}
	for k, x := range t.kinds {
		if x.n > 0 {
			out.Kinds = append(out.Kinds, OfKind{Kind: textkind.Kind(k), Count: x.n, First: *x.first})
		}
	}
	slices.SortStableFunc(out.Kinds, func(a, b OfKind) int { return cmp.Compare(b.Count, a.Count) })
	out.Shapes = slices.Clone(t.shapes)
	slices.SortStableFunc(out.Shapes, func(a, b OfShape) int { return cmp.Compare(b.Count, a.Count) })
	return out
}

// mixedCase returns the most frequent two values that are the same but for case and blanks.
func mixedCase(c *textCounts, top []*textTop) []string {
	seen := map[string]int{}
	for i, v := range top {
		if v.facts.kind != textkind.Other && v.facts.kind != textkind.Bool || v.facts.bytes > textkind.Longest {
			continue
		}
		value := c.value(v)
		key := strings.Join(strings.Fields(strings.ToLower(string(value))), " ")
		if k, ok := seen[key]; ok {
			return []string{string(c.value(top[k])), string(value)}
		}
		seen[key] = i
	}
	return nil
}

// showBytes returns the text of values of a type.
func showBytes(dt arrow.DataType, binary bool) func([]byte) string {
	if !binary {
		return func(b []byte) string { return string(b) }
	}
	plain, name := extension.Unwrap(dt)
	return func(b []byte) string {
		if len(b) > maxKey-16 { // a key of a long value ends in a hash
			b = b[:maxKey-16]
		}
		if name == extension.NameUUID && len(b) == 16 {
			return string(text.AppendUUID(nil, b))
		}
		if plain.ID() == arrow.FIXED_SIZE_BINARY {
			return hex.EncodeToString(b)
		}
		return base64.StdEncoding.EncodeToString(b)
	}
}

// hasEdges reports whether a text begins or ends with a blank.
func hasEdges(b []byte) bool {
	if len(b) == 0 {
		return false
	}
	if c, d := b[0], b[len(b)-1]; c > ' ' && c < 0x80 && d > ' ' && d < 0x80 {
		return false
	}
	first, _ := utf8.DecodeRune(b)
	last, _ := utf8.DecodeLastRune(b)
	return unicode.IsSpace(first) || unicode.IsSpace(last)
}
