package compute

import (
	"fmt"
	"math"
	"math/big"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
	"github.com/amudai/amudai-go/internal/arrow/kinds"
	"github.com/amudai/amudai-go/internal/engine/ast"
	"github.com/amudai/amudai-go/internal/engine/compute/internal/calendar"
	"github.com/amudai/amudai-go/internal/engine/compute/internal/expr"
	"github.com/amudai/amudai-go/internal/engine/compute/internal/numbers"
	"github.com/amudai/amudai-go/internal/text"
)

// isInstant reports whether values of a type are dates or timestamps.
func isInstant(dt arrow.DataType) bool {
	return dt.ID() == arrow.DATE32 || dt.ID() == arrow.DATE64 || dt.ID() == arrow.TIMESTAMP
}

func isClock(dt arrow.DataType) bool { return dt.ID() == arrow.TIME32 || dt.ID() == arrow.TIME64 }

// zoned is the time zone of a type.
func zoned(dt arrow.DataType) string {
	if t, ok := dt.(*arrow.TimestampType); ok {
		return t.TimeZone
	}
	return ""
}

// localTime checks that an argument has a date, and finds its time zone.
func localTime(n *ast.Node, x *expr.Expr) (calendar.Zone, error) {
	if x.Err != nil || !isInstant(x.Type) {
		return calendar.Zone{}, x.Refuse("%s is of type %s, and %s takes dates and timestamps", x.Name(), text.Type(x.Type), n.Name).Err
	}
	z, ok := calendar.ZoneOf(zoned(x.Type))
	if !ok {
		return z, expr.Fail(x.Node, "the time zone %q of %s is not known here", ast.Shorten(zoned(x.Type)), x.Name())
	}
	return z, nil
}

// datePart binds year, month and other parts of dates.
func datePart(n *ast.Node, x *expr.Expr) *expr.Expr {
	z, err := localTime(n, x)
	if err != nil {
		return expr.Mistake(err)
	}
	part := calendar.Parts[n.Name]
	var out *expr.Expr
	if x.Type.ID() == arrow.DATE32 {
		out = expr.Unary(n, x, int64s, func(dst []int64, a []int32) { calendar.OfDays(dst, a, part) })
	} else {
		out = expr.Unary(n, x, int64s, func(dst, a []int64) {
			calendar.LocalDays(dst, a, calendar.PerSecond(x.Type), z)
			calendar.OfDays(dst, dst, part)
		})
	}
	if n.Name == "year" && z.Location == nil {
		out.Arg, out.Least = x.Node, calendar.InUnits(x.Type, z, func(y int64) int64 { return calendar.DayOf(y, 1, 1) })
	}
	return out
}

// clockPart binds hour, minute and second.
func clockPart(n *ast.Node, x *expr.Expr) *expr.Expr {
	per, z := calendar.PerSecond(x.Type), calendar.Zone{}
	if !isClock(x.Type) {
		var err error
		if z, err = localTime(n, x); err != nil {
			return expr.Mistake(err)
		}
	}
	switch {
	case per == 0:
		return expr.Unary(n, x, int64s, func(dst []int64, _ []int32) { clear(dst) })
	case x.Type.ID() == arrow.TIME32:
		x = convert[int32, int64](n, x, int64s)
	}
	return expr.Unary(n, x, int64s, func(dst, a []int64) { calendar.Clocks(dst, a, per, z, n.Name) })
}

// epoch binds the seconds since 1970, of times of day and durations those since their zero.
func epoch(n *ast.Node, x *expr.Expr) *expr.Expr {
	if !isInstant(x.Type) && !isClock(x.Type) && x.Type.ID() != arrow.DURATION {
		_, err := localTime(n, x)
		return expr.Mistake(err)
	}
	per := calendar.PerSecond(x.Type)
	if x.Type.ID() == arrow.DATE32 || x.Type.ID() == arrow.TIME32 {
		return expr.Unary(n, x, float64s, func(dst []float64, a []int32) {
			for i, v := range a {
				if per == 0 {
					dst[i] = float64(v) * calendar.DaySeconds
				} else {
					dst[i] = float64(v) / float64(per)
				}
			}
		})
	}
	return expr.Unary(n, x, float64s, func(dst []float64, a []int64) {
		for i, v := range a {
			dst[i] = float64(v) / float64(per)
		}
	})
}

