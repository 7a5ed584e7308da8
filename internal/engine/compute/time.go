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
func (b *binder) localTime(n *ast.Node, x *expr) (zone, error) {
	if !isInstant(x.dt) {
		return zone{}, fail(x.node, "%s is of type %s, and %s takes dates and timestamps", ast.Shorten(x.node.String()), text.Type(x.dt), n.Name)
	}
	z, ok := zoneOf(zoned(x.dt))
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
	part := dateParts[n.Name]
	var out *expr
	if x.dt.ID() == arrow.DATE32 {
		out = unary(n, x, int64s, func(dst []int64, a []int32) { ofDays(dst, a, part) })
	} else {
		out = unary(n, x, int64s, func(dst, a []int64) {
			localDays(dst, a, perSecond(x.dt), z)
			ofDays(dst, dst, part)
		})
	}
	if n.Name == "year" && z.location == nil {
		out.arg, out.least = x.node, inUnits(x.dt, z, func(y int64) int64 { return dayOf(y, 1, 1) })
	}
	return out, nil
}

// inUnits is the first value of a type on the day that a function gives.
func inUnits(dt arrow.DataType, z zone, day func(y int64) int64) func(y *big.Int) *big.Int {
	per := perSecond(dt)
	return func(y *big.Int) *big.Int {
		v := int64(math.MaxInt32) * 400 // beyond all dates
		if y.IsInt64() && y.Int64() < v {
			v = max(y.Int64(), -v)
		}
		out := big.NewInt(day(v))
		if per == 0 {
			return out
		}
		out.Mul(out, big.NewInt(daySeconds)).Sub(out, big.NewInt(z.offset))
		return out.Mul(out, big.NewInt(per))
	}
}

// localDays converts timestamps to days of the local time, rounded down.
func localDays(dst, a []int64, per int64, z zone) {
	if z.utc() {
		floorDivs(dst, a, daySeconds*per)
		return
	}
	localSeconds(dst, a, per, z)
	floorDivs(dst, dst, daySeconds)
}

// localSeconds converts timestamps to seconds of the local time, rounded down.
func localSeconds(dst, a []int64, per int64, z zone) {
	floorDivs(dst, a, per)
	o := z.offsets()
	for i, s := range dst {
		dst[i] = s + o.at(s)
	}
}

// clockPart binds hour, minute and second.
func (b *binder) clockPart(n *ast.Node, x *expr) (*expr, error) {
	per, z := perSecond(x.dt), zone{}
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
	return unary(n, x, int64s, func(dst, a []int64) { clocks(dst, a, per, z, n.Name) }), nil
}

// clocks finds a part of times of day.
func clocks(dst, a []int64, per int64, z zone, name string) {
	unit := clockUnits[name] / (1e9 / per)
	if !z.utc() {
		floorDivs(dst, a, per)
		o := z.offsets()
		for i, s := range dst {
			_, inDay := text.FloorDiv(s, daySeconds) // s and an offset may be out of range
			dst[i] = inDay + o.at(s)
		}
		a, unit = dst, clockUnits[name]/1e9
	}
	floorDivMods(dst, a, unit, clockMost[name])
}

