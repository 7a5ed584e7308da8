// Package columns changes the columns and the properties of a shard: which columns there are, their names, types and order, and new ones that are
// computed of others or come from elsewhere. Changes make another [root.Root] of the one that there is; only values of new columns are encoded.
package columns

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/apache/arrow-go/v18/arrow"

	commonpb "github.com/amudai/amudai-go/gen/amudai/common"
	"github.com/amudai/amudai-go/internal/engine/ast"
	"github.com/amudai/amudai-go/internal/format/arrowmap"
	"github.com/amudai/amudai-go/internal/format/schema"
	"github.com/amudai/amudai-go/shard/internal/root"
	"github.com/amudai/amudai-go/shard/internal/shardfile"
	"github.com/amudai/amudai-go/table/provider"
)

// Change is a change of a shard.
type Change struct {
	did   string // for the history of the shard
	once  bool   // it cannot be planned again, because the rows that it reads go with those of the shard
	apply func(context.Context, *Plan) error
}

// Once reports whether one of some changes cannot be planned again.
func Once(changes []Change) bool {
	return slices.ContainsFunc(changes, func(c Change) bool { return c.once })
}

// Drop leaves columns out.
func Drop(paths ...string) Change {
	return Change{did: "drop " + strings.Join(paths, ", "), apply: func(ctx context.Context, p *Plan) error {
		for _, path := range paths {
			at, err := p.edit(ctx, path)
			if err != nil {
				return err
			}
			if visible(*at.siblings) == 1 && !hidden(at.column()) {
				return fmt.Errorf("column %s is the only one of its kind: a struct, and a shard, need one", path)
			}
			*at.siblings = slices.Delete(*at.siblings, at.i, at.i+1)
		}
		return nil
	}}
}

// Rename gives a column another name, which is no path.
func Rename(path, name string) Change {
	return Change{did: "rename " + path + " to " + name, apply: func(ctx context.Context, p *Plan) error {
		at, err := p.edit(ctx, path)
		if err != nil {
			return err
		}
		if err := at.free(name, at.i); err != nil {
			return err
		}
		c := at.column()
		c.Field = arrowmap.Named(c.Field, name, name)
		return nil
	}}
}

// Order puts columns of one parent before the others, which keep their order.
func Order(paths ...string) Change {
	return Change{did: "order " + strings.Join(paths, ", "), apply: func(ctx context.Context, p *Plan) error {
		var siblings *[]root.Column
		first := []int{}
		for _, path := range paths {
			at, err := p.edit(ctx, path)
			if err != nil {
				return err
			}
			if siblings != nil && siblings != at.siblings || slices.Contains(first, at.i) {
				return fmt.Errorf("column %s is named twice, or is not in the same struct as %s", path, paths[0])
			}
			siblings, first = at.siblings, append(first, at.i)
		}
		if siblings == nil {
			return nil
		}
		ordered := make([]root.Column, 0, len(*siblings))
		for _, i := range first {
			ordered = append(ordered, (*siblings)[i])
		}
		for i, c := range *siblings {
			if !slices.Contains(first, i) {
				ordered = append(ordered, c)
			}
		}
		*siblings = ordered
		return nil
	}}
}

// Cast gives a column another type, which holds all of its values exactly. They are written anew unless they are stored alike.
func Cast(path string, to arrow.DataType) Change {
	return Change{did: fmt.Sprintf("cast %s to %v", path, to), apply: func(ctx context.Context, p *Plan) error {
		at, err := p.edit(ctx, path)
		if err != nil {
			return err
		}
		c := at.column()
		if c.Internal != "" {
			return fmt.Errorf("column %s has the type that readers expect of %s", path, c.Internal)
		}
		if c.ID == root.Missing {
			s := p.sources[c.Built]
			s.casts = append(s.casts, to)
			return nil
		}
		if done, err := p.relabel(ctx, c, to); done || err != nil {
			return err
		}
		if err := at.throughStructs(path); err != nil {
			return err
		}
		c.Built = p.add(&source{name: path, stored: c.ID, stays: true, casts: []arrow.DataType{to}})
		p.properties[placeOf{root.Missing, c.Built}] = p.properties[placeOf{c.ID, root.Missing}]
		c.ID, c.Children = root.Missing, nil
		c.Field = arrowmap.Named(schema.Field{Aliases: c.Aliases}, c.Name, arrowmap.ArrowName(&c.Field))
		return nil
	}}
}

