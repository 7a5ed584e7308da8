package lower

import (
	"encoding/hex"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/amudai/amudai-go/filter"
	"github.com/amudai/amudai-go/traceql/internal/lang"
	"github.com/amudai/amudai-go/traceql/internal/spans"
	"github.com/amudai/amudai-go/traceql/internal/value"
)

// noParent are the ids that root spans have as that of their parent.
func noParent(col spans.Column) []any {
	if _, fixed := col.Type.(*arrow.FixedSizeBinaryType); fixed {
		return []any{make([]byte, 8)}
	}
	return []any{[]byte{}, make([]byte, 8)}
}

// root is the condition that a span has no parent.
func (l lowerer) root() Cond {
	col, ok := l.s.One(spans.ParentID)
	if !ok {
		return always
	}
	return Or(isNull(col), of(filter.In(filter.Col(col.Path), noParent(col)...)))
}

func (l lowerer) child() Cond {
	col, ok := l.s.One(spans.ParentID)
	if !ok {
		return never
	}
	return of(filter.Not(filter.In(filter.Col(col.Path), noParent(col)...)))
}

// intrinsic compares an intrinsic.
func (l lowerer) intrinsic(i lang.Intrinsic, c comparison) Cond {
	switch i {
	case lang.SpanName, lang.SpanStatusMessage, lang.ScopeName, lang.ScopeVersion:
		return l.text(spans.ColumnOf(i), c)
	case lang.SpanKindOf:
		return l.enumeration(spans.KindName, value.OfSpanKind(0), c)
	case lang.SpanStatus:
		return l.enumeration(spans.Status, value.OfStatus(0), c)
	case lang.SpanDuration:
		return l.duration(c)
	case lang.TraceID, lang.SpanID, lang.SpanParentID:
		return l.id(spans.ColumnOf(i), c)
	case lang.EventName, lang.EventTime, lang.LinkSpanID, lang.LinkTraceID:
		return l.listIntrinsic(i, c)
	}
	return maybe
}

// withDefault compares a column whose missing values stand for a value.
func (l lowerer) withDefault(name string, missing value.Value, compare func(spans.Column) Cond, c comparison) Cond {
	col, ok := l.s.One(name)
	if !ok {
		return constant(c.test(missing))
	}
	cond := compare(col)
	if c.test(missing) {
		return Or(cond, isNull(col))
	}
	if !c.want {
		return and(cond, notNull(col))
	}
	return cond
}

func (l lowerer) text(name string, c comparison) Cond {
	if c.value.Kind() != value.String {
		return constant(!c.want)
	}
	return l.withDefault(name, value.OfString(""), c.column, c)
}

func (l lowerer) enumeration(name string, missing value.Value, c comparison) Cond {
	if c.value.Kind() != missing.Kind() {
		return constant(!c.want)
	}
	code := c
	code.value = value.OfInt(c.value.Int64())
	return l.withDefault(name, missing, code.column, c)
}

func (l lowerer) duration(c comparison) Cond {
	col, ok := l.s.One(spans.Duration)
	if !ok || col.Type.ID() == arrow.UINT64 && c.value.Kind() == value.Float {
		return maybe
	}
	if !relevant(c.value, col.Class) {
		return constant(!c.want)
	}
	return Or(c.column(col), isNull(col).inexact()) // without a duration, it is the time from start to end
}

// maxIDWidth bounds the widths of ids in binary columns.
const maxIDWidth = 32

// id compares an id with hexadecimal digits, whose leading zeros do not count.
func (l lowerer) id(name string, c comparison) Cond {
	if c.op != lang.Eq && c.op != lang.Ne {
		return maybe
	}
	digits := strings.TrimLeft(strings.ToLower(c.value.Text()), "0")
	col, ok := l.s.One(name)
	if !ok {
		c.value = value.OfString(digits)
		return constant(c.test(value.OfString("")))
	}
	differs := (c.op == lang.Eq) != c.want
	switch {
	case digits == "" && name != spans.ParentID:
		return maybe
	case digits == "" && differs:
		return l.child()
	case digits == "":
		return l.root()
	}
	content, err := hex.DecodeString(strings.Repeat("0", len(digits)%2) + digits)
	if err != nil {
		return constant(differs)
	}
	equal := filter.In(filter.Col(col.Path), paddings(content, col)...)
	if !differs {
		return of(equal)
	}
	return Or(isNull(col), of(filter.Not(equal)))
}

// paddings are an id in all widths that a column may have.
func paddings(id []byte, col spans.Column) (list []any) {
	from, to := len(id), maxIDWidth
	if fixed, ok := col.Type.(*arrow.FixedSizeBinaryType); ok {
		from, to = max(from, fixed.ByteWidth), fixed.ByteWidth
	}
	for n := from; n <= to; n++ {
		list = append(list, append(make([]byte, n-len(id)), id...))
	}
	return list
}

func (l lowerer) listIntrinsic(i lang.Intrinsic, c comparison) Cond {
	scope := lang.LinkScope
	if i == lang.EventName || i == lang.EventTime {
		scope = lang.EventScope
	}
	present := l.listMissing(scope, !c.want)
	col, ok := l.s.Lists(scope)
	if !ok || !c.want || c.op != lang.Eq {
		return present
	}
	text := c.value.Text()
	if i == lang.EventTime || text == "" {
		return present
	}
	if i != lang.EventName {
		id, err := hex.DecodeString(text)
		if err != nil || len(id) == 0 || id[0] == 0 {
			return present
		}
		text = string(id)
	}
	return l.contains(col, text)
}
