package tables

import (
	"context"
	"slices"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/amudai/amudai-go/internal/arrow/kinds"
	"github.com/amudai/amudai-go/internal/engine/compute"
	"github.com/amudai/amudai-go/internal/engine/predicate"
	"github.com/amudai/amudai-go/internal/engine/rowset"
	"github.com/amudai/amudai-go/internal/format/schema"
	"github.com/amudai/amudai-go/table/provider"
)

// source reads the parts of a union one after the other.
type source struct {
	u          *Union
	o          provider.ReadOptions
	schema     *arrow.Schema // of the union, in the form that is read
	projection *provider.Projection
	bound      *predicate.Bound // nil for all rows
	wanted     []wantedColumn
	messages   bool
	numbered   bool // positions are wanted: no rows are left out without being counted

	current  provider.Source // nil between parts
	rows     *partSource     // below the current one
	part     int             // the next one to open
	position int64           // of the current part's first row, or of the next one's
	left     int64           // rows up to the limit, -1 for no limit

	group     int
	begun     bool // the current part has given rows
	partGroup int  // of the last ones, in the part
}

// wantedColumn is a column of the union that is read.
type wantedColumn struct {
	at    int
	paths []string // as far as they go on below the column; empty for the whole column
}

func (u *Union) open(ctx context.Context, o provider.ReadOptions) (_ provider.Source, err error) {
	numbered := o.Choose != nil // by a search
	if o, err = o.Chosen(u.schema); err != nil {
		return nil, err
	}
	s := &source{numbered: numbered, u: u, schema: u.schema, o: o.WithDefaults(), group: -1, left: -1, messages: o.Notice != nil || o.Warning != nil}
	if o.Limit > 0 {
		s.left = o.Limit
	}
	if !o.Filter.IsZero() {
		if s.bound, err = compute.Condition(o.Filter.Node(), u.schema); err != nil {
			return nil, err
		}
	}
	if err := s.want(); err != nil {
		return nil, err
	}
	if err := s.encode(ctx); err != nil {
		return nil, err
	}
	s.projection, err = provider.Project(s.schema, o.Columns)
	return s, err
}

// want lists the columns to read: those of the result, in its order, then those of the filter.
func (s *source) want() error {
	var paths []string
	if s.o.Columns != nil {
		paths = slices.Clone(s.o.Columns)
	}
	if s.bound != nil && paths != nil {
		paths = append(paths, s.bound.Columns()...)
	}
	if paths == nil || slices.ContainsFunc(paths, func(p string) bool { return strings.Contains(p, "#") }) {
		for i := range s.u.columns { // the names of some columns depend on others
			s.wanted = append(s.wanted, wantedColumn{at: i})
		}
		return nil
	}
	for _, path := range paths {
		p, err := provider.Project(s.u.schema, []string{path})
		if err != nil {
			return err
		}
		at := p.Index(0)
		k := slices.IndexFunc(s.wanted, func(w wantedColumn) bool { return w.at == at })
		if k < 0 {
			k = len(s.wanted)
			s.wanted = append(s.wanted, wantedColumn{at: at})
		} else if len(s.wanted[k].paths) == 0 {
			continue
		}
		if p.Part(0).Whole() {
			s.wanted[k].paths = nil
		} else {
			s.wanted[k].paths = append(s.wanted[k].paths, path)
		}
	}
	return nil
}

func (s *source) Schema() *arrow.Schema { return s.projection.Schema() }

// Rows implements [provider.Source]. Which rows of a range are hidden is not known.
func (s *source) Rows() (n int64, known bool) {
	known = s.bound == nil
	hidden := int64(0)
	for _, l := range s.u.looks {
		n, hidden = n+l.rows-l.hidden, hidden+l.hidden
		known = known && (l.known || l.rows > 0) // perhaps an estimate
	}
	_, n = s.o.Within(n)
	return n, known && (hidden == 0 || s.o.Rows == nil)
}

// Positions implements [provider.Hiding].
func (s *source) Positions() (n int64) {
	for _, l := range s.u.looks {
		n += l.rows
	}
	_, n = s.o.Within(n)
	return n
}

func (s *source) Group() int { return s.group }

// Ranges implements [provider.Numbered].
func (s *source) Ranges() []provider.RowRange {
	n, ok := s.current.(provider.Numbered)
	if !ok {
		return nil
	}
	ranges := slices.Clone(n.Ranges())
	for i := range ranges {
		ranges[i].From += s.position
		ranges[i].To += s.position
	}
	return ranges
}

func (s *source) Next(ctx context.Context) (arrow.RecordBatch, error) {
	for s.left != 0 {
		if s.current == nil {
			if s.part == len(s.u.parts) || s.o.Rows != nil && s.position >= endOf(s.o.Rows) {
				break
			}
			if err := s.openPart(ctx, s.part); err != nil {
				return nil, err
			}
			s.part++
			continue
		}
		b, err := s.current.Next(ctx)
		if err != nil {
			return nil, err
		}
		if b == nil {
			if err := s.endPart(); err != nil {
				return nil, err
			}
			continue
		}
		group := -1
		if s.u.keepGroups != nil && s.u.keepGroups(s.u.looks[s.part-1].format) {
			group = s.rows.group()
		}
		if !s.begun || group != s.partGroup {
			s.group++
		}
		s.begun, s.partGroup = true, group
		if s.left >= 0 {
			if b.NumRows() > s.left {
				part := b.NewSlice(0, s.left)
				b.Release()
				b = part
			}
			s.left -= b.NumRows()
		}
		return b, nil
	}
	return nil, ctx.Err()
}

