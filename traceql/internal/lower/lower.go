package lower

import (
	"encoding/hex"
	"math"
	"math/big"
	"slices"
	"strings"
	"time"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/amudai/amudai-go/filter"
	"github.com/amudai/amudai-go/traceql/internal/eval"
	"github.com/amudai/amudai-go/traceql/internal/lang"
	"github.com/amudai/amudai-go/traceql/internal/spans"
	"github.com/amudai/amudai-go/traceql/internal/value"
)

// Lower is the condition of the rows for which an expression is true or, without want, is not. A nil expression is always true.
func Lower(s *spans.Schema, e *lang.Expr, want bool) Cond {
	return lowerer{s}.condition(e, want)
}

type lowerer struct{ s *spans.Schema }

func (l lowerer) condition(e *lang.Expr, want bool) Cond {
	if e == nil {
		return constant(want)
	}
	switch e.Op {
	case lang.Not:
		return l.condition(e.X, !want)
	case lang.And, lang.Or:
		var parts []Cond
		for _, operand := range e.Chain(e.Op) {
			parts = append(parts, l.condition(operand, want))
		}
		if (e.Op == lang.And) == want {
			return and(parts...)
		}
		return or(parts...)
	case lang.FieldOf:
		return l.comparison(e.Field, lang.Eq, value.OfBool(true), nil, want)
	}
	if v, ok := eval.Constant(e); ok {
		return constant(v.Bool() == want)
	}
	if f, missing := e.NilTest(); f != nil {
		return l.missing(f, missing == want)
	}
	if f, op, v, ok := fieldAndValue(e); ok {
		return l.comparison(f, op, v, e, want)
	}
	return l.several(e, want)
}

// several is a comparison of more than one field: for it to be true, all of them must be there.
func (l lowerer) several(e *lang.Expr, want bool) Cond {
	if !want {
		return maybe
	}
	parts := []Cond{maybe}
	e.Walk(func(e *lang.Expr) bool {
		if e.Op == lang.FieldOf && !OfTrace(e.Field) {
			parts = append(parts, l.missing(e.Field, false))
		}
		return true
	})
	return and(parts...).inexact()
}

// fieldAndValue takes a comparison of a field with a constant apart. A field on the right is moved to the left.
func fieldAndValue(e *lang.Expr) (f *lang.Field, op lang.Op, v value.Value, ok bool) {
	if !e.Op.IsComparison() {
		return nil, 0, v, false
	}
	if v, ok = eval.Constant(e.Y); ok && e.X.Op == lang.FieldOf {
		return e.X.Field, e.Op, v, true
	}
	if v, ok = eval.Constant(e.X); ok && e.Y.Op == lang.FieldOf {
		return e.Y.Field, mirrored(e.Op), v, true
	}
	return nil, 0, v, false
}

func mirrored(op lang.Op) lang.Op {
	switch op {
	case lang.Lt:
		return lang.Gt
	case lang.Le:
		return lang.Ge
	case lang.Gt:
		return lang.Lt
	case lang.Ge:
		return lang.Le
	}
	return op
}

// OfTrace reports whether a field needs other spans of the trace.
func OfTrace(f *lang.Field) bool {
	if f.Parent {
		return true
	}
	switch f.Intrinsic {
	case lang.TraceDuration, lang.TraceRootName, lang.TraceRootService, lang.SpanChildCount, lang.NestedSetParent, lang.NestedSetLeft, lang.NestedSetRight:
		return true
	}
	return false
}

// comparison is field op v; e is the expression, for its regular expression.
func (l lowerer) comparison(f *lang.Field, op lang.Op, v value.Value, e *lang.Expr, want bool) Cond {
	if f.Intrinsic == lang.NestedSetParent && !f.Parent {
		return l.nestedSetParent(op, v, want)
	}
	if OfTrace(f) {
		return maybe
	}
	c := comparison{op: op, value: v, want: want}
	if e != nil && (op == lang.Match || op == lang.NotMatch) {
		c.pattern, c.match = e.Regexp.String(), e.Regexp.MatchString
	}
	if f.Intrinsic != lang.NoIntrinsic {
		return l.intrinsic(f.Intrinsic, c)
	}
	if f.Scope != lang.Unscoped {
		return l.attribute(f.Scope, f.Name, c)
	}
	// The first scope that has the attribute decides.
	var alternatives, before []Cond
	for _, scope := range lang.Scopes {
		here := append(slices.Clone(before), l.attribute(scope, f.Name, c))
		if !want {
			here = append(here, l.attributeMissing(scope, f.Name, false))
		}
		alternatives = append(alternatives, and(here...))
		before = append(before, l.attributeMissing(scope, f.Name, true))
	}
	if !want {
		alternatives = append(alternatives, and(before...))
	}
	return or(alternatives...)
}