// castInstant converts dates and timestamps. A timestamp without a zone has its local time in one.
func castInstant(n *ast.Node, x *expr.Expr, dt arrow.DataType) *expr.Expr {
	var zones [2]calendar.Zone
	for i, t := range []arrow.DataType{x.Type, dt} {
		var ok bool
		if zones[i], ok = calendar.ZoneOf(zoned(t)); !ok {
			return expr.Mistake(expr.Fail(n, "the time zone %q is not known here", ast.Shorten(zoned(t))))
		}
	}
	if zoned(x.Type) != "" && zoned(dt) != "" { // the same instant
		zones = [2]calendar.Zone{}
	}
	out := changeUnit(n, x, dt, zones[0], zones[1])
	if dt.ID() == arrow.DATE32 && zones[0].Location == nil {
		out.Arg, out.Least = x.Node, calendar.InUnits(x.Type, zones[0], func(y int64) int64 { return y })
	}
	return out
}

// changeUnit converts times between units and zones, rounding down.
func changeUnit(n *ast.Node, x *expr.Expr, dt arrow.DataType, from, to calendar.Zone) *expr.Expr {
	a, c := calendar.PerSecond(x.Type), calendar.PerSecond(dt)
	one := func() func(int64) (int64, bool) { return calendar.Converter(a, c, from, to) }
	day := func(v int32) string { return outOfRange(string(text.AppendDate(nil, int64(v))), text.Type(dt)) }
	time := func(v int64) string { return outOfRange(string(text.AppendTimestamp(nil, v, a, false)), text.Type(dt)) }
	switch {
	case a == 0 && c == 0:
		return expr.Unary(n, x, dt, func(dst, a []int32) { copy(dst, a) })
	case a == 0:
		return expr.PerBatch(n, x, dt, func() func(v int32) (int64, bool) {
			f := one()
			return func(v int32) (int64, bool) { return f(int64(v)) }
		}, day)
	case c == 0:
		return expr.PerBatch(n, x, dt, func() func(v int64) (int32, bool) {
			f := one()
			return func(v int64) (int32, bool) { r, ok := f(v); return int32(r), ok }
		}, time)
	}
	return expr.PerBatch(n, x, dt, one, time)
}

// dateOf binds date(x).
func dateOf(n *ast.Node, x *expr.Expr) *expr.Expr {
	date32 := arrow.FixedWidthTypes.Date32
	if x.Lit != nil {
		return typed(x, date32)
	}
	if !kinds.IsText(x.Type) {
		if _, err := localTime(n, x); err != nil {
			return expr.Mistake(err)
		}
	}
	return cast(n, x, date32)
}

// truncate binds date_trunc(unit, x). The result has the type of x.
func truncate(n *ast.Node, unit, x *expr.Expr) *expr.Expr {
	if unit.Lit == nil || unit.Lit.Lit.Kind != ast.LitString {
		return unit.Refuse("expected a unit such as 'month', found %s", unit.Name())
	}
	word := strings.ToLower(unit.Lit.Lit.Text)
	first, nanos := calendar.Truncations[word], calendar.ClockUnits[word]
	if first == nil && nanos == 0 {
		return unit.Refuse("%s is no unit: write decade, year, quarter, month, week, day, hour, minute, second, millisecond or microsecond", unit.Lit.Lit.Describe())
	}
	z, err := localTime(n, x)
	if err != nil {
		return expr.Mistake(err)
	}
	per := calendar.PerSecond(x.Type)
	if per == 0 {
		if first == nil {
			first, word = calendar.Truncations["day"], "day"
		}
		out := expr.Unary(n, x, x.Type, func(dst, a []int32) { calendar.OfDays(dst, a, first) })
		out.Arg, out.Least = x.Node, func(y *big.Int) *big.Int { return calendar.CeilDay(word, y) }
		return out
	}
	step := nanos / (1e9 / per) // of clock units
	out := expr.Function(n, x.Type, []*expr.Expr{x}, func(e *expr.Env, in []arrow.Array) (arrow.Array, error) {
		out, a := expr.NewResult[int64](e, in), arrowutil.Values[int64](in[0])
		unit := calendar.TruncateTimes(out.Values, a, per, step, z, first)
		least, most := math.MinInt64/unit, math.MaxInt64/unit
		for i, v := range out.Values {
			if out.Values[i] = v * unit; (v < least || v > most) && out.Counts(i) {
				return out.Drop(expr.Fail(n, "the %s of %s is out of the range of %s", word, text.AppendTimestamp(nil, a[i], per, false), text.Type(x.Type)))
			}
		}
		return out.Array(x.Type), nil
	})
	if z.UTC() {
		out.Arg, out.Least = x.Node, func(y *big.Int) *big.Int {
			if first == nil {
				return new(big.Int).Mul(calendar.CeilDiv(y, big.NewInt(max(step, 1))), big.NewInt(max(step, 1)))
			}
			whole := big.NewInt(calendar.DaySeconds * per)
			return whole.Mul(calendar.CeilDay(word, calendar.CeilDiv(y, whole)), big.NewInt(calendar.DaySeconds*per))
		}
	}
	return out
}

