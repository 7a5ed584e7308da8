package lower

import (
	"slices"

	"github.com/amudai/amudai-go/traceql/internal/eval"
	"github.com/amudai/amudai-go/traceql/internal/lang"
	"github.com/amudai/amudai-go/traceql/internal/spans"
)

// TraceColumns are the columns of whole traces that the evaluation of a query needs, as indexes in any order.
func TraceColumns(s *spans.Schema, query lang.Stage) []int {
	need := Columns(s, nil, spans.TraceID, spans.SpanID, spans.ParentID, spans.KindName, spans.Start)
	need = append(need, columnOr(s, spans.End, spans.Duration)...)
	lang.Walk(query, func(stage lang.Stage) {
		switch stage.(type) {
		case *lang.SpansetFilter, *lang.ScalarFilter, *lang.GroupBy, *lang.Metrics: // not select()
			need = append(need, Columns(s, stage)...)
		}
	})
	return need
}

// MatchColumns are the columns that a search by matches needs of a span: of its evaluation, and of results.
func MatchColumns(s *spans.Schema, query lang.Stage, fields []Field) []int {
	need := append(Columns(s, nil, spans.TraceID, spans.SpanID, spans.Start), spanColumns(s, fields)...)
	lang.Walk(query, func(stage lang.Stage) { need = append(need, Columns(s, stage)...) })
	return need
}

// ResultColumns are the columns that the spans of a result are made of.
func ResultColumns(s *spans.Schema, fields []Field) []int {
	return append(spanColumns(s, fields), s.Needs(eval.RootService)...)
}

// spanColumns are those of ResultColumns but for what results have of the root span.
func spanColumns(s *spans.Schema, fields []Field) []int {
	need := append(Columns(s, nil, spans.Name), columnOr(s, spans.Duration, spans.Start, spans.End)...)
	for _, f := range fields {
		need = append(need, s.Needs(f.Field)...)
	}
	return need
}

// columnOr is a column and, where it may be null, those that are used instead.
func columnOr(s *spans.Schema, name string, others ...string) []int {
	if c, ok := s.One(name); ok && !c.Nullable {
		return []int{c.Index}
	}
	return Columns(s, nil, append(others, name)...)
}

// Columns are the columns with some names, and those of the fields of a stage, as indexes in any order.
func Columns(s *spans.Schema, stage lang.Stage, names ...string) (need []int) {
	lang.Expressions(stage, func(e *lang.Expr) {
		if e.Op != lang.FieldOf {
			return
		}
		switch need = append(need, s.Needs(e.Field)...); e.Field.Intrinsic {
		case lang.TraceRootName:
			names = append(names, spans.Name)
		case lang.TraceRootService:
			need = append(need, s.Needs(eval.RootService)...)
		}
	})
	for _, name := range names {
		if c, ok := s.One(name); ok {
			need = append(need, c.Index)
		}
	}
	return need
}

// Sorted is a list in order, each number once.
func Sorted(list []int) []int {
	slices.Sort(list)
	return slices.Compact(list)
}