// nestedSetParent knows the number of root spans, which is less than that of the others.
func (l lowerer) nestedSetParent(op lang.Op, v value.Value, want bool) Cond {
	root := holds(op, value.OfInt(-1), v, nil) == want
	other := holds(op, value.OfInt(0), v, nil) == want
	zero, ok := value.Compare(v, value.OfInt(0))
	if root && !other && ok && zero <= 0 && (op == lang.Lt || op == lang.Le || op == lang.Eq) && want {
		return l.root().inexact()
	}
	return maybe
}

// comparison is a comparison with a value, or its negation.
type comparison struct {
	op      lang.Op
	value   value.Value
	pattern string // of a regular expression
	match   func(string) bool
	want    bool
}

// holds reports whether a comparison is true for a value.
func holds(op lang.Op, a, b value.Value, match func(string) bool) bool {
	return eval.Compare(op, a, b, match)
}

// test reports whether a value is one of those that are looked for.
func (c comparison) test(v value.Value) bool { return holds(c.op, v, c.value, c.match) == c.want }

func (c comparison) negative() bool { return c.op == lang.Ne || c.op == lang.NotMatch }

// column compares a column whose missing values do not count. A missing value is no match, and thus one of a negation.
func (c comparison) column(col spans.Column) Cond {
	positive, ok := c.positive(filter.Col(col.Path), col)
	switch {
	case !ok && c.want:
		return and(maybe, notNull(col))
	case !ok:
		return maybe
	}
	if positive.none || positive.all {
		return constant(positive.all == c.want)
	}
	if c.want {
		return positive
	}
	if !positive.exact {
		return maybe
	}
	return or(isNull(col), of(filter.Not(positive.expr)))
}

func isNull(col spans.Column) Cond {
	if !col.Nullable {
		return never
	}
	return of(filter.IsNull(filter.Col(col.Path)))
}

func notNull(col spans.Column) Cond {
	if !col.Nullable {
		return always
	}
	return of(filter.Not(filter.IsNull(filter.Col(col.Path))))
}

// positive is the comparison without want; ok is false if no filter can tell.
func (c comparison) positive(x filter.Expr, col spans.Column) (cond Cond, ok bool) {
	if c.op == lang.Match || c.op == lang.NotMatch {
		if col.Class == spans.List {
			return maybe, false
		}
		if col.Class != spans.Text {
			return never, true
		}
		m := filter.Matches(x, c.pattern)
		if c.op == lang.NotMatch {
			m = filter.Not(m)
		}
		return of(m), true
	}
	lit, ok := literal(c.value, col)
	if !ok {
		return maybe, false
	}
	switch c.op {
	case lang.Eq:
		return of(filter.Eq(x, lit)), true
	case lang.Ne:
		return of(filter.Ne(x, lit)), true
	case lang.Lt:
		return of(filter.Lt(x, lit)), true
	case lang.Le:
		return of(filter.Le(x, lit)), true
	case lang.Gt:
		return of(filter.Gt(x, lit)), true
	}
	return of(filter.Ge(x, lit)), true
}

// relevant reports whether values of a column can be compared with a value.
func relevant(v value.Value, class spans.Class) bool {
	switch class {
	case spans.Text:
		return v.Kind() == value.String
	case spans.Integer, spans.Float, spans.Duration64:
		return v.Kind().IsNumber()
	case spans.Bool:
		return v.Kind() == value.Bool
	}
	return class == spans.List
}

// literal is a value as a literal of a filter; ok is false if there is none that means exactly the same.
func literal(v value.Value, col spans.Column) (lit any, ok bool) {
	switch v.Kind() {
	case value.String:
		return v.Text(), col.Class == spans.Text
	case value.Bool:
		return v.Bool(), col.Class == spans.Bool
	case value.Int, value.Duration:
		if col.Class == spans.Duration64 {
			return time.Duration(v.Int64()), true
		}
		return v.Int64(), col.Class == spans.Integer || isFloat64(col)
	case value.Float:
		f := v.Float64()
		if math.IsNaN(f) || math.IsInf(f, 0) {
			return nil, false
		}
		if f == math.Trunc(f) { // a whole number is exact
			n, _ := big.NewFloat(f).Int(nil)
			return n, col.Class == spans.Integer && math.Abs(f) < 1e30 || isFloat64(col)
		}
		return f, col.Class == spans.Integer || isFloat64(col)
	}
	return nil, false
}

func isFloat64(col spans.Column) bool { return col.Type.ID() == arrow.FLOAT64 }

