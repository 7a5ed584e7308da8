package traceql_test

import (
	"encoding/binary"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"google.golang.org/protobuf/encoding/protowire"
)

// span is a span as tests describe it. Values of attributes are string, int64, float64, bool and []any.
type span struct {
	trace, id, parent byte // 0: no parent
	name              string
	service           string // resource.service.name
	kind, status      int64
	message           string
	scope, version    string
	start, end        int64
	attrs             map[string]any // "span.x", "resource.x", "scope.x"
	events            []event
	links             []link
}

type event struct {
	name  string
	time  int64
	attrs map[string]any
}

type link struct {
	trace, span byte
	attrs       map[string]any
}

func traceID(b byte) []byte { return append(make([]byte, 15), b) }
func spanID(b byte) []byte  { return append(make([]byte, 7), b) }

// attributes are all scalar attributes of a span, and those that have no column by the column that holds them.
func (s span) attributes() (scalars map[string]any, rest map[string][]byte) {
	scalars, rest = map[string]any{}, map[string][]byte{}
	if s.service != "" {
		scalars["resource.service.name"] = s.service
	}
	for _, name := range sortedKeys(s.attrs) {
		v := s.attrs[name]
		if _, list := v.([]any); !list {
			scalars[name] = v
			continue
		}
		scope, key, _ := strings.Cut(name, ".")
		number := map[string]protowire.Number{"span": 9, "resource": 1, "scope": 3}[scope]
		rest[scope+":attrs_ext"] = appendMessage(rest[scope+":attrs_ext"], number, keyValue(key, v))
	}
	return scalars, rest
}

func sortedKeys[V any](m map[string]V) []string {
	var keys []string
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

func appendMessage(b []byte, n protowire.Number, content []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(b, n, protowire.BytesType), content)
}

func keyValue(key string, v any) []byte {
	return appendMessage(appendMessage(nil, 1, []byte(key)), 2, anyValue(v))
}

func anyValue(v any) []byte {
	switch v := v.(type) {
	case string:
		return appendMessage(nil, 1, []byte(v))
	case bool:
		return protowire.AppendVarint(protowire.AppendTag(nil, 2, protowire.VarintType), protowire.EncodeBool(v))
	case int64:
		return protowire.AppendVarint(protowire.AppendTag(nil, 3, protowire.VarintType), uint64(v))
	case float64:
		return protowire.AppendFixed64(protowire.AppendTag(nil, 4, protowire.Fixed64Type), math.Float64bits(v))
	case []any:
		var list []byte
		for _, e := range v {
			list = appendMessage(list, 1, anyValue(e))
		}
		return appendMessage(nil, 5, list)
	}
	return nil
}

func (s span) eventBytes() (out []byte) {
	for _, e := range s.events {
		m := protowire.AppendFixed64(protowire.AppendTag(nil, 1, protowire.Fixed64Type), uint64(e.time))
		m = appendMessage(m, 2, []byte(e.name))
		for _, k := range sortedKeys(e.attrs) {
			m = appendMessage(m, 3, keyValue(k, e.attrs[k]))
		}
		out = appendMessage(out, 11, m)
	}
	return out
}

func (s span) linkBytes() (out []byte) {
	for _, l := range s.links {
		m := appendMessage(appendMessage(nil, 1, traceID(l.trace)), 2, spanID(l.span))
		for _, k := range sortedKeys(l.attrs) {
			m = appendMessage(m, 4, keyValue(k, l.attrs[k]))
		}
		out = appendMessage(out, 13, m)
	}
	return out
}

// nilIf is a value, or null if it is the zero value.
func nilIf[T comparable](v T) any {
	var zero T
	if v == zero {
		return nil
	}
	return v
}

func nilIfEmpty(b []byte) any {
	if len(b) == 0 {
		return nil
	}
	return b
}

// tableOfSpans makes a source of spans, in batches of some rows. Columns without values are left out.
func tableOfSpans(t testing.TB, rows int, list []span) *memorySource {
	t.Helper()
	cols := []column{
		{name: "trace:id", typ: id16, always: true}, {name: "span:id", typ: id8, always: true}, {name: "span:parent_id", typ: id8},
		{name: "span:name", typ: text}, {name: "span:kind", typ: arrow.PrimitiveTypes.Int64}, {name: "span:start", typ: times, always: true},
		{name: "span:end", typ: times, always: true}, {name: "span:duration", typ: arrow.FixedWidthTypes.Duration_ns, always: true},
		{name: "span:status", typ: arrow.PrimitiveTypes.Int64}, {name: "span:status_message", typ: text}, {name: "scope:name", typ: text},
		{name: "scope:version", typ: text}, {name: "span:events", typ: arrow.BinaryTypes.Binary}, {name: "span:links", typ: arrow.BinaryTypes.Binary},
	}
	add := func(i int, v any) { cols[i].values = append(cols[i].values, v) }
	for _, s := range list {
		add(0, traceID(s.trace))
		add(1, spanID(s.id))
		add(2, nil)
		if s.parent != 0 {
			cols[2].values[len(cols[2].values)-1] = spanID(s.parent)
		}
		add(3, nilIf(s.name))
		add(4, nilIf(s.kind))
		add(5, s.start)
		add(6, s.end)
		add(7, s.end-s.start)
		add(8, nilIf(s.status))
		add(9, nilIf(s.message))
		add(10, nilIf(s.scope))
		add(11, nilIf(s.version))
		add(12, nilIfEmpty(s.eventBytes()))
		add(13, nilIfEmpty(s.linkBytes()))
	}
	cols = append(cols, attributeColumns(list)...)
	cols = slices.DeleteFunc(cols, func(c column) bool {
		return !c.always && !slices.ContainsFunc(c.values, func(v any) bool { return v != nil })
	})
	return tableOf(t, rows, cols...)
}