// Add adds a column at a path, computed of the columns that the shard has before all changes.
func Add(path, expression string) Change {
	return Change{did: "add " + path, apply: func(ctx context.Context, p *Plan) error {
		values, err := ast.ParseValues(expression)
		switch {
		case err != nil:
			return err
		case len(values) != 1:
			return fmt.Errorf("column %s needs one expression, not %d", path, len(values))
		}
		return p.insert(ctx, path, &source{name: path, stored: root.Missing, value: values[0]})
	}}
}

// AddFrom adds the columns of a source, which has a row for each row of the shard.
func AddFrom(src provider.Source) Change {
	return Change{did: "add columns of another table", once: true, apply: func(ctx context.Context, p *Plan) error {
		r := &rows{src: src}
		p.rows = append(p.rows, r)
		for i, f := range src.Schema().Fields() {
			if err := p.insert(ctx, schema.Escape(f.Name), &source{name: f.Name, stored: root.Missing, rows: r, column: i}); err != nil {
				return err
			}
		}
		return nil
	}}
}

// insert adds a column behind those that its parent has.
func (p *Plan) insert(ctx context.Context, path string, s *source) error {
	names := schema.SplitPath(path)
	at := place{siblings: &p.columns}
	if k := len(names) - 1; k > 0 {
		parent, err := p.edit(ctx, ast.PathOf(names[:k]))
		if err != nil {
			return err
		}
		p.used = p.used[:len(p.used)-1] // its other fields may change
		c := parent.column()
		at = place{siblings: &c.Children, parents: append(parent.parents, c)}
		if err := at.throughStructs(path); err != nil {
			return err
		}
		if err := p.changeable(ctx, at, path); err != nil {
			return err
		}
	}
	name := names[len(names)-1]
	if err := at.free(name, -1); err != nil {
		return err
	}
	*at.siblings = append(*at.siblings, root.Column{Field: schema.Field{Name: name}, ID: root.Missing, Built: p.add(s)})
	return nil
}

// SetProperty sets or, with drop, removes a custom property of the shard, or with a path that of a column.
func SetProperty(path string, property shardfile.Property, drop bool) Change {
	return Change{did: "properties of " + cmp.Or(path, "the shard"), apply: func(ctx context.Context, p *Plan) error {
		stored, err := shardfile.PropertiesToProto([]shardfile.Property{property})
		if err != nil {
			return err
		}
		if path == "" {
			i := slices.IndexFunc(p.root.Custom, func(q shardfile.Property) bool { return q.Name == property.Name })
			custom := slices.Clone(p.root.Custom)
			switch {
			case drop && i < 0:
				return fmt.Errorf("there is no property %q", property.Name)
			case drop:
				custom = slices.Delete(custom, i, i+1)
			case i < 0:
				custom = append(custom, property)
			default:
				custom[i] = property
			}
			p.root.Custom = custom
			return nil
		}
		at, err := p.find(path)
		if err != nil {
			return err
		}
		c := at.column()
		key := placeOf{c.ID, c.Built}
		before := p.properties[key]
		p.properties[key] = func(all []*commonpb.NameValuePair) []*commonpb.NameValuePair {
			if before != nil {
				all = before(all)
			}
			all = slices.DeleteFunc(slices.Clone(all), func(q *commonpb.NameValuePair) bool { return q.Name == property.Name })
			if drop {
				return all
			}
			return append(all, stored...)
		}
		return nil
	}}
}

// free checks a name for a column; i is the column that may have it already.
func (at place) free(name string, i int) error {
	switch {
	case name == "":
		return errors.New("a column needs a name")
	case !utf8.ValidString(name):
		return fmt.Errorf("the name %q is not valid UTF-8", name)
	}
	if k := slices.IndexFunc(*at.siblings, func(c root.Column) bool { return nameOf(&c) == name }); k >= 0 && k != i {
		return fmt.Errorf("there is a column %q already", name)
	}
	return nil
}
