package lower

import (
	"slices"
	"strings"

	"github.com/amudai/amudai-go/traceql/internal/lang"
	"github.com/amudai/amudai-go/traceql/internal/spans"
)

// Field is a field of the spans of a result.
type Field struct {
	Name  string
	Field *lang.Field
}

// ResultFields are the fields of conditions and select(), besides those that each span or trace of a result has.
func ResultFields(s lang.Stage) (list []Field) {
	always := []lang.Intrinsic{
		lang.SpanID, lang.SpanName, lang.SpanDuration, lang.TraceID, lang.TraceDuration, lang.TraceRootName, lang.TraceRootService, lang.HasParent,
	}
	seen := map[string]bool{}
	lang.Expressions(s, func(e *lang.Expr) {
		if e.Op != lang.FieldOf || !e.Field.Parent && slices.Contains(always, e.Field.Intrinsic) {
			return
		}
		name := e.Field.String()
		if !seen[name] {
			seen[name] = true
			list = append(list, Field{name, e.Field})
		}
	})
	return list
}

// ComparedFields are the attributes in columns of their own, and the intrinsics with values that repeat.
func ComparedFields(s *spans.Schema) (list []Field) {
	for _, name := range []string{"name", "status", "statusMessage", "kind", "rootName", "rootServiceName", "instrumentation:name", "instrumentation:version"} {
		if f, err := lang.ParseField(name); err == nil {
			list = append(list, Field{name, f})
		}
	}
	seen := map[string]bool{}
	for _, name := range s.Names() {
		for _, scope := range lang.Scopes {
			prefix := spans.Prefix(scope)
			if attribute, ok := strings.CutPrefix(name, prefix); ok && prefix != "" && !seen[name] {
				seen[name] = true
				f := &lang.Field{Scope: scope, Name: attribute}
				list = append(list, Field{f.String(), f})
			}
		}
	}
	return list
}
