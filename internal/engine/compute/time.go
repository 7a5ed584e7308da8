package compute

import (
	"fmt"
	"math"
	"math/big"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
	"github.com/amudai/amudai-go/internal/engine/ast"
	"github.com/amudai/amudai-go/internal/engine/compute/internal/calendar"
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
func (b *binder) localTime(n *ast.Node, x *expr) (calendar.Zone, error) {
	if !isInstant(x.dt) {
		return calendar.Zone{}, fail(x.node, "%s is of type %s, and %s takes dates and timestamps", ast.Shorten(x.node.String()), text.Type(x.dt), n.Name)
	}
	z, ok := calendar.ZoneOf(zoned(x.dt))
	if !ok {
		return z, fail(x.node, "the time zone %q of %s is not known here", ast.Shorten(zoned(x.dt)), ast.Shorten(x.node.String()))
	}
	return z, nil
}

// datePart binds year, month and other parts of dates.
func (b *binder) datePart(n *ast.Node, x *expr) (*expr, error) {
	z, err := b.localTime(n, x)
	if err != nil {
		return nil, err
	}
	part := calendar.Parts[n.Name]
	var out *expr
	if x.dt.ID() == arrow.DATE32 {
		out = unary(n, x, int64s, func(dst []int64, a []int32) { calendar.OfDays(dst, a, part) })
	} else {
		out = unary(n, x, int64s, func(dst, a []int64) {
			calendar.LocalDays(dst, a, calendar.PerSecond(x.dt), z)
			calendar.OfDays(dst, dst, part)
		})
	}
	if n.Name == "year" && z.Location == nil {
		out.arg, out.least = x.node, calendar.InUnits(x.dt, z, func(y int64) int64 { return calendar.DayOf(y, 1, 1) })
	}
	return out, nil
}

// clockPart binds hour, minute and second.
func (b *binder) clockPart(n *ast.Node, x *expr) (*expr, error) {
	per, z := calendar.PerSecond(x.dt), calendar.Zone{}
	if !isClock(x.dt) {
		var err error
		if z, err = b.localTime(n, x); err != nil {
			return nil, err
		}
	}
	switch {
	case per == 0:
		return unary(n, x, int64s, func(dst []int64, _ []int32) { clear(dst) }), nil
	case x.dt.ID() == arrow.TIME32:
		x = convert[int32, int64](n, x, int64s)
	}
	return unary(n, x, int64s, func(dst, a []int64) { calendar.Clocks(dst, a, per, z, n.Name) }), nil
}

// epoch binds the seconds since 1970, of times of day and durations those since their zero.
func (b *binder) epoch(n *ast.Node, x *expr) (*expr, error) {
	if !isInstant(x.dt) && !isClock(x.dt) && x.dt.ID() != arrow.DURATION {
		_, err := b.localTime(n, x)
		return nil, err
	}
	per := calendar.PerSecond(x.dt)
	if x.dt.ID() == arrow.DATE32 || x.dt.ID() == arrow.TIME32 {
		return unary(n, x, float64s, func(dst []float64, a []int32) {
			for i, v := range a {
				if per == 0 {
					dst[i] = float64(v) * calendar.DaySeconds
				} else {
					dst[i] = float64(v) / float64(per)
				}
			}
		}), nil
	}
	return unary(n, x, float64s, func(dst []float64, a []int64) {
		for i, v := range a {
			dst[i] = float64(v) / float64(per)
		}
	}), nil
}

// castInstant converts dates and timestamps. A timestamp without a zone has its local time in one.
func (b *binder) castInstant(n *ast.Node, x *expr, dt arrow.DataType) (*expr, error) {
	for _, t := range []arrow.DataType{x.dt, dt} {
		if _, ok := calendar.ZoneOf(zoned(t)); !ok {
			return nil, fail(n, "the time zone %q is not known here", ast.Shorten(zoned(t)))
		}
	}
	from, _ := calendar.ZoneOf(zoned(x.dt))
	to, _ := calendar.ZoneOf(zoned(dt))
	if zoned(x.dt) != "" && zoned(dt) != "" { // the same instant
		from, to = calendar.Zone{}, calendar.Zone{}
	}
	out, err := b.changeUnit(n, x, dt, from, to)
	if err == nil && dt.ID() == arrow.DATE32 && from.Location == nil {
		out.arg, out.least = x.node, calendar.InUnits(x.dt, from, func(y int64) int64 { return y })
	}
	return out, err
}

// changeUnit converts times between units and zones, rounding down.
func (b *binder) changeUnit(n *ast.Node, x *expr, dt arrow.DataType, from, to calendar.Zone) (*expr, error) {
	a, c := calendar.PerSecond(x.dt), calendar.PerSecond(dt)
	one := func(o, p *calendar.Offsets) func(v int64) (int64, bool) {
		return func(v int64) (int64, bool) {
			var seconds, rest int64 // local time
			if a == 0 {
				seconds = v * calendar.DaySeconds
			} else {
				seconds, rest = text.FloorDiv(v, a)
				seconds += o.At(seconds)
			}
			if c == 0 {
				day, _ := text.FloorDiv(seconds, calendar.DaySeconds)
				return day, day >= math.MinInt32 && day <= math.MaxInt32
			}
			seconds = p.Instant(seconds)
			if c >= max(a, 1) {
				rest *= c / max(a, 1)
			} else {
				rest /= a / c
			}
			hi := new(big.Int).SetInt64(0)
			if seconds > math.MaxInt64/c-1 || seconds < math.MinInt64/c+1 {
				hi.Mul(big.NewInt(seconds), big.NewInt(c)).Add(hi, big.NewInt(rest))
				return hi.Int64(), hi.IsInt64()
			}
			return seconds*c + rest, true
		}
	}
	why := func(v string) string { return outOfRange(v, text.Type(dt)) }
	switch {
	case a == 0 && c == 0:
		return checked(n, x, dt, func(v int32) (int32, bool) { return v, true }, func(v int32) string { return "" }), nil
	case a == 0:
		return perRow(n, x, dt, func() func(v int32) (int64, bool) {
			f := one(from.Offsets(), to.Offsets())
			return func(v int32) (int64, bool) { return f(int64(v)) }
		}, func(v int32) string { return why(string(text.AppendDate(nil, int64(v)))) }), nil
	case c == 0:
		return perRow(n, x, dt, func() func(v int64) (int32, bool) {
			f := one(from.Offsets(), to.Offsets())
			return func(v int64) (int32, bool) { r, ok := f(v); return int32(r), ok }
		}, func(v int64) string { return why(string(text.AppendTimestamp(nil, v, a, false))) }), nil
	}
	return perRow(n, x, dt, func() func(v int64) (int64, bool) { return one(from.Offsets(), to.Offsets()) },
		func(v int64) string { return why(string(text.AppendTimestamp(nil, v, a, false))) }), nil
}

// perRow is checked with a function that is made anew for each evaluation, because it remembers.
func perRow[T, R any](n *ast.Node, x *expr, dt arrow.DataType, one func() func(v T) (R, bool), why func(v T) string) *expr {
	out := function(n, dt, []*expr{x}, nil)
	out.eval = func(e *env) (arrow.Array, error) { return checked(n, x, dt, one(), why).eval(e) }
	return out
}

// dateOf binds date(x).
func (b *binder) dateOf(n *ast.Node, x *expr) (*expr, error) {
	if x.lit != nil {
		return b.typed(x, arrow.FixedWidthTypes.Date32)
	}
	if isText(x.dt) {
		return b.cast(n, x, arrow.FixedWidthTypes.Date32)
	}
	if _, err := b.localTime(n, x); err != nil {
		return nil, err
	}
	return b.cast(n, x, arrow.FixedWidthTypes.Date32)
}

// truncate binds date_trunc(unit, x). The result has the type of x.
func (b *binder) truncate(n *ast.Node, unit, x *expr) (*expr, error) {
	if unit.lit == nil || unit.lit.Lit.Kind != ast.LitString {
		return nil, fail(unit.node, "expected a unit such as 'month', found %s", ast.Shorten(unit.node.String()))
	}
	word := strings.ToLower(unit.lit.Lit.Text)
	first, nanos := calendar.Truncations[word], calendar.ClockUnits[word]
	if first == nil && nanos == 0 {
		return nil, fail(unit.node, "%s is no unit: write decade, year, quarter, month, week, day, hour, minute, second, millisecond or microsecond", unit.lit.Lit.Describe())
	}
	z, err := b.localTime(n, x)
	if err != nil {
		return nil, err
	}
	per := calendar.PerSecond(x.dt)
	if per == 0 {
		if first == nil {
			first, word = calendar.Truncations["day"], "day"
		}
		out := unary(n, x, x.dt, func(dst, a []int32) { calendar.OfDays(dst, a, first) })
		out.arg, out.least = x.node, func(y *big.Int) *big.Int { return calendar.CeilDay(word, y) }
		return out, nil
	}
	step := nanos / (1e9 / per) // of clock units
	out := function(n, x.dt, []*expr{x}, func(e *env) (arrow.Array, error) {
		xs, err := e.array(x)
		if err != nil {
			return nil, err
		}
		defer xs.Release()
		out := arrowutil.NewBuffer(e.mem, 8*e.rows)
		dst, a := arrowutil.As[int64](out.Bytes()), arrowutil.Values[int64](xs)
		unit := calendar.TruncateTimes(dst, a, per, step, z, first)
		valid, nulls := e.valid(xs)
		least, most := math.MinInt64/unit, math.MaxInt64/unit
		for i, v := range dst {
			if dst[i] = v * unit; (v < least || v > most) && e.counts(valid, i) {
				arrowutil.Make(x.dt, e.rows, []*memory.Buffer{valid, out}, nil, nulls).Release()
				return nil, fail(n, "the %s of %s is out of the range of %s", word, text.AppendTimestamp(nil, a[i], per, false), text.Type(x.dt))
			}
		}
		return arrowutil.Make(x.dt, e.rows, []*memory.Buffer{valid, out}, nil, nulls), nil
	})
	if z.UTC() {
		out.arg, out.least = x.node, func(y *big.Int) *big.Int {
			if first == nil {
				return new(big.Int).Mul(calendar.CeilDiv(y, big.NewInt(max(step, 1))), big.NewInt(max(step, 1)))
			}
			whole := big.NewInt(calendar.DaySeconds * per)
			return whole.Mul(calendar.CeilDay(word, calendar.CeilDiv(y, whole)), big.NewInt(calendar.DaySeconds*per))
		}
	}
	return out, nil
}

// moments binds arithmetic of dates, timestamps and durations; nil for other operands. A date and a number of days make a date.
func (b *binder) moments(n *ast.Node, x, y *expr) (out *expr, err error) {
	if n.Op != ast.OpAdd && n.Op != ast.OpSub {
		return nil, nil
	}
	if n.Op == ast.OpAdd && !isInstant(x.dt) {
		x, y = y, x
	}
	if !isInstant(x.dt) && !(isInstant(y.dt) && x.lit != nil) {
		return nil, nil
	}
	if x, err = b.momentOf(x, y.dt); err == nil {
		y, err = b.momentOf(y, x.dt)
	}
	if err != nil {
		return nil, err
	}
	date32 := arrow.FixedWidthTypes.Date32
	switch {
	case x.dt == date32 && y.dt == date32 && n.Op == ast.OpSub:
		return b.operate(n, convert[int32, int64](n, x, int64s), convert[int32, int64](n, y, int64s))
	case x.dt == date32 && isInteger(y.dt):
		days, err := b.operate(n, convert[int32, int64](n, x, int64s), y)
		if err != nil {
			return nil, err
		}
		return checked(n, days, date32, func(v int64) (int32, bool) { return int32(v), v == int64(int32(v)) },
			func(v int64) string { return fmt.Sprintf("day %d since 1970 is out of the range of date32", v) }), nil
	case isInstant(y.dt) && n.Op == ast.OpSub && (zoned(x.dt) == "") == (zoned(y.dt) == ""):
		return b.between(n, x, y)
	}
	return nil, fail(n, "there is no %s of %s and %s", map[ast.Op]string{ast.OpAdd: "sum", ast.OpSub: "difference"}[n.Op], text.Type(x.dt), text.Type(y.dt))
}

// momentOf gives a literal beside a date or timestamp its type: a time in quotes is one of the same type.
func (b *binder) momentOf(x *expr, other arrow.DataType) (*expr, error) {
	if x.lit != nil && x.lit.Lit.Kind == ast.LitString && isInstant(other) {
		return b.typed(x, other)
	}
	return b.natural(x)
}

// between binds the difference of two times as a duration, in the finer of their units.
func (b *binder) between(n *ast.Node, x, y *expr) (*expr, error) {
	unit := arrow.Second
	for _, dt := range []arrow.DataType{x.dt, y.dt} {
		switch t := dt.(type) {
		case *arrow.TimestampType:
			unit = max(unit, t.Unit)
		case *arrow.Date64Type:
			unit = max(unit, arrow.Millisecond)
		}
	}
	dt := &arrow.TimestampType{Unit: unit}
	var err error
	if x, err = b.changeUnit(n, x, dt, calendar.Zone{}, calendar.Zone{}); err == nil {
		y, err = b.changeUnit(n, y, dt, calendar.Zone{}, calendar.Zone{})
	}
	if err != nil {
		return nil, err
	}
	out := function(n, &arrow.DurationType{Unit: unit}, []*expr{x, y}, nil)
	out.eval = func(e *env) (arrow.Array, error) {
		return binary(e, out, x, y, numbers.Int64Loops[ast.OpSub], numbers.Int64Fails(ast.OpSub))
	}
	return out, nil
}
