// Package merging plans the root of the stripes of several shards.
package merging

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"time"

	"google.golang.org/protobuf/proto"

	shardpb "github.com/amudai/amudai-go/gen/amudai/shard"
	"github.com/amudai/amudai-go/internal/base/parallel"
	"github.com/amudai/amudai-go/internal/base/seq"
	"github.com/amudai/amudai-go/internal/format/arrowmap"
	"github.com/amudai/amudai-go/internal/format/edition"
	"github.com/amudai/amudai-go/internal/format/schema"
	"github.com/amudai/amudai-go/shard/internal/columns"
	"github.com/amudai/amudai-go/shard/internal/index"
	"github.com/amudai/amudai-go/shard/internal/indexing"
	"github.com/amudai/amudai-go/shard/internal/root"
	"github.com/amudai/amudai-go/shard/internal/shardfile"
)

// Open opens shards, several at the same time, by default GOMAXPROCS. The caller closes the files once their roots are not used any more.
func Open(ctx context.Context, locations []string, o shardfile.OpenOptions, parallelism int) ([]root.Root, []*shardfile.File, error) {
	files, roots := make([]*shardfile.File, len(locations)), make([]root.Root, len(locations))
	err := parallel.Each(ctx, len(locations), cmp.Or(parallelism, runtime.GOMAXPROCS(0)), func(ctx context.Context, i int) (err error) {
		if files[i], err = shardfile.Open(ctx, locations[i], o); err == nil {
			roots[i], err = root.Of(ctx, files[i])
		}
		return err
	})
	if err != nil {
		return nil, nil, errors.Join(err, seq.CloseAll(files))
	}
	return roots, files, nil
}

// Merge is the root of the stripes of several shards, one after the other. Columns are matched by their names: one that a shard lacks is null there. Columns of one name
// whose types differ get the smallest type that holds the values of all. Properties are those that all have.
//
// Indexes of whole shards that all have are joined when the root is written. Others become those of the stripe of a shard of one stripe, or are left out, of which
// dropped is told: now, or when they turn out not to be joinable.
func Merge(ctx context.Context, all []Shard, o indexing.Options, c columns.Options, dropped func(*shardpb.IndexDescriptor)) (root.Root, *Widened, error) {
	w := &Widened{}
	all, err := apart(all)
	if err != nil {
		return root.Root{}, w, err
	}
	r, err := merge(rootsOf(all), o, dropped)
	if errors.Is(err, errTypes) {
		all = slices.Clone(all)
		if err = w.widen(ctx, all, c, dropped); err == nil {
			r, err = merge(rootsOf(all), o, dropped)
		}
	}
	return r, w, err
}

func rootsOf(all []Shard) (roots []root.Root) {
	for _, s := range all {
		roots = append(roots, s.Root)
	}
	return roots
}

// errTypes is the error of columns that have different types.
var errTypes = errors.New("different types in the shards")

func merge(roots []root.Root, o indexing.Options, dropped func(*shardpb.IndexDescriptor)) (root.Root, error) {
	united, err := unite(roots)
	if err != nil {
		return root.Root{}, err
	}
	out := roots[0]
	out.Stripes, out.Indexes = nil, nil
	var features edition.Set
	owns := make([]root.Root, len(roots))
	for i, r := range roots {
		columns := of(united, i)
		if owns[i], err = r.WithColumns(columns, nil); err != nil {
			return root.Root{}, err
		}
		r.Lost(root.Moved(columns, r.Schema.IDCount()), dropped)
	}
	out.Schema = owns[0].Schema
	if out.Indexes, err = joinable(owns, o, dropped); err != nil {
		return root.Root{}, err
	}
	for i, r := range roots {
		own := owns[i]
		for _, s := range own.Stripes {
			if len(own.Stripes) == 1 {
				s.Indexes, own.Indexes = append(slices.Clip(s.Indexes), own.Indexes...), nil
			}
			out.Stripes = append(out.Stripes, s)
		}
		for _, x := range own.Indexes {
			dropped(x.Descriptor)
		}
		if r.Edition != edition.Reference || anyMissing(united, i) {
			out.Edition = edition.E2026
		}
		features |= r.Features()
		out.Created = spanOf(out.Created, r.Created)
		out.Custom = slices.DeleteFunc(slices.Clone(out.Custom), func(p shardfile.Property) bool {
			return !slices.ContainsFunc(r.Custom, func(q shardfile.Property) bool { return p.Name == q.Name && sameValue(p.Value, q.Value) })
		})
	}
	out.Standard = shardfile.WithFeatures([]shardfile.Property{
		{Name: shardfile.PropertyEdition, Value: out.Edition.String()}, {Name: shardfile.PropertyWriter, Value: shardfile.DefaultWriter},
	}, features)
	return out, nil
}