func (s *source) Close() error {
	if s.current == nil {
		return nil
	}
	return s.current.Close()
}

// endPart closes the part whose rows have been read.
func (s *source) endPart() error {
	if l := &s.u.looks[s.part-1]; l.known {
		s.position += l.rows
	} else {
		s.position += s.rows.read
	}
	src := s.current
	s.current = nil
	return src.Close()
}

// openPart opens a part of which rows are needed, as the current one, but not another one.
func (s *source) openPart(ctx context.Context, i int) (err error) {
	l := &s.u.looks[i]
	p := &partSource{name: s.u.parts[i].Name, mem: s.o.Allocator, hides: l.hidden > 0}
	ro := provider.ReadOptions{Allocator: s.o.Allocator, BatchRows: s.o.BatchRows, TempDir: s.o.TempDir, Dictionaries: s.o.Dictionaries, Decimals64: s.o.Decimals64, Lengths: s.o.Lengths, AnyOrder: s.o.AnyOrder, Reuse: s.o.Reuse}
	p.ranges = rowset.Shift(s.o.Rows, s.position)
	switch {
	case p.ranges == nil:
	case l.known:
		p.ranges = rowset.Clip(p.ranges, l.rows)
		if ro.Rows = p.ranges; len(p.ranges) == 0 {
			s.position += l.rows
			return nil
		}
	default: // its rows are counted as they are read
		p.counts = true
	}
	if s.bound != nil && !p.counts && (l.known || !s.numbered) && s.excludes(i) {
		s.position += l.rows
		return nil
	}
	if s.bound != nil && !p.counts && (l.known || !s.numbered) && s.canFilter(i) {
		ro.Filter, p.filtered = s.o.Filter, true
	}
	if !p.counts && s.bound == nil || !ro.Filter.IsZero() {
		ro.Limit = max(s.left, 0)
	}
	var fields []arrow.Field
	ro.Columns, fields, p.present = s.columnsOf(i)
	meta := s.u.schema.Metadata()
	p.schema = arrow.NewSchema(fields, &meta)
	ro.Schema = l.casts
	if s.messages {
		ro.Notice, ro.Warning = s.u.notice, s.u.warning
	}
	if p.Source, _, err = s.u.parts[i].Open(ctx, ro); err != nil {
		return err
	}
	chosen := provider.ReadOptions{Allocator: s.o.Allocator, Columns: s.o.Columns, Rows: p.ranges}
	if !p.filtered {
		chosen.Filter = s.o.Filter
	}
	s.rows, s.begun = p, false
	s.current, err = provider.Select(p, p.name, chosen)
	return err
}

// endOf is the end of the last of ascending ranges.
func endOf(rows []provider.RowRange) int64 {
	if len(rows) == 0 {
		return 0
	}
	return rows[len(rows)-1].To
}

// excludes reports whether no row of a part meets the filter, because the part lacks columns.
func (s *source) excludes(i int) bool {
	paths := s.bound.Columns()
	facts := make([]predicate.Facts, len(paths))
	for k := range facts {
		facts[k].NoValues = s.u.columns[s.bound.Column(k).Index[0]].In[i] < 0
	}
	return s.bound.Prune(facts) == predicate.None
}

// canFilter reports whether a part can evaluate the filter: it knows the columns by the same names, and their types make
// no difference.
func (s *source) canFilter(i int) bool {
	l := &s.u.looks[i]
	for k := range s.bound.Columns() {
		c := s.u.columns[s.bound.Column(k).Index[0]]
		if c.In[i] < 0 || l.schema.Field(c.In[i]).Name != c.Field.Name || !sameMeaning(l.schema.Field(c.In[i]).Type, c.Field.Type) {
			return false
		}
		if len(l.schema.FieldIndices(c.Field.Name)) > 1 || len(s.u.schema.FieldIndices(c.Field.Name)) > 1 {
			return false
		}
	}
	_, err := compute.Condition(s.o.Filter.Node(), l.schema)
	return err == nil
}

// sameMeaning reports whether conditions mean the same for two types.
func sameMeaning(a, b arrow.DataType) bool {
	return arrow.TypeEqual(a, b) || kinds.IsText(kinds.Decoded(a)) && kinds.IsText(kinds.Decoded(b))
}

// columnsOf are the paths that select the wanted columns of a part, and the type that each is cast to. nil stands for a
// column that the part lacks. Parts of nested columns are selected only if the part has the types of the union.
func (s *source) columnsOf(i int) (paths []string, fields []arrow.Field, present []bool) {
	l := &s.u.looks[i]
	nested := true
	for _, w := range s.wanted {
		c := s.u.columns[w.at]
		nested = nested && (len(w.paths) == 0 || c.In[i] >= 0 && arrow.TypeEqual(l.schema.Field(c.In[i]).Type, c.Field.Type))
	}
	paths = []string{}
	for _, w := range s.wanted {
		c := s.u.columns[w.at]
		f := s.schema.Field(w.at)
		if nested && len(w.paths) > 0 {
			if p, err := provider.Project(s.schema, w.paths); err == nil {
				f = p.Schema().Field(0)
			}
		}
		fields = append(fields, f)
		present = append(present, c.In[i] >= 0)
		if c.In[i] < 0 {
			continue
		}
		name := schema.Escape(l.names[c.In[i]])
		if !nested || len(w.paths) == 0 {
			paths = append(paths, name)
			continue
		}
		for _, path := range w.paths {
			below := name
			for _, step := range schema.SplitPath(path)[1:] {
				below = schema.JoinPath(below, step)
			}
			paths = append(paths, below)
		}
	}
	return paths, fields, present
}
