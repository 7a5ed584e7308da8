// Package merge makes one RNTuple of several: their fields are matched by name, and their pages copied as they are stored. Only pages of columns that are encoded or compressed in
// another way are packed anew.
package merge

import (
	"context"
	"slices"
	"strconv"

	"github.com/amudai/amudai-go/internal/base/advice"
	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/rntuple/internal/column"
	"github.com/amudai/amudai-go/rntuple/internal/compress"
	"github.com/amudai/amudai-go/rntuple/internal/envelope"
	"github.com/amudai/amudai-go/rntuple/internal/fields"
	"github.com/amudai/amudai-go/rntuple/internal/read"
)

// Merger makes an ntuple of others. All are added first, so that nothing is copied of those that do not fit; then they are copied in the same order. It belongs to one
// goroutine.
type Merger struct {
	// Copied and Encoded count pages: those that were copied, and those that were packed anew.
	Copied, Encoded int64

	s     *envelope.Schema
	top   map[string]uint32
	added int            // ntuples
	has   map[string]int // ntuples, by field at the top
	old   *read.Table    // that is continued, or nil
	copier
}

// New makes a merger. Pages are packed by the settings, or stay as they are if these are 0.
func New(s compress.Settings) *Merger {
	m := &Merger{s: &envelope.Schema{}, top: map[string]uint32{}, has: map[string]int{}}
	m.settings, m.encoders = s, map[compress.Settings]*compress.Encoder{}
	return m
}

// Continue has the result be an ntuple that stays where it is, with all that it has: others are added behind it. It comes before them.
func (m *Merger) Continue(ctx context.Context, t *read.Table) error {
	if err := t.Load(ctx); err != nil {
		return err
	}
	return t.Located(m.continued(t))
}

func (m *Merger) continued(t *read.Table) error {
	from := t.Schema()
	if f := t.Anchor().Format; f != envelope.V1 {
		return fault.Unsupportedf("nothing is appended to an ntuple of format %v", f)
	}
	for _, c := range from.Columns {
		if c.Representation > 0 {
			return fault.Unsupportedf("nothing is appended to an ntuple with several representations of a column, as those of field %q", from.Path(c.Field))
		}
	}
	s := *from
	s.Fields, s.Columns, s.Aliases, s.Extra = slices.Clone(s.Fields), slices.Clone(s.Columns), slices.Clone(s.Aliases), slices.Clone(s.Extra)
	m.s, m.old, m.added = &s, t, 1
	for _, id := range from.Top() {
		m.top[from.Fields[id].Name] = id
		m.has[from.Fields[id].Name]++
	}
	return m.s.Check()
}

// hint is the way out for ntuples that cannot be merged.
const hint = "amudai convert IN... OUT.root decodes values, and gives columns types that hold those of all inputs"

// Add matches the fields of an ntuple with those of the ones before, and adds those that are new.
func (m *Merger) Add(t *read.Table) error {
	return advice.WithHint(t.Located(m.add(t)), hint)
}

func (m *Merger) add(t *read.Table) error {
	from := t.Schema()
	if f := t.Anchor().Format; f != envelope.V1 {
		return fault.Unsupportedf("pages of format %v are not copied", f)
	}
	if skipped := t.Skipped(); len(skipped) > 0 {
		return fault.Unsupportedf("field %q cannot be read: %s", skipped[0].Name, skipped[0].Reason)
	}
	if m.added == 0 {
		m.s.Name, m.s.Description = from.Name, from.Description
	}
	if _, err := m.match(from); err != nil {
		return err
	}
	for _, e := range from.Extra {
		if !slices.Contains(m.s.Extra, e) {
			m.s.Extra = append(m.s.Extra, e)
		}
	}
	if m.added == 0 { // fields of its extension stay late ones
		m.s.Header.Fields, m.s.Header.Extra = from.Header.Fields, min(from.Header.Extra, len(m.s.Extra))
		m.s.Header.Columns = count(m.s.Columns, func(c envelope.Column) bool { return int(c.Field) < from.Header.Fields })
		m.s.Header.Aliases = count(m.s.Aliases, func(a envelope.Alias) bool { return int(a.Field) < from.Header.Fields })
	}
	m.added++
	for _, id := range from.Top() {
		m.has[from.Fields[id].Name]++
	}
	return m.s.Check()
}

