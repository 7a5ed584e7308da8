// Package projection reduces Arrow schemas and batches to the columns, and the parts of
// nested columns, that paths name. docs/filters.md has the rule for paths. Package arrowmap
// applies the same rule to stored schemas.
package projection

import (
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
)

// Projection is a schema reduced by a list of paths. It is immutable and safe for
// concurrent use.
type Projection struct {
	schema  *arrow.Schema
	columns []column
}

// column is a top-level column of the result.
type column struct {
	index int // in the full schema
	part  *Part
}

// New finds paths in a schema; nil stands for all columns. The result has the top-level
// columns in the order in which they are named first, each once, with the named parts. The
// error wraps [schema.ErrNoField] for a path that names nothing, and suggests a name.
func New(s *arrow.Schema, paths []string) (*Projection, error) {
	if paths == nil {
		p := &Projection{schema: s, columns: make([]column, s.NumFields())}
		for i := range p.columns {
			p.columns[i].index = i
		}
		return p, nil
	}
	p := &Projection{columns: []column{}}
	r := newResolver(s.Fields())
	place := map[int]int{} // of the top-level columns in p.columns
	for _, path := range paths {
		steps, err := r.find(path)
		if err != nil {
			return nil, err
		}
		k, ok := place[steps[0]]
		if !ok {
			k = len(p.columns)
			place[steps[0]] = k
			p.columns = append(p.columns, column{steps[0], &Part{}})
		}
		p.columns[k].part.add(steps[1:])
	}
	fields := make([]arrow.Field, len(p.columns))
	for k, c := range p.columns {
		fields[k] = s.Field(c.index)
		fields[k].Type = c.part.Type(fields[k].Type)
	}
	meta := s.Metadata()
	p.schema = arrow.NewSchema(fields, &meta)
	return p, nil
}

// Schema is the schema of the result.
func (p *Projection) Schema() *arrow.Schema { return p.schema }

// NumColumns is the number of columns of the result.
func (p *Projection) NumColumns() int { return len(p.columns) }

// Index is the position in the full schema of the column that column k of the result is
// made from.
func (p *Projection) Index(k int) int { return p.columns[k].index }

// Part is the part of the source column that column k of the result has.
func (p *Projection) Part(k int) *Part { return p.columns[k].part }

// Batch makes a batch of the result from the whole columns that it is made from, one for
// each column of the result. They stay the caller's; the caller releases the batch, which
// shares their memory.
func (p *Projection) Batch(columns []arrow.Array, rows int64) (arrow.RecordBatch, error) {
	parts := make([]arrow.Array, len(p.columns))
	defer func() { arrowutil.ReleaseAll(parts) }()
	for k, c := range p.columns {
		var err error
		if parts[k], err = c.part.Array(columns[k]); err != nil {
			return nil, err
		}
	}
	return array.NewRecordBatch(p.schema, parts, rows), nil
}

// Of makes a batch of the result from a batch of the full schema, which stays the caller's.
func (p *Projection) Of(full arrow.RecordBatch) (arrow.RecordBatch, error) {
	columns := make([]arrow.Array, len(p.columns))
	for k, c := range p.columns {
		columns[k] = full.Column(c.index)
	}
	return p.Batch(columns, full.NumRows())
}

// Part says which children of a nested type are wanted. Nil stands for all of it.
//
// Children are counted as the fields of a struct are; the items of a list are its child 0,
// the keys and values of a map its children 0 and 1. Extension types, dictionaries and run
// ends are no level of their own: their children are those of the type inside.
type Part struct {
	whole    bool
	children map[int]*Part
}

// Whole reports whether nothing is left out.
func (p *Part) Whole() bool { return p == nil || p.whole }

// add includes the node at the end of some steps down.
func (p *Part) add(steps []int) {
	switch {
	case p.whole:
	case len(steps) == 0:
		p.whole = true
	default:
		child := p.children[steps[0]]
		if child == nil {
			child = &Part{}
			if p.children == nil {
				p.children = map[int]*Part{}
			}
			p.children[steps[0]] = child
		}
		child.add(steps[1:])
	}
}

// Children are the positions of the wanted children of a struct with n fields, ascending.
func (p *Part) Children(n int) []int {
	at := make([]int, 0, n)
	for i := range n {
		if p.Whole() || p.children[i] != nil {
			at = append(at, i)
		}
	}
	return slices.Clip(at)
}

// Child is the wanted part of child i. It is nil, which means all, for a child of a map
// that no path names.
func (p *Part) Child(i int) *Part {
	if p.Whole() {
		return nil
	}
	return p.children[i]
}

// PartOf is the part that has the nodes at the end of some steps down. No steps lead to all of it.
func PartOf(nodes [][]int) *Part {
	p := &Part{}
	for _, steps := range nodes {
		p.add(steps)
	}
	return p
}
