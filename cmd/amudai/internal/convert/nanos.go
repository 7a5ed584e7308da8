package convert

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
	"github.com/amudai/amudai-go/internal/arrow/kinds"
	"github.com/amudai/amudai-go/internal/format/arrowmap"
	"github.com/amudai/amudai-go/internal/format/schema"
	"github.com/amudai/amudai-go/table/provider"
)

// chooseNanos chooses the stored type of nanosecond timestamps and durations. Other readers understand ticks of
// 100 ns as times, but ticks hold only multiples of 100 ns. The columns of a file are therefore read first. A pipe
// can be read only once, so that its times are stored as integers, which hold all values.
func (c *converter) chooseNanos(ctx context.Context) error {
	columns := nanoColumns(c.schema)
	if len(columns) == 0 {
		return nil
	}
	switch c.write.Nanos {
	case "ticks":
		c.shard.Times = arrowmap.TimesAsTicks
		return nil
	case "int64": // the default of nanoseconds; other units stay ticks
		return nil
	}
	if !c.union.Rereadable() {
		c.Noticef("nanoseconds from a stream (%s) are stored as int64; --nanos ticks stores times, if all are multiples of 100 ns", strings.Join(columns, ", "))
		return nil
	}
	look := nanosLook{odd: map[string]bool{}, all: map[string]bool{}}
	if err := c.lookNanos(ctx, columns, &look); err != nil {
		return err
	}
	c.shard.TimesOf = map[string]arrowmap.TimeEncoding{}
	var ticks, integers []string
	for path := range look.all {
		if look.odd[path] {
			integers = append(integers, path)
			continue
		}
		ticks = append(ticks, path)
		c.shard.TimesOf[path] = arrowmap.TimesAsTicks
	}
	slices.Sort(ticks)
	slices.Sort(integers)
	if len(ticks) > 0 {
		c.Noticef("nanosecond column %s: all multiples of 100 ns, stored as ticks", strings.Join(ticks, ", "))
	}
	if len(integers) > 0 {
		c.Noticef("nanosecond column %s: not all multiples of 100 ns, stored as int64", strings.Join(integers, ", "))
	}
	return nil
}

// nanoColumns are the names of columns that contain nanoseconds.
func nanoColumns(s *arrow.Schema) (names []string) {
	for _, f := range s.Fields() {
		if hasNanos(f.Type) && !slices.Contains(names, f.Name) {
			names = append(names, f.Name)
		}
	}
	return names
}

func hasNanos(t arrow.DataType) bool {
	return kinds.Has(t, func(t arrow.DataType) bool {
		timed, ok := t.(arrow.TemporalWithUnit)
		return ok && timed.TimeUnit() == arrow.Nanosecond && t.ID() != arrow.TIME64
	})
}

// lookNanos reads columns of the inputs.
func (c *converter) lookNanos(ctx context.Context, columns []string, look *nanosLook) (err error) {
	o := c.union.Scan
	o.Silent = true
	if o.Columns == nil && !slices.ContainsFunc(columns, func(n string) bool { return schema.Escape(n) != n }) {
		o.Columns = columns // else names and paths differ, and all columns are read
	}
	src, err := c.union.Reader(ctx, o)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, src.Close()) }()
	_, mapped, err := arrowmap.FromArrow(src.Schema(), arrowmap.Options{Features: c.shard.Edition.Features()})
	if err != nil {
		return err
	}
	for b, err := range provider.Batches(ctx, src) {
		if err != nil {
			return err
		}
		for k, col := range mapped {
			look.walk(col, b.Column(k), schema.JoinPath("", col.Stored.Name))
		}
	}
	return nil
}

// nanosLook collects the paths of nanosecond values, and of those with values that are not multiples of 100.
type nanosLook struct{ all, odd map[string]bool }

// walk examines an array and its children. Values under nulls of an outer level count too: the cost of a rare
// mistake is an integer column.
func (l *nanosLook) walk(col arrowmap.Column, arr arrow.Array, path string) {
	if hasNanos(arr.DataType()) && kinds.Of(arr.DataType()) == kinds.Leaf {
		l.values(path, arr, arrowutil.Values[int64](arr))
		return
	}
	v, names := kinds.Open(arr), kinds.Names(arr.DataType())
	for k, part := range v.Parts {
		switch {
		case v.Shape == kinds.Wrap:
			l.walk(col, part, path)
		case k >= len(col.Children):
		case v.Shape == kinds.Record:
			l.walk(col.Children[k], part, schema.JoinPath(path, col.Children[k].Stored.Name))
		default:
			l.walk(col.Children[k], part, schema.JoinPath(path, names[k]))
		}
	}
}

func (l *nanosLook) values(path string, arr arrow.Array, values []int64) {
	l.all[path] = true
	if l.odd[path] {
		return
	}
	for i, v := range values {
		if v%100 != 0 && arr.IsValid(i) {
			l.odd[path] = true
			return
		}
	}
}
