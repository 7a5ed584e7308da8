// Package spans reads spans out of Arrow tables with a row for each: which columns stand for a field of a query, and the values in them.
package spans

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
	"github.com/amudai/amudai-go/internal/arrow/extension"
	"github.com/amudai/amudai-go/internal/arrow/kinds"
	"github.com/amudai/amudai-go/internal/format/arrowmap"
	"github.com/amudai/amudai-go/internal/format/schema"
	"github.com/amudai/amudai-go/traceql/internal/lang"
)

// Names of columns.
const (
	TraceID       = "trace:id"
	SpanID        = "span:id"
	ParentID      = "span:parent_id"
	Name          = "span:name"
	KindName      = "span:kind"
	Start         = "span:start"
	End           = "span:end"
	Duration      = "span:duration"
	Status        = "span:status"
	StatusMessage = "span:status_message"
	ScopeName     = "scope:name"
	ScopeVersion  = "scope:version"
	Events        = "span:events" // a Span with only its events, as protobuf
	Links         = "span:links"  // a Span with only its links, as protobuf
	RootService   = "resource.service.name"
)

// scopes has the prefix of the columns of the attributes of a scope, and the column of its attributes without a column of their own: a
// protobuf message whose field attrs holds them.
var scopes = [...]struct {
	prefix, rest string
	attrs        int
}{
	lang.SpanScope:            {"span.", "span:attrs_ext", 9},
	lang.ResourceScope:        {"resource.", "resource:attrs_ext", 1},
	lang.InstrumentationScope: {"scope.", "scope:attrs_ext", 3},
	lang.LinkScope:            {},
}

// Class is how the values of a column are compared.
type Class uint8

// The classes of columns.
const (
	Text Class = iota
	Integer
	Float
	Bool
	Duration64 // Arrow's durations
	Timestamp
	Bytes
	List  // of values of other classes
	Other // never equal to anything
)

// Column is a column of a table.
type Column struct {
	Index    int    // in the schema
	Path     string // for filters and projections
	Class    Class
	Type     arrow.DataType // without extensions and dictionaries
	Nullable bool
}

// Schema finds the columns of a table by their names. It is immutable.
type Schema struct {
	columns []Column
	byName  map[string][]int
	names   []string // of columns, by index
	types   []arrow.DataType
}

// NewSchema makes the Schema of an Arrow schema. It is an error if a column that is needed is missing or of the wrong type.
func NewSchema(s *arrow.Schema) (*Schema, error) {
	t := &Schema{byName: map[string][]int{}}
	unique := arrowmap.UniqueNames(s.Fields())
	for i, f := range s.Fields() {
		name := f.Name
		if original, ok := f.Metadata.GetValue(arrowutil.ColumnName); ok {
			name = original
		}
		text, _ := f.Metadata.GetValue(arrowutil.ColumnType)
		class, dt := classOf(f.Type, text == "string")
		t.columns = append(t.columns, Column{i, schema.JoinPath("", unique[i]), class, dt, f.Nullable})
		t.byName[name] = append(t.byName[name], i)
		t.names, t.types = append(t.names, name), append(t.types, f.Type)
	}
	for _, name := range []string{TraceID, SpanID} {
		c, ok := t.One(name)
		if !ok {
			return nil, fmt.Errorf("no table of spans: there is no column %s", name)
		}
		if c.Class != Bytes {
			return nil, fmt.Errorf("no table of spans: column %s has type %s, not binary", name, s.Field(c.Index).Type)
		}
	}
	return t, t.checkTypes()
}

// checkTypes checks the types of columns that have a meaning. They would otherwise be read as missing.
func (s *Schema) checkTypes() error {
	classes := map[string][]Class{
		ParentID: {Bytes}, Events: {Bytes}, Links: {Bytes}, Start: {Integer, Timestamp}, End: {Integer, Timestamp}, Duration: {Integer, Duration64},
		KindName: {Integer}, Status: {Integer}, Name: {Text}, StatusMessage: {Text}, ScopeName: {Text}, ScopeVersion: {Text},
	}
	var errs []error
	for name, ok := range classes {
		if c, found := s.One(name); found && !slices.Contains(ok, c.Class) {
			errs = append(errs, fmt.Errorf("no table of spans: column %s has type %s", name, c.Type))
		}
	}
	slices.SortFunc(errs, func(a, b error) int { return strings.Compare(a.Error(), b.Error()) })
	return errors.Join(errs...)
}