func count[T any](all []T, is func(T) bool) (n int) {
	for _, v := range all {
		if is(v) {
			n++
		}
	}
	return n
}

// Missing are the fields at the top that some of the ntuples lack. Their entries have zeros there.
func (m *Merger) Missing() (names []string) {
	for _, id := range m.s.Top() {
		if name := m.s.Fields[id].Name; m.has[name] < m.added {
			names = append(names, name)
		}
	}
	return names
}

// mapping says what the fields of an ntuple are in the result.
type mapping struct {
	from    *envelope.Schema
	fields  map[uint32]uint32
	columns [][]uint32        // by column of the result: the columns of the ntuple, one of each representation; nil if it has none
	places  map[uint32]uint32 // columns of the first representation, in the result
}

// match maps the fields of an ntuple, and adds those that the result lacks. Fields are mapped before projections of them.
func (m *Merger) match(from *envelope.Schema) (*mapping, error) {
	x := &mapping{from, map[uint32]uint32{}, make([][]uint32, len(m.s.Columns)), map[uint32]uint32{}}
	missing := map[uint32]bool{}
	for _, projected := range []bool{false, true} {
		for _, id := range from.Top() {
			f := &from.Fields[id]
			if f.Projected() != projected {
				continue
			}
			if known, ok := m.top[f.Name]; !ok {
				missing[id] = true
			} else if err := m.pair(x, id, known); err != nil {
				return nil, err
			}
		}
	}
	if len(missing) > 0 {
		m.adopt(x, missing)
	}
	return x, nil
}

// adopt adds fields at the top to the result, and all below them, with the first representation of their columns.
func (m *Merger) adopt(x *mapping, top map[uint32]bool) {
	adopted := map[uint32]bool{}
	for id := range uint32(len(x.from.Fields)) {
		root := id
		for x.from.Fields[root].Parent != root {
			root = x.from.Fields[root].Parent
		}
		if top[root] {
			adopted[id] = true
			x.fields[id] = uint32(len(m.s.Fields))
			m.s.Fields = append(m.s.Fields, x.from.Fields[id])
		}
	}
	for id := range adopted {
		f := &m.s.Fields[x.fields[id]]
		if f.Parent = x.fields[f.Parent]; top[id] {
			m.top[f.Name] = x.fields[id]
		}
		f.Source = x.fields[f.Source]
	}
	for id, c := range x.from.Columns {
		if !adopted[c.Field] || c.Representation > 0 {
			continue
		}
		all := x.from.ColumnsOf(c.Field)
		each := count(all, func(id uint32) bool { return x.from.Columns[id].Representation == 0 })
		x.store(uint32(id), uint32(len(m.s.Columns)), every(all, slices.Index(all, uint32(id)), each))
		c.Field, c.FirstElement, c.Flags = x.fields[c.Field], 0, c.Flags&^envelope.ColumnDeferred
		m.s.Columns = append(m.s.Columns, c)
	}
	for _, a := range x.from.Aliases {
		if c, ok := x.places[a.Column]; ok && adopted[a.Field] {
			m.s.Aliases = append(m.s.Aliases, envelope.Alias{Column: c, Field: x.fields[a.Field]})
		}
	}
}

// every gives the columns of a field that have the same place in each representation, which have so many.
func every(all []uint32, place, each int) (out []uint32) {
	for i := place; i < len(all); i += each {
		out = append(out, all[i])
	}
	return out
}

func (x *mapping) store(first, place uint32, alternatives []uint32) {
	for len(x.columns) <= int(place) {
		x.columns = append(x.columns, nil)
	}
	x.columns[place], x.places[first] = alternatives, place
}