// attribute compares an attribute in a scope.
func (l lowerer) attribute(scope lang.Scope, name string, c comparison) Cond {
	if scope == lang.EventScope || scope == lang.LinkScope {
		return l.inLists(scope, name, c)
	}
	var cols, others []spans.Column
	for _, col := range l.s.Columns(spans.AttributeName(scope, name)) {
		if relevant(c.value, col.Class) {
			cols = append(cols, col)
		} else {
			others = append(others, col)
		}
	}
	var parts []Cond
	for _, col := range cols {
		parts = append(parts, c.column(col))
	}
	var cond Cond
	switch {
	case c.want:
		cond = or(parts...)
	case len(cols) > 1 && c.negative():
		// A row with values in several columns has an array, which does not differ from its elements.
		cond = maybe
	default:
		cond = and(parts...)
	}
	if len(cols) > 1 && c.negative() || len(cols) > 0 && len(others) > 0 && c.negative() {
		cond = cond.inexact()
	}
	if rest, ok := l.s.Rest(scope); ok {
		return or(cond, l.contains(rest, name)).inexact()
	}
	return cond
}

// contains is the condition that a protobuf message has a text somewhere.
func (l lowerer) contains(col spans.Column, text string) Cond {
	if text == "" {
		return notNull(col).inexact()
	}
	return of(filter.Contains(filter.Col(col.Path), text)).inexact()
}

// attributeMissing is the condition that an attribute is missing in a scope or, without want, is there.
func (l lowerer) attributeMissing(scope lang.Scope, name string, want bool) Cond {
	if scope == lang.EventScope || scope == lang.LinkScope {
		col, ok := l.s.Lists(scope)
		switch {
		case !ok:
			return constant(want)
		case want:
			return maybe
		}
		return l.contains(col, name)
	}
	var parts []Cond
	for _, col := range l.s.Columns(spans.AttributeName(scope, name)) {
		if want {
			parts = append(parts, isNull(col))
		} else {
			parts = append(parts, notNull(col))
		}
	}
	rest, ok := l.s.Rest(scope)
	switch {
	case want && ok:
		return and(parts...).inexact()
	case want:
		return and(parts...)
	case ok:
		return or(append(parts, l.contains(rest, name))...).inexact()
	}
	return or(parts...)
}

// inLists compares an attribute of events or links.
func (l lowerer) inLists(scope lang.Scope, name string, c comparison) Cond {
	col, ok := l.s.Lists(scope)
	switch {
	case !ok:
		return constant(!c.want)
	case !c.want:
		return maybe
	}
	parts := []Cond{l.contains(col, name)}
	if text := c.value.Text(); c.op == lang.Eq && text != "" {
		parts = append(parts, l.contains(col, text))
	}
	return and(parts...)
}

// missing is the condition that a field is nil or, without want, is not.
func (l lowerer) missing(f *lang.Field, want bool) Cond {
	switch {
	case OfTrace(f):
		return maybe
	case f.Intrinsic == lang.NoIntrinsic:
		var parts []Cond
		for _, scope := range spans.ScopesOf(f) {
			parts = append(parts, l.attributeMissing(scope, f.Name, want))
		}
		if want {
			return and(parts...)
		}
		return or(parts...)
	}
	switch f.Intrinsic {
	case lang.HasParent, lang.SpanParentID:
		if want {
			return l.root()
		}
		return l.child()
	case lang.EventName, lang.EventTime:
		return l.listMissing(lang.EventScope, want)
	case lang.LinkSpanID, lang.LinkTraceID:
		return l.listMissing(lang.LinkScope, want)
	}
	return constant(!want) // other intrinsics are always there
}

func (l lowerer) listMissing(scope lang.Scope, want bool) Cond {
	col, ok := l.s.Lists(scope)
	switch {
	case !ok:
		return constant(want)
	case want:
		return maybe
	}
	return notNull(col).inexact()
}

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
	return or(isNull(col), of(filter.In(filter.Col(col.Path), noParent(col)...)))
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
	case lang.SpanName:
		return l.text(spans.Name, c)
	case lang.SpanStatusMessage:
		return l.text(spans.StatusMessage, c)
	case lang.ScopeName:
		return l.text(spans.ScopeName, c)
	case lang.ScopeVersion:
		return l.text(spans.ScopeVersion, c)
	case lang.SpanKindOf:
		return l.enumeration(spans.KindName, value.OfSpanKind(0), c)
	case lang.SpanStatus:
		return l.enumeration(spans.Status, value.OfStatus(0), c)
	case lang.SpanDuration:
		return l.duration(c)
	case lang.TraceID:
		return l.id(spans.TraceID, c)
	case lang.SpanID:
		return l.id(spans.SpanID, c)
	case lang.SpanParentID:
		return l.id(spans.ParentID, c)
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
		return or(cond, isNull(col))
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
	return or(c.column(col), isNull(col).inexact()) // without a duration, it is the time from start to end
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
	return or(isNull(col), of(filter.Not(equal)))
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

// NotNull is the condition that a column has a value.
func NotNull(col spans.Column) filter.Expr { return notNull(col).Filter() }

// Present is the condition that a field has a value.
func Present(s *spans.Schema, f *lang.Field) Cond { return lowerer{s}.missing(f, false) }
