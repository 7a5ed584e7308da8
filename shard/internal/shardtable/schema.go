package shardtable

import (
	"context"
	"errors"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"

	commonpb "github.com/amudai/amudai-go/gen/amudai/common"
	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/engine/table"
	"github.com/amudai/amudai-go/internal/format/arrowmap"
	"github.com/amudai/amudai-go/internal/format/schema"
	"github.com/amudai/amudai-go/shard/internal/shardfile"
)

// ArrowSchema is the schema of a scan of all columns. It reads the whole stored schema, and the statistics of
// those columns whose Arrow type depends on them (see arrowmap.TicksAuto).
func (t *Table) ArrowSchema(ctx context.Context) (*arrow.Schema, error) {
	return t.arrow.Get(ctx, func() (*arrow.Schema, error) {
		var failed error
		fields, _, err := arrowmap.ToArrow(t.schema, t.types(ctx, &failed))
		if err = errors.Join(err, failed); err != nil {
			return nil, err
		}
		meta, err := t.metadata(ctx)
		if err != nil {
			return nil, err
		}
		return arrow.NewSchema(fields.Fields(), meta), nil
	})
}

// types returns the options for Arrow types, with statistics for the units of times. *failed is set if statistics
// cannot be read now but may be readable later: the types may then differ next time.
func (t *Table) types(ctx context.Context, failed *error) arrowmap.ReadOptions {
	o := t.o.Types
	if o.Range == nil {
		o.Range = func(id uint32) (arrowmap.TickRange, bool) {
			r, ok, err := t.tickRange(ctx, id)
			if err != nil && !fault.Is(err) {
				*failed = err
			}
			return r, ok
		}
	}
	return o
}

// tickRange is the range of a DateTime or timespan node over all stripes.
func (t *Table) tickRange(ctx context.Context, id uint32) (r arrowmap.TickRange, ok bool, err error) {
	d, err := t.file.FieldDescriptor(ctx, id)
	if err != nil || d.GetRangeStats().GetMinValue() == nil || d.GetRangeStats().GetMaxValue() == nil {
		return r, false, err
	}
	lo, ok := ticksOf(d.RangeStats.MinValue)
	hi, ok2 := ticksOf(d.RangeStats.MaxValue)
	return arrowmap.TickRange{Min: lo, Max: hi}, ok && ok2, nil
}

// ticksOf converts a bound of a DateTime or timespan column to ticks.
func ticksOf(v *commonpb.AnyValue) (uint64, bool) {
	switch k := v.GetKind().(type) {
	case *commonpb.AnyValue_U64Value:
		return k.U64Value, true
	case *commonpb.AnyValue_I64Value:
		return uint64(k.I64Value), true
	}
	return 0, false
}

// metadata is the metadata of the stored Arrow schema, nil if there is none. An unreadable one is ignored, because
// no value depends on it.
func (t *Table) metadata(ctx context.Context) (*arrow.Metadata, error) {
	if t.o.Types.IgnoreAnnotations {
		return nil, nil
	}
	m, err := t.file.Properties(ctx)
	if err != nil {
		return nil, err
	}
	text, _ := shardfile.Find(shardfile.PropertiesFromProto(m.CustomProperties), arrowmap.SchemaProperty).(string)
	meta, err := arrowmap.MetadataFromIPC(text)
	if err != nil || meta.Len() == 0 {
		return nil, nil
	}
	return &meta, nil
}

// Only are the names of those top-level columns whose name no other one has.
func (t *Table) Only(ctx context.Context, paths []string) (names []string, err error) {
	if len(paths) == 0 {
		return nil, nil
	}
	full, err := t.ArrowSchema(ctx)
	if err != nil {
		return nil, err
	}
	for _, p := range paths {
		if path := schema.SplitPath(p); len(path) == 1 && len(full.FieldIndices(path[0])) == 1 {
			names = append(names, path[0])
		}
	}
	return names, nil
}

// Project implements [table.Table].
func (t *Table) Project(ctx context.Context, paths []string) (*table.Projection, error) {
	return t.projections.Get(paths, func() (*table.Projection, error) { return t.project(ctx, paths) })
}

func (t *Table) project(ctx context.Context, paths []string) (*table.Projection, error) {
	var failed error
	columns, err := arrowmap.Project(t.schema, paths, t.types(ctx, &failed))
	if err = errors.Join(err, failed); err != nil {
		return nil, err
	}
	meta, err := t.metadata(ctx)
	if err != nil {
		return nil, err
	}
	fields := make([]arrow.Field, len(columns))
	for i := range columns {
		fields[i] = columns[i].Arrow
	}
	return &table.Projection{Columns: columns, Schema: arrow.NewSchema(fields, meta)}, nil
}

// ProjectTops implements [table.Table].
func (t *Table) ProjectTops(ctx context.Context, paths []string) (*table.Projection, error) {
	return t.tops.Get(paths, func() (*table.Projection, error) {
		p, err := table.ProjectTops(ctx, t, paths, func(name string) bool {
			n, err := t.schema.Count(name)
			return n == 1 && err == nil
		})
		if err != nil || !slices.ContainsFunc(p.Columns, func(c table.Column) bool { return c.Arrow.Name != c.Stored.Name }) {
			return p, err
		}
		return t.Project(ctx, nil) // because names are unique only among all columns
	})
}