// moments binds arithmetic of dates, timestamps and durations; nil for other operands. A date and a number of days make a date.
func moments(n *ast.Node, x, y *expr.Expr) *expr.Expr {
	if n.Op != ast.OpAdd && n.Op != ast.OpSub {
		return nil
	}
	if n.Op == ast.OpAdd && !isInstant(x.Type) {
		x, y = y, x
	}
	if !isInstant(x.Type) && !(isInstant(y.Type) && x.Lit != nil) {
		return nil
	}
	x = momentOf(x, y.Type)
	y = momentOf(y, x.Type)
	date32 := arrow.FixedWidthTypes.Date32
	switch {
	case x.Err != nil:
		return x
	case y.Err != nil:
		return y
	case x.Type == date32 && y.Type == date32 && n.Op == ast.OpSub:
		return operate(n, convert[int32, int64](n, x, int64s), convert[int32, int64](n, y, int64s))
	case x.Type == date32 && isInteger(y.Type):
		return expr.Checked(n, operate(n, convert[int32, int64](n, x, int64s), y), date32, func(v int64) (int32, bool) { return int32(v), v == int64(int32(v)) },
			func(v int64) string { return fmt.Sprintf("day %d since 1970 is out of the range of date32", v) })
	case isInstant(x.Type) && isInstant(y.Type) && n.Op == ast.OpSub && (zoned(x.Type) == "") == (zoned(y.Type) == ""):
		return between(n, x, y)
	}
	return expr.Mistake(expr.Fail(n, "there is no %s of %s and %s", map[ast.Op]string{ast.OpAdd: "sum", ast.OpSub: "difference"}[n.Op], text.Type(x.Type), text.Type(y.Type)))
}

// momentOf gives a literal beside a date or timestamp its type: a time in quotes is one of the same type.
func momentOf(x *expr.Expr, other arrow.DataType) *expr.Expr {
	if x.Lit != nil && x.Lit.Lit.Kind == ast.LitString && isInstant(other) {
		return typed(x, other)
	}
	return natural(x)
}

// between binds the difference of two times as a duration, in the finer of their units.
func between(n *ast.Node, x, y *expr.Expr) *expr.Expr {
	unit := arrow.Second
	for _, dt := range []arrow.DataType{x.Type, y.Type} {
		switch t := dt.(type) {
		case *arrow.TimestampType:
			unit = max(unit, t.Unit)
		case *arrow.Date64Type:
			unit = max(unit, arrow.Millisecond)
		}
	}
	dt := &arrow.TimestampType{Unit: unit}
	x, y = changeUnit(n, x, dt, calendar.Zone{}, calendar.Zone{}), changeUnit(n, y, dt, calendar.Zone{}, calendar.Zone{})
	return expr.Binary(n, &arrow.DurationType{Unit: unit}, x, y, numbers.Int64Loops[ast.OpSub], numbers.Int64Fails(ast.OpSub))
}
