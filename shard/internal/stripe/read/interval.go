package read

import (
	"context"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/engine/rowset"
	"github.com/amudai/amudai-go/shard/internal/stripe/internal/rules"
	"github.com/amudai/amudai-go/shard/internal/stripe/read/internal/nested"
	"github.com/amudai/amudai-go/shard/internal/stripe/read/internal/work"
)

// intervalReader joins the parts again.
type intervalReader struct{ *nested.Struct }

func (r *intervalReader) Read(ctx context.Context, w *work.Worker, rows rowset.Set) (arrow.Array, error) {
	parts, err := nested.ReadAll(ctx, w, rows, r.Children)
	if err != nil {
		return nil, err
	}
	defer arrowutil.ReleaseAll(parts)
	n := int(rows.Len())
	for _, p := range parts {
		if p.NullN() > 0 {
			return nil, fault.Corruptf("null part of an interval")
		}
	}
	valid, nulls, err := r.Presence.Validity(ctx, w, rows)
	if err != nil {
		return nil, err
	}
	values := arrowutil.NewBuffer(arrowutil.Reusable(w.Limits.Allocator), n*rules.Width(r.Type))
	if len(parts) == 2 {
		dst, days, ms := arrowutil.As[arrow.DayTimeInterval](values.Bytes()), arrowutil.Values[int32](parts[0]), arrowutil.Values[int32](parts[1])
		for i := range dst {
			dst[i] = arrow.DayTimeInterval{Days: days[i], Milliseconds: ms[i]}
		}
	} else {
		dst, months, days := arrowutil.As[arrow.MonthDayNanoInterval](values.Bytes()), arrowutil.Values[int32](parts[0]), arrowutil.Values[int32](parts[1])
		nanos := arrowutil.Values[int64](parts[2])
		for i := range dst {
			dst[i] = arrow.MonthDayNanoInterval{Months: months[i], Days: days[i], Nanoseconds: nanos[i]}
		}
	}
	return arrowutil.Make(r.Type, n, []*memory.Buffer{valid, values}, nil, nulls), nil
}