// classOf is the class of a type, and the type inside of its wrappings. Strings may be in binary columns.
func classOf(dt arrow.DataType, text bool) (Class, arrow.DataType) {
	dt, _ = extension.Unwrap(dt)
	if kinds.Of(dt) == kinds.List && len(kinds.Fields(dt)) == 1 { // no map
		return List, dt
	}
	switch dt.ID() {
	case arrow.DURATION:
		return Duration64, dt
	case arrow.TIMESTAMP:
		return Timestamp, dt
	case arrow.STRING, arrow.LARGE_STRING, arrow.STRING_VIEW:
		return Text, dt
	case arrow.BINARY, arrow.LARGE_BINARY, arrow.BINARY_VIEW, arrow.FIXED_SIZE_BINARY:
		if text {
			return Text, dt
		}
		return Bytes, dt
	case arrow.INT8, arrow.INT16, arrow.INT32, arrow.INT64, arrow.UINT8, arrow.UINT16, arrow.UINT32, arrow.UINT64:
		return Integer, dt
	case arrow.FLOAT16, arrow.FLOAT32, arrow.FLOAT64:
		return Float, dt
	case arrow.BOOL:
		return Bool, dt
	}
	return Other, dt
}

// Columns are the columns with a name, one for each type of its values.
func (s *Schema) Columns(name string) []Column {
	var list []Column
	for _, i := range s.byName[name] {
		list = append(list, s.columns[i])
	}
	return list
}

// One is the first column with a name.
func (s *Schema) One(name string) (c Column, ok bool) {
	if at := s.byName[name]; len(at) > 0 {
		return s.columns[at[0]], true
	}
	return c, false
}

// Column is the column at an index of the Arrow schema.
func (s *Schema) Column(i int) Column { return s.columns[i] }

// Names are the names of all columns, in the order of the schema.
func (s *Schema) Names() []string { return s.names }

// AttributeName is the name of the columns of an attribute of spans, resources or instrumentation scopes.
func AttributeName(scope lang.Scope, name string) string { return scopes[scope].prefix + name }

// Prefix is the beginning of the names of columns of the attributes of a scope; "" for events and links.
func Prefix(scope lang.Scope) string { return scopes[scope].prefix }

// Rest is the column with the attributes of a scope that have no column of their own.
func (s *Schema) Rest(scope lang.Scope) (c Column, ok bool) {
	if scopes[scope].rest == "" {
		return c, false
	}
	c, ok = s.One(scopes[scope].rest)
	return c, ok && c.Class == Bytes
}

// Lists is the column of the events or links of spans.
func (s *Schema) Lists(scope lang.Scope) (Column, bool) {
	if scope == lang.EventScope {
		return s.One(Events)
	}
	return s.One(Links)
}

// intrinsicColumns are the columns that intrinsics of spans are made of.
var intrinsicColumns = map[lang.Intrinsic][]string{
	lang.SpanID: {SpanID}, lang.SpanParentID: {ParentID}, lang.HasParent: {ParentID}, lang.SpanName: {Name}, lang.SpanKindOf: {KindName},
	lang.SpanStatus: {Status}, lang.SpanStatusMessage: {StatusMessage}, lang.SpanDuration: {Duration, Start, End}, lang.TraceID: {TraceID},
	lang.ScopeName: {ScopeName}, lang.ScopeVersion: {ScopeVersion}, lang.EventName: {Events}, lang.EventTime: {Events, Start},
	lang.LinkTraceID: {Links}, lang.LinkSpanID: {Links},
}

// ColumnOf is the first column that an intrinsic of spans is made of, "" for others.
func ColumnOf(i lang.Intrinsic) string {
	if names := intrinsicColumns[i]; len(names) > 0 {
		return names[0]
	}
	return ""
}

// Needs are the columns that the value of a field is made of, as indexes in ascending order. Those of whole traces are not among them.
func (s *Schema) Needs(f *lang.Field) []int {
	var need []int
	add := func(name string) { need = append(need, s.byName[name]...) }
	if f.Intrinsic != lang.NoIntrinsic {
		for _, name := range intrinsicColumns[f.Intrinsic] {
			add(name)
			if c, ok := s.One(name); ok && name == Duration && !c.Nullable {
				break
			}
		}
	} else {
		for _, scope := range ScopesOf(f) {
			if prefix := scopes[scope].prefix; prefix != "" {
				add(prefix + f.Name)
				add(scopes[scope].rest)
				continue
			}
			if c, ok := s.Lists(scope); ok {
				need = append(need, c.Index)
			}
		}
	}
	slices.Sort(need)
	return slices.Compact(need)
}

// ScopesOf are the scopes in which an attribute is looked for, in this order.
func ScopesOf(f *lang.Field) []lang.Scope {
	if f.Scope == lang.Unscoped {
		return lang.Scopes
	}
	return []lang.Scope{f.Scope}
}
