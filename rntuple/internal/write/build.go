package write

import (
	"github.com/apache/arrow-go/v18/arrow"

	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/rntuple/internal/envelope"
	"github.com/amudai/amudai-go/rntuple/internal/fields"
)

// built is what fields at the top became.
type built struct {
	fields  []*field
	cols    []*col
	shadows []shadow
}

// build adds fields at the top to a schema that has so many columns. Those that cannot be projections are stored.
func build(s *envelope.Schema, old []*col, top []arrow.Field, o *Options) (*built, error) {
	stored := map[string]bool{} // projections that are none
	before := *s
	for {
		*s = before
		b := &builder{o: o, s: s, cols: old, ids: map[string]uint32{}}
		out, failed, err := b.all(top, stored)
		if err != nil || !failed {
			return out, err
		}
	}
}

func (b *builder) all(top []arrow.Field, stored map[string]bool) (out *built, failed bool, err error) {
	out = &built{}
	names := map[string]bool{}
	for _, id := range b.s.Top() {
		names[b.s.Fields[id].Name] = true
	}
	for _, f := range top {
		if names[f.Name] {
			return nil, false, fault.Unsupportedf("two fields of the name %q", f.Name)
		}
		names[f.Name] = true
		if b.projected = nil; metadata(f, fields.KeyProjected) != "" && !stored[f.Name] {
			b.projected = &projected{name: f.Name, first: uint32(len(b.s.Fields)), paths: map[uint32]string{}}
		}
		made := b.field(f, place{parent: -1, name: f.Name, path: f.Name, repeat: 1})
		if b.err != nil {
			return nil, false, b.err
		}
		if p := b.projected; p != nil {
			p.end = uint32(len(b.s.Fields))
			b.projections = append(b.projections, p)
		}
		out.fields = append(out.fields, made)
	}
	for _, p := range b.projections {
		for id := p.first; id < p.end; id++ {
			b.s.Fields[id].Flags |= envelope.FieldProjected
		}
	}
	ids := b.sourceIDs()
	for _, p := range b.projections {
		if b.resolve(p, ids) != nil {
			stored[p.name], failed = true, true
		}
	}
	if failed {
		return nil, true, nil
	}
	for _, p := range b.projections {
		b.link(p)
		out.shadows = append(out.shadows, p.shadows...)
	}
	for _, p := range b.o.Projections {
		if names[p.Name] {
			return nil, false, fault.Unsupportedf("two fields of the name %q", p.Name)
		}
		names[p.Name] = true
		if err := b.project(p); err != nil {
			return nil, false, err
		}
	}
	out.cols = b.cols
	return out, false, b.s.Check()
}
