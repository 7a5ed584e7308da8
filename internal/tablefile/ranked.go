package tablefile

import (
	"context"

	"github.com/amudai/amudai-go/filter"
	"github.com/amudai/amudai-go/internal/engine/rowfilter"
	"github.com/amudai/amudai-go/internal/engine/rowset"
	"github.com/amudai/amudai-go/internal/engine/table"
)

// Rankings are those of columns by path, and the rows of the file that are not hidden, nil for all; none if there is a column without an index that rows can be ranked by.
func (s *source) Rankings(ctx context.Context, columns []string) (all []table.Ranking, visible *rowset.Set, err error) {
	t, ok := s.file.Table.(table.Ranked)
	if !ok {
		return nil, nil, nil
	}
	paths := make([]table.FilterColumn, len(columns))
	for i, path := range columns {
		f, err := rowfilter.Bind(ctx, s.file.Table, filter.IsNull(filter.Col(path)).Node())
		if err != nil {
			return nil, nil, s.file.placed(err)
		}
		paths[i] = f.TableColumns()[0]
	}
	if all, err = t.Rankings(ctx, paths); err == nil && all != nil {
		visible, err = table.Visible(ctx, s.file.Table)
	}
	return all, visible, s.file.placed(err)
}