// epoch binds the seconds since 1970, of times of day and durations those since their zero.
func (b *binder) epoch(n *ast.Node, x *expr) (*expr, error) {
	if !isInstant(x.dt) && !isClock(x.dt) && x.dt.ID() != arrow.DURATION {
		_, err := b.localTime(n, x)
		return nil, err
	}
	per := perSecond(x.dt)
	if x.dt.ID() == arrow.DATE32 || x.dt.ID() == arrow.TIME32 {
		return unary(n, x, float64s, func(dst []float64, a []int32) {
			for i, v := range a {
				if per == 0 {
					dst[i] = float64(v) * daySeconds
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
		if _, ok := zoneOf(zoned(t)); !ok {
			return nil, fail(n, "the time zone %q is not known here", ast.Shorten(zoned(t)))
		}
	}
	from, _ := zoneOf(zoned(x.dt))
	to, _ := zoneOf(zoned(dt))
	if zoned(x.dt) != "" && zoned(dt) != "" { // the same instant
		from, to = zone{}, zone{}
	}
	out, err := b.changeUnit(n, x, dt, from, to)
	if err == nil && dt.ID() == arrow.DATE32 && from.location == nil {
		out.arg, out.least = x.node, inUnits(x.dt, from, func(y int64) int64 { return y })
	}
	return out, err
}

// changeUnit converts times between units and zones, rounding down.
func (b *binder) changeUnit(n *ast.Node, x *expr, dt arrow.DataType, from, to zone) (*expr, error) {
	a, c := perSecond(x.dt), perSecond(dt)
	one := func(o, p *offsets) func(v int64) (int64, bool) {
		return func(v int64) (int64, bool) {
			var seconds, rest int64 // local time
			if a == 0 {
				seconds = v * daySeconds
			} else {
				seconds, rest = text.FloorDiv(v, a)
				seconds += o.at(seconds)
			}
			if c == 0 {
				day, _ := text.FloorDiv(seconds, daySeconds)
				return day, day >= math.MinInt32 && day <= math.MaxInt32
			}
			seconds = p.instant(seconds)
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
			f := one(from.offsets(), to.offsets())
			return func(v int32) (int64, bool) { return f(int64(v)) }
		}, func(v int32) string { return why(string(text.AppendDate(nil, int64(v)))) }), nil
	case c == 0:
		return perRow(n, x, dt, func() func(v int64) (int32, bool) {
			f := one(from.offsets(), to.offsets())
			return func(v int64) (int32, bool) { r, ok := f(v); return int32(r), ok }
		}, func(v int64) string { return why(string(text.AppendTimestamp(nil, v, a, false))) }), nil
	}
	return perRow(n, x, dt, func() func(v int64) (int64, bool) { return one(from.offsets(), to.offsets()) },
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
	first, nanos := truncations[word], clockUnits[word]
	if first == nil && nanos == 0 {
		return nil, fail(unit.node, "%s is no unit: write decade, year, quarter, month, week, day, hour, minute, second, millisecond or microsecond", unit.lit.Lit.Describe())
	}
	z, err := b.localTime(n, x)
	if err != nil {
		return nil, err
	}
	per := perSecond(x.dt)
	if per == 0 {
		if first == nil {
			first, word = truncations["day"], "day"
		}
		out := unary(n, x, x.dt, func(dst, a []int32) { ofDays(dst, a, first) })
		out.arg, out.least = x.node, func(y *big.Int) *big.Int { return ceilDay(word, y) }
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
		unit := truncateTimes(dst, a, per, step, z, first)
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
	if z.utc() {
		out.arg, out.least = x.node, func(y *big.Int) *big.Int {
			if first == nil {
				return new(big.Int).Mul(ceilDiv(y, big.NewInt(max(step, 1))), big.NewInt(max(step, 1)))
			}
			whole := big.NewInt(daySeconds * per)
			return whole.Mul(ceilDay(word, ceilDiv(y, whole)), big.NewInt(daySeconds*per))
		}
	}
	return out, nil
}

// truncateTimes truncates times to multiples of a step of the local time, or to the first day of a period if there is a function for
// that. The results are multiples of the unit that it returns; dst gets the factors, because the products may be out of range.
func truncateTimes(dst, a []int64, per, step int64, z zone, first func(day int64) int64) (unit int64) {
	o := z.offsets()
	switch {
	case first != nil:
		localDays(dst, a, per, z)
		ofDays(dst, dst, first)
		if z.utc() {
			return daySeconds * per
		}
		for i, day := range dst {
			dst[i] = o.instant(day * daySeconds)
		}
		return per
	case z.utc() || step <= per: // offsets are whole seconds
		step = max(step, 1)
		floorDivs(dst, a, step)
		return step
	}
	floorDivs(dst, a, per)
	for i, s := range dst {
		_, over := text.FloorDiv(s+o.at(s), step/per)
		dst[i] = s - over
	}
	return per
}

// ceilDay is the first day of a period that is not before a day.
func ceilDay(word string, day *big.Int) *big.Int {
	if !day.IsInt64() || day.Int64() > math.MaxInt64/daySeconds || day.Int64() < math.MinInt64/daySeconds {
		return day
	}
	d := day.Int64()
	first := truncations[word](d)
	if first < d {
		first = behind[word](first)
	}
	return big.NewInt(first)
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
	if x, err = b.changeUnit(n, x, dt, zone{}, zone{}); err == nil {
		y, err = b.changeUnit(n, y, dt, zone{}, zone{})
	}
	if err != nil {
		return nil, err
	}
	out := function(n, &arrow.DurationType{Unit: unit}, []*expr{x, y}, nil)
	out.eval = func(e *env) (arrow.Array, error) {
		return binary(e, out, x, y, int64Loops[ast.OpSub], int64Fails(ast.OpSub))
	}
	return out, nil
}