// attributeColumns are the columns of attributes: one for each type of a name, as Blockpack has them.
func attributeColumns(list []span) (cols []column) {
	place := map[string]int{}
	at := func(key string, c column, row int, v any) {
		i, ok := place[key]
		if !ok {
			i = len(cols)
			place[key] = i
			c.values = make([]any, len(list))
			cols = append(cols, c)
		}
		cols[i].values[row] = v
	}
	first := map[string]string{}
	for row, s := range list {
		scalars, rest := s.attributes()
		for _, name := range sortedKeys(scalars) {
			typ, word := typeOf(scalars[name])
			c := column{name: name, typ: typ, meta: arrow.MetadataFrom(map[string]string{"blockpack.type": word})}
			if first[name] == "" {
				first[name] = word
			}
			if first[name] != word {
				c.name = name + "#" + word
				c.meta = arrow.MetadataFrom(map[string]string{"blockpack.type": word, "blockpack.name": name})
			}
			at(name+" "+word, c, row, scalars[name])
		}
		for _, name := range sortedKeys(rest) {
			at(name, column{name: name, typ: arrow.BinaryTypes.Binary}, row, rest[name])
		}
	}
	return cols
}

func typeOf(v any) (arrow.DataType, string) {
	switch v.(type) {
	case string:
		return text, "string"
	case int64:
		return arrow.PrimitiveTypes.Int64, "int64"
	case float64:
		return arrow.PrimitiveTypes.Float64, "float64"
	}
	return arrow.FixedWidthTypes.Boolean, "bool"
}

const ms = int64(time.Millisecond)

// shop is a trace of seven spans in two services, and one of a single span:
//
//	1 GET /cart (frontend, server)
//	├─ 2 auth (frontend)
//	├─ 3 load (cart, client, error)
//	│  ├─ 4 SELECT (cart, client)
//	│  └─ 5 SELECT (cart, client, error)
//	└─ 6 render (frontend)
//	9 whose parent, 8, is missing
func shop() []span {
	base := int64(1_700_000_000_000_000_000)
	attrs := func(pairs ...any) map[string]any {
		m := map[string]any{}
		for i := 0; i < len(pairs); i += 2 {
			m[pairs[i].(string)] = pairs[i+1]
		}
		return m
	}
	return []span{
		{trace: 1, id: 1, name: "GET /cart", service: "frontend", kind: 2, start: base, end: base + 100*ms,
			attrs: attrs("span.http.status_code", int64(500), "span.http.method", "GET", "resource.region", "eu", "span.foo bar", "x")},
		{trace: 1, id: 2, parent: 1, name: "auth", service: "frontend", kind: 1, start: base + 1*ms, end: base + 11*ms,
			attrs: attrs("span.http.status_code", "200", "resource.region", "eu", "span.cached", true)},
		{trace: 1, id: 3, parent: 1, name: "load", service: "cart", kind: 3, status: 2, message: "no rows", start: base + 12*ms, end: base + 80*ms,
			attrs: attrs("span.http.status_code", 200.0, "resource.region", "us", "span.tags", []any{"a", "b", int64(7)}),
			events: []event{{"exception", base + 70*ms, attrs("exception.message", "no rows", "retry", int64(2))},
				{"log", base + 20*ms, attrs("level", "info")}}},
		{trace: 1, id: 4, parent: 3, name: "SELECT", service: "cart", kind: 3, scope: "sql", version: "1.2", start: base + 20*ms, end: base + 40*ms,
			attrs: attrs("span.db.rows", int64(3), "scope.lang", "go", "resource.region", "us", "span.region", "local")},
		{trace: 1, id: 5, parent: 3, name: "SELECT", service: "cart", kind: 3, status: 2, scope: "sql", version: "1.2", start: base + 41*ms, end: base + 75*ms,
			attrs: attrs("span.db.rows", int64(0), "scope.lang", "go", "resource.region", "us"), links: []link{{2, 1, attrs("why", "retry")}}},
		{trace: 1, id: 6, parent: 1, name: "render", service: "frontend", status: 1, start: base + 81*ms, end: base + 99*ms,
			attrs: attrs("resource.region", "eu", "span.cached", false)},
		{trace: 1, id: 9, parent: 8, name: "orphan", service: "ghost", start: base + 50*ms, end: base + 51*ms},
		{trace: 2, id: 1, name: "GET /", service: "frontend", kind: 2, start: base + 1000*ms, end: base + 1005*ms,
			attrs: attrs("span.http.status_code", int64(200), "span.http.method", "GET", "resource.region", "eu")},
	}
}

func last(id []byte) byte { return byte(binary.BigEndian.Uint64(id[len(id)-8:])) }