// pair maps a field, and all below it, to one of the result, if values are the same in both.
func (m *Merger) pair(x *mapping, id, known uint32) error {
	f, out := &x.from.Fields[id], &m.s.Fields[known]
	x.fields[id] = known
	differ := func(what string, here, there any) error {
		return fault.Unsupportedf("field %q: %s %v, in an ntuple before %v", x.from.Path(id), what, here, there)
	}
	const kind = envelope.FieldRepetitive | envelope.FieldProjected
	kids, knownKids := x.from.Children(id), m.s.Children(known)
	switch {
	case f.TypeName != out.TypeName:
		return differ("type", strconv.Quote(f.TypeName), strconv.Quote(out.TypeName))
	case f.Role != out.Role:
		return differ("role", f.Role, out.Role)
	case f.Flags&kind != out.Flags&kind:
		return differ("flags", f.Flags, out.Flags)
	case f.ArraySize != out.ArraySize:
		return differ("array size", f.ArraySize, out.ArraySize)
	case f.Projected() && x.fields[f.Source] != out.Source:
		return differ("a projection of", strconv.Quote(x.from.Path(f.Source)), strconv.Quote(m.s.Path(out.Source)))
	case fields.Annotations(f.Description) != fields.Annotations(out.Description):
		return differ("Arrow type", f.Description, out.Description)
	case len(kids) != len(knownKids):
		return differ("number of fields", len(kids), len(knownKids))
	}
	if err := m.pairColumns(x, id, known); err != nil {
		return err
	}
	for i, kid := range kids {
		if a, b := x.from.Fields[kid].Name, m.s.Fields[knownKids[i]].Name; a != b {
			return differ("field "+strconv.Itoa(i), a, b)
		}
		if err := m.pair(x, kid, knownKids[i]); err != nil {
			return err
		}
	}
	return nil
}

func (m *Merger) pairColumns(x *mapping, id, known uint32) error {
	all, out := x.from.ColumnsOf(id), m.s.ColumnsOf(known)
	each := count(all, func(id uint32) bool { return x.from.Columns[id].Representation == 0 })
	if each != len(out) {
		return fault.Unsupportedf("field %q: %d columns, in an ntuple before %d", x.from.Path(id), each, len(out))
	}
	for i, c := range out {
		x.store(all[i], c, every(all, i, each))
		for _, from := range x.columns[c] {
			if a, b := &x.from.Columns[from], &m.s.Columns[c]; !lossless(a, b) {
				return fault.Unsupportedf("field %q: stored as %v, in an ntuple before as %v, which may not hold all of its values", x.from.Path(id), a.Type, b.Type)
			}
		}
	}
	return nil
}

// alike tells whether pages of a column are those of another one, byte by byte.
func alike(a, b *envelope.Column) bool {
	const limits = envelope.ColumnRange
	return a.Type == b.Type && a.Bits == b.Bits && a.Flags&limits == b.Flags&limits && (a.Flags&limits == 0 || a.Min == b.Min && a.Max == b.Max)
}

// lossless tells whether values of a column stay what they are if they are written to another one. That of an integer is looked at when it is written.
func lossless(from, to *envelope.Column) bool {
	if alike(from, to) {
		return true
	}
	if from.Type == column.Switch || to.Type == column.Switch || from.Type.Real() != to.Type.Real() || from.Type.Index() != to.Type.Index() {
		return false
	}
	if !to.Type.Real() {
		return column.Readable(from.Type, kindOf(to)) && column.Writable(to.Type, kindOf(to))
	}
	same := from.Type.Native() == to.Type.Native() && from.Type != column.Real32Quant && to.Type != column.Real32Trunc && to.Type != column.Real32Quant
	return same || to.Type.Native() == column.KindFloat64 && to.Type != column.Real32Quant || to.Type.Native() == column.KindFloat32 && to.Type != column.Real32Trunc && from.Type.Native() == column.KindFloat16
}

// kindOf is how values of a column are held between two encodings.
func kindOf(c *envelope.Column) column.Kind {
	if c.Type.Index() {
		return column.KindOffset64
	}
	return c.Type.Native()
}
