package columns

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/format/arrowmap"
	"github.com/amudai/amudai-go/internal/format/schema"
	"github.com/amudai/amudai-go/internal/text"
	"github.com/amudai/amudai-go/shard/internal/root"
	"github.com/amudai/amudai-go/shard/internal/stripe"
)

// place is a column among its siblings.
type place struct {
	siblings *[]root.Column
	i        int
	parents  []*root.Column // from the top down
}

func (at *place) column() *root.Column { return &(*at.siblings)[at.i] }

// hidden reports whether a scan of all columns leaves a column out.
func hidden(c *root.Column) bool { return c.Name == "" || c.Internal == schema.InternalDeleted }

func visible(all []root.Column) (n int) {
	for i := range all {
		if !hidden(&all[i]) {
			n++
		}
	}
	return n
}

// nameOf is the name by which paths lead to a column; that of an internal field without one is its kind. The marker of deleted records has none.
func nameOf(c *root.Column) string {
	switch {
	case c.Internal == schema.InternalDeleted:
		return ""
	case c.Name == "":
		return c.Internal
	}
	return c.Name
}

// find finds a column by its path, as [schema.Schema.Path] does.
func (p *Plan) find(path string) (place, error) {
	p.used = append(p.used, path)
	at := place{siblings: &p.columns}
	names := schema.SplitPath(path)
	for k, name := range names {
		if k > 0 {
			c := at.column()
			if c.ID == root.Missing {
				return at, fmt.Errorf("column %s is new: change the parts of it once it is stored", nameOf(c))
			}
			at = place{siblings: &c.Children, parents: append(slices.Clone(at.parents), c)}
		}
		if !at.step(name) {
			at = place{siblings: &p.columns}
			if at.named(path) { // a name with dots that are not escaped
				return at, nil
			}
			return at, fmt.Errorf("%w %q%s", schema.ErrNoField, path, text.Suggest(names[0], func(yield func(string) bool) {
				for i := range p.columns {
					if name := nameOf(&p.columns[i]); name != "" && !yield(name) {
						return
					}
				}
			}))
		}
	}
	return at, nil
}

// step goes to the sibling with a name, or through a list to one of its items.
func (at *place) step(name string) bool {
	if len(at.parents) == 0 {
		return at.named(name)
	}
	switch parent := at.parents[len(at.parents)-1]; parent.Type {
	case schema.List, schema.FixedSizeList:
		item := &parent.Children[0]
		if at.i = 0; name == "item" || name == item.Name && name != "" {
			return true
		}
		at.siblings, at.parents = &item.Children, append(at.parents, item)
		return at.step(name)
	case schema.Map:
		at.i = slices.Index([]string{"key", "value"}, strings.TrimSuffix(name, "s"))
		return at.i >= 0 || at.named(name)
	}
	return at.named(name)
}

func (at *place) named(name string) bool {
	at.i = slices.IndexFunc(*at.siblings, func(c root.Column) bool { return name != "" && nameOf(&c) == name })
	return at.i >= 0
}

// edit finds a column that may be changed.
func (p *Plan) edit(ctx context.Context, path string) (place, error) {
	at, err := p.find(path)
	if err == nil {
		err = p.changeable(ctx, at, path)
	}
	return at, err
}

// changeable checks that the children of the last parent of a place may be changed.
func (p *Plan) changeable(ctx context.Context, at place, path string) error {
	if len(at.parents) == 0 {
		return nil
	}
	for i, c := range at.parents {
		if !arrowmap.MadeOfParts(&c.Field) {
			return fmt.Errorf("%s is in a column of an extension type, of a dictionary or of intervals, whose parts belong together", path)
		}
		if i == len(at.parents)-1 && c.Type != schema.Struct {
			return fmt.Errorf("%s is a part of a %s, which needs it: only columns, and fields of structs, are changed by themselves", path, strings.ToLower(c.Type.String()))
		}
	}
	for i := range p.root.Stripes {
		d, err := p.root.Stripes[i].Of.Descriptor(ctx, at.parents[0].ID)
		if err != nil {
			return err
		}
		if stripe.ParquetEncoding(d) != nil {
			return fault.Unsupportedf("%s is in a struct that a Parquet file has: copy the values into the shard first (convert)", path)
		}
	}
	return nil
}

// throughStructs checks that all parents are structs: a column below them has a value for each row.
func (at place) throughStructs(path string) error {
	for _, c := range at.parents {
		if c.Type != schema.Struct {
			return fmt.Errorf("%s is below a %s, and has no value of its own for each row: only the whole column can be computed", path, strings.ToLower(c.Type.String()))
		}
	}
	return nil
}