// joinable takes the indexes out of roots of one schema that all of them have, and returns those that join them.
func joinable(roots []root.Root, o indexing.Options, dropped func(*shardpb.IndexDescriptor)) (joined []root.Index, err error) {
	if len(roots) == 1 {
		joined, roots[0].Indexes = roots[0].Indexes, nil
		return joined, nil
	}
	s, _, err := arrowmap.ToArrow(roots[0].Schema, arrowmap.ReadOptions{})
	if err != nil {
		return nil, err
	}
	for _, x := range slices.Clone(roots[0].Indexes) {
		kind := index.ByType(x.Descriptor.GetIndexType())
		if kind == nil {
			continue
		}
		if _, ok := kind.(index.Joiner); !ok {
			continue
		}
		at := make([]int, len(roots))
		for i, r := range roots {
			at[i] = slices.IndexFunc(r.Indexes, func(y root.Index) bool { return index.SameDefinition(x.Descriptor, y.Descriptor) })
		}
		if slices.Contains(at, -1) {
			continue
		}
		p, err := indexing.Of(roots[0].Schema, s, kind, x.Descriptor)
		if err != nil {
			return nil, err
		}
		var all []root.Index
		for i := range roots {
			all = append(all, roots[i].Indexes[at[i]])
			roots[i].Indexes = slices.Delete(slices.Clone(roots[i].Indexes), at[i], at[i]+1)
		}
		joined = append(joined, root.Join(p, all, o, func(context.Context) (*indexing.Built, error) {
			dropped(x.Descriptor)
			return nil, nil
		}))
	}
	return joined, nil
}

// spanOf is the span of two times of creation, of which one that is not known does not count.
func spanOf(a, b [2]time.Time) [2]time.Time {
	if a[0].IsZero() || !b[0].IsZero() && b[0].Before(a[0]) {
		a[0] = b[0]
	}
	if b[1].After(a[1]) {
		a[1] = b[1]
	}
	return a
}

func sameValue(a, b any) bool {
	x, err := shardfile.PropertiesToProto([]shardfile.Property{{Value: a}})
	y, err2 := shardfile.PropertiesToProto([]shardfile.Property{{Value: b}})
	return err == nil && err2 == nil && proto.Equal(x[0], y[0])
}

// unitedColumn is a column of several roots.
type unitedColumn struct {
	schema.Field
	ids      []uint32 // of each root, or root.Missing
	children []*unitedColumn
}

// unite are the columns of all roots.
func unite(roots []root.Root) (all []*unitedColumn, err error) {
	for i, r := range roots {
		columns, err := r.Columns()
		if err == nil {
			all, err = add(all, columns, i, "")
		}
		if err != nil {
			return nil, err
		}
	}
	fill(all, len(roots))
	return all, nil
}

// add adds the columns of root i.
func add(all []*unitedColumn, columns []root.Column, i int, path string) ([]*unitedColumn, error) {
	byName := map[[2]string]*unitedColumn{}
	for _, u := range all {
		byName[[2]string{u.Name, u.Internal}] = u
	}
	for _, c := range columns {
		u := byName[[2]string{c.Name, c.Internal}]
		if u == nil {
			u = &unitedColumn{Field: c.Field}
			if i > 0 {
				u.Field = arrowmap.Nullable(c.Field) // in the roots before
			}
			all = append(all, u)
		}
		if err := u.add(c, i, path); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// add adds the column of root i.
func (u *unitedColumn) add(c root.Column, i int, path string) error {
	path = schema.JoinPath(path, c.Name)
	if len(u.ids) > i {
		return fmt.Errorf("two columns are called %s", path)
	}
	f, ok := arrowmap.Unite(u.Field, c.Field)
	if ok && c.Type != schema.Struct && len(u.ids) > 0 {
		ok = len(c.Children) == len(u.children)
	}
	if !ok {
		return fmt.Errorf("column %s has %w: cast it in one of them first", path, errTypes)
	}
	if len(u.ids) < i {
		f = arrowmap.Nullable(f) // in some roots before
	}
	u.Field = f
	u.fill(i)
	u.ids = append(u.ids, c.ID)
	if c.Type == schema.Struct {
		var err error
		u.children, err = add(u.children, c.Children, i, path)
		return err
	}
	for k, child := range c.Children { // of a list, map or union: by their places
		if k == len(u.children) {
			u.children = append(u.children, &unitedColumn{Field: child.Field})
		}
		if child.Name != u.children[k].Name {
			return fmt.Errorf("column %s has %w", path, errTypes)
		}
		if err := u.children[k].add(child, i, path); err != nil {
			return err
		}
	}
	return nil
}

// fill says that the column is missing in the roots so far, of which there are n, that did not add it.
func (u *unitedColumn) fill(n int) {
	for len(u.ids) < n {
		u.ids = append(u.ids, root.Missing)
	}
}

// fill completes the lists of ids, and has columns nullable that are missing in the last roots.
func fill(all []*unitedColumn, n int) {
	for _, u := range all {
		if len(u.ids) < n {
			u.Field = arrowmap.Nullable(u.Field)
		}
		u.fill(n)
		fill(u.children, n)
	}
}

// of are the columns as those of root i.
func of(all []*unitedColumn, i int) []root.Column {
	columns := make([]root.Column, len(all))
	for k, u := range all {
		columns[k] = root.Column{Field: u.Field, ID: u.ids[i], Built: root.Missing, Children: of(u.children, i)}
	}
	return columns
}

// anyMissing reports whether root i lacks a column.
func anyMissing(all []*unitedColumn, i int) bool {
	return slices.ContainsFunc(all, func(u *unitedColumn) bool { return u.ids[i] == root.Missing || anyMissing(u.children, i) })
}
