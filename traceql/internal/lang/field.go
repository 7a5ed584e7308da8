package lang

import (
	"maps"
	"slices"
	"strings"

	"github.com/amudai/amudai-go/traceql/internal/value"
)

// Scope says where an attribute is looked for.
type Scope uint8

// The scopes of attributes.
const (
	Unscoped Scope = iota // .x: the first scope below that has it
	SpanScope
	ResourceScope
	InstrumentationScope
	EventScope
	LinkScope
)

// Scopes are the scopes with attributes, in the order in which an unscoped one is looked for.
var Scopes = []Scope{SpanScope, ResourceScope, InstrumentationScope, EventScope, LinkScope}

var scopeNames = [...]string{"", "span", "resource", "instrumentation", "event", "link"}

func (s Scope) String() string { return scopeNames[s] }

// Intrinsic is a field that spans have besides attributes.
type Intrinsic uint8

// The intrinsics.
const (
	NoIntrinsic Intrinsic = iota
	SpanID
	SpanParentID
	SpanName
	SpanKindOf
	SpanStatus
	SpanStatusMessage
	SpanDuration
	SpanChildCount
	HasParent
	TraceID
	TraceDuration
	TraceRootName
	TraceRootService
	EventName
	EventTime
	LinkTraceID
	LinkSpanID
	ScopeName
	ScopeVersion
	NestedSetParent
	NestedSetLeft
	NestedSetRight
)

// intrinsics has the name of each intrinsic, its name without a scope or "", and its type.
var intrinsics = [...]struct {
	name, bare string
	kind       value.Kind
}{
	SpanID:            {"span:id", "", value.String},
	SpanParentID:      {"span:parentID", "", value.String},
	SpanName:          {"span:name", "name", value.String},
	SpanKindOf:        {"span:kind", "kind", value.SpanKind},
	SpanStatus:        {"span:status", "status", value.Status},
	SpanStatusMessage: {"span:statusMessage", "statusMessage", value.String},
	SpanDuration:      {"span:duration", "duration", value.Duration},
	SpanChildCount:    {"span:childCount", "childCount", value.Int},
	HasParent:         {"parent", "parent", value.Other},
	TraceID:           {"trace:id", "", value.String},
	TraceDuration:     {"trace:duration", "traceDuration", value.Duration},
	TraceRootName:     {"trace:rootName", "rootName", value.String},
	TraceRootService:  {"trace:rootService", "rootServiceName", value.String},
	EventName:         {"event:name", "", value.String},
	EventTime:         {"event:timeSinceStart", "", value.Duration},
	LinkTraceID:       {"link:traceID", "", value.String},
	LinkSpanID:        {"link:spanID", "", value.String},
	ScopeName:         {"instrumentation:name", "", value.String},
	ScopeVersion:      {"instrumentation:version", "", value.String},
	NestedSetParent:   {"nestedSetParent", "nestedSetParent", value.Int},
	NestedSetLeft:     {"nestedSetLeft", "nestedSetLeft", value.Int},
	NestedSetRight:    {"nestedSetRight", "nestedSetRight", value.Int},
}

// byName finds intrinsics by both of their names.
var byName = func() map[string]Intrinsic {
	m := map[string]Intrinsic{"parent:id": SpanParentID}
	for i, in := range intrinsics {
		m[in.name] = Intrinsic(i)
		m[in.bare] = Intrinsic(i)
	}
	delete(m, "")
	return m
}()

func (i Intrinsic) String() string { return intrinsics[i].name }

// Kind is the type of an intrinsic. That of [HasParent] is Other: it is compared only with nil.
func (i Intrinsic) Kind() value.Kind { return intrinsics[i].kind }

// IsID reports whether an intrinsic is an id, written in hexadecimal digits.
func (i Intrinsic) IsID() bool {
	return i == SpanID || i == SpanParentID || i == TraceID || i == LinkTraceID || i == LinkSpanID
}

// Intrinsics are the names of all intrinsics with a scope, sorted.
func Intrinsics() []string {
	names := slices.Sorted(maps.Keys(byName))
	return slices.DeleteFunc(names, func(name string) bool { return !strings.Contains(name, ":") || name == "parent:id" })
}

// Field is an attribute or an intrinsic of a span.
type Field struct {
	Parent    bool // of the parent of the span
	Scope     Scope
	Intrinsic Intrinsic // NoIntrinsic for an attribute
	Name      string    // of the attribute
	text      string    // of an intrinsic, as it was written
}

// String is the field as queries write it.
func (f *Field) String() string {
	parent := ""
	if f.Parent {
		parent = "parent."
	}
	switch {
	case f.Intrinsic != NoIntrinsic && f.text != "":
		return parent + f.text
	case f.Intrinsic != NoIntrinsic:
		return parent + f.Intrinsic.String()
	case f.Parent && f.Scope == Unscoped && parentWord(f.Name):
		return parent + quoteName(f.Name) // otherwise it would be an intrinsic or a scope
	case f.Parent && f.Scope == Unscoped:
		return parent + attributeName(f.Name)
	}
	return parent + f.Scope.String() + "." + attributeName(f.Name)
}

// parentWord reports whether a name after "parent." begins with a word that has another meaning there.
func parentWord(name string) bool {
	first, _, dot := strings.Cut(name, ".")
	_, intrinsic := bareIntrinsic(name)
	return intrinsic || dot && slices.Contains(scopeNames[1:], first)
}

// bareIntrinsic finds the intrinsics that are known without a scope.
func bareIntrinsic(name string) (Intrinsic, bool) {
	i, ok := byName[name]
	return i, ok && intrinsics[i].bare == name
}

// attributeName quotes a name where it must be.
func attributeName(name string) string {
	if name == "" || strings.ContainsFunc(name, func(r rune) bool { return !attributeRune(r) || strings.ContainsRune("\"\\\uFFFD", r) }) {
		return quoteName(name)
	}
	return name
}

func quoteName(name string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(name) + `"`
}
