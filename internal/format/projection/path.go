package projection

import (
	"fmt"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/amudai/amudai-go/internal/arrow/extension"
	"github.com/amudai/amudai-go/internal/arrow/kinds"
	"github.com/amudai/amudai-go/internal/format/arrowmap"
	"github.com/amudai/amudai-go/internal/format/schema"
	"github.com/amudai/amudai-go/internal/text"
)

// fields are sibling fields with the names that paths have for them.
type fields struct {
	list  []arrow.Field
	names []string // arrowmap.UniqueNames
	place map[string]int
}

func newFields(list []arrow.Field) *fields {
	f := &fields{list: list, names: arrowmap.UniqueNames(list), place: make(map[string]int, len(list))}
	for i, name := range f.names {
		f.place[name] = i
	}
	return f
}

// Paths are the paths of fields, and of those inside structs and unions, each behind what has it.
func Paths(list []arrow.Field) []string { return appendPaths(nil, "", list) }

func appendPaths(paths []string, parent string, list []arrow.Field) []string {
	for i, name := range arrowmap.UniqueNames(list) {
		path := schema.JoinPath(parent, name)
		paths = append(paths, path)
		plain, _ := extension.Unwrap(list[i].Type)
		if kinds.HasNames(plain) {
			paths = appendPaths(paths, path, kinds.Fields(plain))
		}
	}
	return paths
}

// resolver follows paths through a schema.
type resolver struct {
	top     *fields
	structs map[arrow.DataType]*fields // those of structs and unions that were met
}

func newResolver(top []arrow.Field) *resolver {
	return &resolver{newFields(top), map[arrow.DataType]*fields{}}
}

func (r *resolver) fieldsOf(t arrow.DataType) *fields {
	f := r.structs[t]
	if f == nil {
		f = newFields(kinds.Fields(t))
		r.structs[t] = f
	}
	return f
}

// find gives the steps of a path: the position of the top-level column, then of children
// as [Part] counts them. A column whose name is the whole path, dots and all, is found if
// the path leads nowhere.
func (r *resolver) find(path string) ([]int, error) {
	names := schema.SplitPath(path)
	i, ok := r.top.place[names[0]]
	if !ok {
		return r.whole(path, text.Suggest(names[0], slices.Values(r.top.names)))
	}
	steps, t := []int{i}, r.top.list[i].Type
	for _, name := range names[1:] {
		below, child, ok := r.step(t, name)
		if !ok {
			return r.whole(path, text.Suggest(name, slices.Values(r.namesIn(t))))
		}
		steps, t = append(steps, below...), child
	}
	return steps, nil
}

func (r *resolver) whole(path, hint string) ([]int, error) {
	if i, ok := r.top.place[path]; ok {
		return []int{i}, nil
	}
	return nil, fmt.Errorf("%w %q%s", schema.ErrNoField, path, hint)
}

// step follows one name from a type: to a field of a struct, to the keys or values of a
// map, to the items of a list or, by any other name, to what they have of that name.
func (r *resolver) step(t arrow.DataType, name string) (steps []int, child arrow.DataType, ok bool) {
	t = kinds.Unwrapped(t)
	parts := kinds.Fields(t)
	if kinds.HasNames(t) {
		if i, ok := r.fieldsOf(t).place[name]; ok {
			return []int{i}, parts[i].Type, true
		}
		return nil, nil, false
	}
	if i := slices.IndexFunc(kinds.Names(t), func(n string) bool { return name == n || len(parts) == 2 && name == n+"s" }); i >= 0 {
		return []int{i}, parts[i].Type, true
	}
	if len(parts) != 1 {
		return nil, nil, false
	}
	steps, child, ok = r.step(parts[0].Type, name)
	return append([]int{0}, steps...), child, ok
}

// namesIn are the names that a path may go on with.
func (r *resolver) namesIn(t arrow.DataType) []string {
	t = kinds.Unwrapped(t)
	if kinds.HasNames(t) {
		return r.fieldsOf(t).names
	}
	names := kinds.Names(t)
	if len(names) == 1 {
		return append(names[:1:1], r.namesIn(kinds.Fields(t)[0].Type)...)
	}
	return names
}
