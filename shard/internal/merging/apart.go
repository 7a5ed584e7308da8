package merging

import (
	"slices"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/amudai/amudai-go/internal/format/arrowmap"
	"github.com/amudai/amudai-go/internal/text/cast"
)

// apart gives columns of tables of spans that have one name, and values of different types, different names ([cast.Apart]).
func apart(all []Shard) ([]Shard, error) {
	lists := make([][]arrow.Field, len(all))
	for i, s := range all {
		columns, err := s.Root.Columns()
		if err != nil {
			return nil, err
		}
		for _, c := range columns {
			lists[i] = append(lists[i], arrow.Field{Name: arrowmap.ArrowName(&c.Field), Metadata: arrowmap.Metadata(&c.Field)})
		}
	}
	named := cast.Apart(lists)
	all = slices.Clone(all)
	for i := range all {
		columns, err := all[i].Root.Columns()
		if err != nil {
			return nil, err
		}
		changed := false
		for k, f := range named[i] {
			if c := &columns[k]; f.Name != lists[i][k].Name {
				c.Field, changed = arrowmap.WithMetadata(arrowmap.Named(c.Field, f.Name, f.Name), f.Metadata), true
			}
		}
		if changed {
			if all[i].Root, err = all[i].Root.WithColumns(columns, nil); err != nil {
				return nil, err
			}
		}
	}
	return all, nil
}
