package tempo

import (
	"bytes"
	"fmt"
	"testing"

	pq "github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/schema"
	commonv1 "go.opentelemetry.io/proto/otlp/common/v1"
	tracev1 "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/encoding/protojson"

	"github.com/stretchr/testify/require"
)

// version is a version of the schema of blocks.
type version int

const (
	v4early version = iota // ValueType, ValueDropped
	v4
	v5lists // a preview of vParquet5: its columns in lists with the annotation LIST
	v5
)

func (v version) String() string {
	return [...]string{"vParquet4 with ValueType", "vParquet4", "vParquet5 with lists", "vParquet5"}[v]
}

var (
	text   = schema.StringLogicalType{}
	signed = schema.NewIntLogicalType(64, true)
	uns    = schema.NewIntLogicalType(64, false)
	small  = schema.NewIntLogicalType(32, true)
)

func must[N any](n N, err error) N {
	if err != nil {
		panic(err)
	}
	return n
}

func leaf(name string, rep pq.Repetition, logical schema.LogicalType, t pq.Type) schema.Node {
	return must(schema.NewPrimitiveNodeLogical(name, rep, logical, t, 0, -1))
}

func str(name string, rep pq.Repetition) schema.Node {
	return leaf(name, rep, text, pq.Types.ByteArray)
}
func raw(name string) schema.Node {
	return leaf(name, pq.Repetitions.Required, schema.NoLogicalType{}, pq.Types.ByteArray)
}
func i64(name string, rep pq.Repetition) schema.Node { return leaf(name, rep, signed, pq.Types.Int64) }
func i32(name string) schema.Node                    { return leaf(name, pq.Repetitions.Required, small, pq.Types.Int32) }
func u64(name string) schema.Node                    { return leaf(name, pq.Repetitions.Required, uns, pq.Types.Int64) }
func plain(name string, rep pq.Repetition, t pq.Type) schema.Node {
	return leaf(name, rep, schema.NoLogicalType{}, t)
}
func group(name string, rep pq.Repetition, fields ...schema.Node) schema.Node {
	return must(schema.NewGroupNode(name, rep, fields, -1))
}

// list is a list of an element, which the function makes by name and repetition.
func (v version) list(name string, of func(name string, rep pq.Repetition) schema.Node) schema.Node {
	if v == v5 {
		return of(name, pq.Repetitions.Repeated)
	}
	items := group("list", pq.Repetitions.Repeated, of("element", pq.Repetitions.Required))
	return must(schema.NewGroupNodeLogical(name, pq.Repetitions.Required, schema.FieldList{items}, schema.ListLogicalType{}, -1))
}

func (v version) groups(name string, fields ...schema.Node) schema.Node {
	return v.list(name, func(name string, rep pq.Repetition) schema.Node { return group(name, rep, fields...) })
}

func (v version) attrs() schema.Node {
	isArray, unsupported := plain("IsArray", pq.Repetitions.Required, pq.Types.Boolean), "ValueUnsupported"
	if v == v4early {
		isArray, unsupported = i32("ValueType"), "ValueDropped"
	}
	return v.groups("Attrs", str("Key", pq.Repetitions.Required), isArray,
		v.list("Value", str), v.list("ValueInt", i64),
		v.list("ValueDouble", func(name string, rep pq.Repetition) schema.Node { return plain(name, rep, pq.Types.Double) }),
		v.list("ValueBool", func(name string, rep pq.Repetition) schema.Node { return plain(name, rep, pq.Types.Boolean) }),
		str(unsupported, pq.Repetitions.Optional))
}

func (v version) dedicated() schema.Node {
	if v < v5lists {
		return group("DedicatedAttributes", pq.Repetitions.Required, str("String01", pq.Repetitions.Optional), str("String02", pq.Repetitions.Optional))
	}
	return group("DedicatedAttributes", pq.Repetitions.Required, str("String01", pq.Repetitions.Repeated), str("String02", pq.Repetitions.Repeated),
		i64("Int01", pq.Repetitions.Repeated))
}

// with leaves out what a version does not have.
func with(has bool, nodes ...schema.Node) []schema.Node {
	if has {
		return nodes
	}
	return nil
}

func join(all ...[]schema.Node) (out []schema.Node) {
	for _, n := range all {
		out = append(out, n...)
	}
	return out
}

func (v version) schema() *schema.GroupNode {
	dropped := func() schema.Node { return i32("DroppedAttributesCount") } // a node has one parent
	fixed := v < v5lists
	required, optional := pq.Repetitions.Required, pq.Repetitions.Optional
	event := join([]schema.Node{u64("TimeSinceStartNano"), str("Name", required), v.attrs(), dropped()}, with(v == v5, v.dedicated()))
	span := join([]schema.Node{
		raw("SpanID"), raw("ParentSpanID"), i32("NestedSetLeft"), str("Name", required), i64("Kind", required),
		str("TraceState", required), u64("StartTimeUnixNano"), u64("DurationNano"), i64("StatusCode", required), str("StatusMessage", required),
		v.attrs(), dropped(), v.groups("Events", event...), i32("DroppedEventsCount"),
		v.groups("Links", raw("TraceID"), raw("SpanID"), str("TraceState", required), v.attrs(), dropped()), i32("DroppedLinksCount"),
	}, with(fixed, str("HttpMethod", optional), str("HttpUrl", optional), i64("HttpStatusCode", optional)), []schema.Node{v.dedicated()})
	resource := join([]schema.Node{v.attrs(), dropped(), str("ServiceName", required)},
		with(fixed, str("Cluster", optional), str("K8sPodName", optional)), []schema.Node{v.dedicated()})
	return group("Trace", required, raw("TraceID"), str("TraceIDText", required),
		v.groups("rs", group("Resource", required, resource...),
			v.groups("ss", group("Scope", required, str("Name", required), str("Version", required), v.attrs(), dropped()),
				v.groups("Spans", span...)))).(*schema.GroupNode)
}

// row is a value of a group: a value or a list of values of each field. nil is a null, or a list without items.
type row = map[string]any

// shredder divides rows into columns with levels.
type shredder struct {
	columns map[string]*column
}

type column struct {
	values   []any
	def, rep []int16
}

func (s *shredder) put(n schema.Node, v any, path string, rep, maxRep, def int16) {
	path += "." + n.Name()
	switch n.RepetitionType() {
	case pq.Repetitions.Repeated:
		items, _ := v.([]any)
		if len(items) == 0 {
			s.null(n, path, rep, def)
		}
		for k, item := range items {
			if k == 1 {
				rep = maxRep + 1
			}
			s.content(n, item, path, rep, maxRep+1, def+1)
		}
	case pq.Repetitions.Optional:
		if v == nil {
			s.null(n, path, rep, def)
		} else {
			s.content(n, v, path, rep, maxRep, def+1)
		}
	default:
		s.content(n, v, path, rep, maxRep, def)
	}
}

func (s *shredder) content(n schema.Node, v any, path string, rep, maxRep, def int16) {
	g, ok := n.(*schema.GroupNode)
	if !ok {
		c := s.column(path)
		c.values, c.rep, c.def = append(c.values, v), append(c.rep, rep), append(c.def, def)
		return
	}
	if n.LogicalType().Equals(schema.ListLogicalType{}) {
		items, _ := v.([]any)
		elements := make([]any, len(items))
		for i, item := range items {
			elements[i] = row{"element": item}
		}
		v = row{"list": elements}
	}
	r, _ := v.(row)
	for i := range g.NumFields() {
		s.put(g.Field(i), r[g.Field(i).Name()], path, rep, maxRep, def)
	}
}

func (s *shredder) null(n schema.Node, path string, rep, def int16) {
	if g, ok := n.(*schema.GroupNode); ok {
		for i := range g.NumFields() {
			s.null(g.Field(i), path+"."+g.Field(i).Name(), rep, def)
		}
		return
	}
	c := s.column(path)
	c.rep, c.def = append(c.rep, rep), append(c.def, def)
}

func (s *shredder) column(path string) *column {
	if s.columns[path] == nil {
		s.columns[path] = &column{}
	}
	return s.columns[path]
}

// write writes rows as a Parquet file.
func (v version) write(t testing.TB, rows []row) []byte {
	t.Helper()
	root := v.schema()
	s := shredder{columns: map[string]*column{}}
	for _, r := range rows {
		s.content(root, r, "", 0, 0, 0)
	}
	var out bytes.Buffer
	w := file.NewParquetWriter(&out, root)
	group, err := w.AppendRowGroupChecked()
	require.NoError(t, err)
	for i := range w.Schema.NumColumns() {
		d := w.Schema.Column(i)
		cw, err := group.NextColumn()
		require.NoError(t, err)
		c := s.columns["."+d.Path()]
		if c == nil {
			c = &column{}
		}
		require.NoError(t, c.write(cw), d.Path())
		require.NoError(t, cw.Close())
	}
	require.NoError(t, group.Close())
	require.NoError(t, w.Close())
	return out.Bytes()
}

func (c *column) write(to file.ColumnChunkWriter) (err error) {
	switch w := to.(type) {
	case *file.ByteArrayColumnChunkWriter:
		_, err = w.WriteBatch(typed(c.values, func(v any) pq.ByteArray { return pq.ByteArray(fmt.Sprint(or(v, ""))) }), c.def, c.rep)
	case *file.Int64ColumnChunkWriter:
		_, err = w.WriteBatch(typed(c.values, func(v any) int64 {
			if u, ok := v.(uint64); ok {
				return int64(u)
			}
			return or(v, int64(0)).(int64)
		}), c.def, c.rep)
	case *file.Int32ColumnChunkWriter:
		_, err = w.WriteBatch(typed(c.values, func(v any) int32 { return int32(or(v, uint32(0)).(uint32)) }), c.def, c.rep)
	case *file.Float64ColumnChunkWriter:
		_, err = w.WriteBatch(typed(c.values, func(v any) float64 { return v.(float64) }), c.def, c.rep)
	case *file.BooleanColumnChunkWriter:
		_, err = w.WriteBatch(typed(c.values, func(v any) bool { return or(v, false).(bool) }), c.def, c.rep)
	default:
		err = fmt.Errorf("no case for %T", to)
	}
	return err
}

func or(v, otherwise any) any {
	if v == nil {
		return otherwise
	}
	return v
}

func typed[T any](values []any, as func(any) T) []T {
	out := make([]T, len(values))
	for i, v := range values {
		out[i] = as(v)
	}
	return out
}

// row is a trace as the row of a block. What blocks do not store is lost: see stored.
func (v version) row(td *tracev1.TracesData) row {
	var id string
	var rs []any
	for _, r := range td.ResourceSpans {
		var ss []any
		for _, s := range r.ScopeSpans {
			var spans []any
			for _, p := range s.Spans {
				id = string(p.TraceId)
				spans = append(spans, v.span(p))
			}
			scope := row{"Name": s.GetScope().GetName(), "Version": s.GetScope().GetVersion(), "DroppedAttributesCount": s.GetScope().GetDroppedAttributesCount()}
			v.attributes(scope, s.GetScope().GetAttributes(), "", nil)
			ss = append(ss, row{"Scope": scope, "Spans": spans})
		}
		resource := row{"DroppedAttributesCount": r.GetResource().GetDroppedAttributesCount()}
		v.attributes(resource, r.GetResource().GetAttributes(), "resource", map[string]string{"service.name": "ServiceName", "cluster": "Cluster", "k8s.pod.name": "K8sPodName"})
		rs = append(rs, row{"Resource": resource, "ss": ss})
	}
	return row{"TraceID": id, "rs": rs}
}

func (v version) span(p *tracev1.Span) row {
	r := row{
		"SpanID": string(p.SpanId), "ParentSpanID": string(p.ParentSpanId), "Name": p.Name, "Kind": int64(p.Kind), "TraceState": p.TraceState,
		"StartTimeUnixNano": p.StartTimeUnixNano, "DurationNano": p.EndTimeUnixNano - p.StartTimeUnixNano,
		"StatusCode": int64(p.GetStatus().GetCode()), "StatusMessage": p.GetStatus().GetMessage(),
		"DroppedAttributesCount": p.DroppedAttributesCount, "DroppedEventsCount": p.DroppedEventsCount, "DroppedLinksCount": p.DroppedLinksCount,
	}
	v.attributes(r, p.Attributes, "span", map[string]string{"http.method": "HttpMethod", "http.url": "HttpUrl", "http.status_code": "HttpStatusCode"})
	var events, links []any
	for _, e := range p.Events {
		er := row{"TimeSinceStartNano": e.TimeUnixNano - p.StartTimeUnixNano, "Name": e.Name, "DroppedAttributesCount": e.DroppedAttributesCount}
		v.attributes(er, e.Attributes, "event", nil)
		events = append(events, er)
	}
	for _, l := range p.Links {
		lr := row{"TraceID": string(l.TraceId), "SpanID": string(l.SpanId), "TraceState": l.TraceState, "DroppedAttributesCount": l.DroppedAttributesCount}
		v.attributes(lr, l.Attributes, "", nil)
		links = append(links, lr)
	}
	r["Events"], r["Links"] = events, links
	return r
}

// metaJSON names the dedicated columns of the tests.
const metaJSON = `{"format":"vParquet5-preview","dedicatedColumns":[
	{"s":"resource","n":"ip"},{"n":"region"},{"n":"a"},{"n":"n","t":"int","o":["array"]},{"s":"event","n":"exception.type"},{"s":"event","n":"a","o":["blob"]}]}`

var dedicatedColumns = map[string]map[string]string{
	"resource": {"ip": "String01"},
	"span":     {"region": "String01", "a": "String02", "n": "Int01"},
	"event":    {"exception.type": "String01", "a": "String02"},
}

// attributes puts attributes into columns of their own, dedicated columns, or the generic ones.
func (v version) attributes(to row, attrs []*commonv1.KeyValue, scope string, own map[string]string) {
	generic, dedicated := []any{}, row{}
	for _, kv := range attrs {
		value := kv.GetValue()
		if c := own[kv.Key]; c != "" && to[c] == nil && (v < v5lists || c == "ServiceName") {
			s, isString := value.GetValue().(*commonv1.AnyValue_StringValue)
			n, isInt := value.GetValue().(*commonv1.AnyValue_IntValue)
			if isString && c != "HttpStatusCode" && (c != "ServiceName" || s.StringValue != "") {
				to[c] = s.StringValue
				continue
			}
			if isInt && c == "HttpStatusCode" {
				to[c] = n.IntValue
				continue
			}
		}
		if c := dedicatedColumns[scope][kv.Key]; c != "" && dedicated[c] == nil && v.hasDedicated(scope, c) {
			if items, ok := v.dedicatedValue(value, c == "Int01"); ok {
				dedicated[c] = items
				continue
			}
		}
		generic = append(generic, v.attribute(kv))
	}
	to["Attrs"], to["DedicatedAttributes"] = generic, dedicated
}

func (v version) hasDedicated(scope, column string) bool {
	return v == v5 || scope != "event" && (column != "Int01" || v == v5lists)
}

// dedicatedValue is a value, or since vParquet5 a list: of a string, an integer, or an array of at least two.
func (v version) dedicatedValue(value *commonv1.AnyValue, ints bool) (any, bool) {
	values := []*commonv1.AnyValue{value}
	if a, ok := value.GetValue().(*commonv1.AnyValue_ArrayValue); ok {
		if values = a.ArrayValue.GetValues(); len(values) < 2 || v < v5lists {
			return nil, false
		}
	}
	var items []any
	for _, x := range values {
		switch x := x.GetValue().(type) {
		case *commonv1.AnyValue_StringValue:
			if !ints {
				items = append(items, x.StringValue)
			}
		case *commonv1.AnyValue_IntValue:
			if ints {
				items = append(items, x.IntValue)
			}
		}
	}
	if len(items) != len(values) {
		return nil, false
	}
	if v < v5lists {
		return items[0], true
	}
	return items, true
}

// attribute is an attribute in the generic columns.
func (v version) attribute(kv *commonv1.KeyValue) row {
	r := row{"Key": kv.Key}
	values, isArray := []*commonv1.AnyValue{kv.GetValue()}, false
	if a, ok := kv.GetValue().GetValue().(*commonv1.AnyValue_ArrayValue); ok {
		values, isArray = a.ArrayValue.GetValues(), true
	}
	name, valueType := "", uint32(0)
	var items []any
	for i, x := range values {
		var column string
		var item any
		var number uint32
		switch x := x.GetValue().(type) {
		case *commonv1.AnyValue_StringValue:
			column, item, number = "Value", x.StringValue, 1
		case *commonv1.AnyValue_IntValue:
			column, item, number = "ValueInt", x.IntValue, 2
		case *commonv1.AnyValue_DoubleValue:
			column, item, number = "ValueDouble", x.DoubleValue, 3
		case *commonv1.AnyValue_BoolValue:
			column, item, number = "ValueBool", x.BoolValue, 4
		}
		if column == "" || i > 0 && column != name {
			b := must(protojson.Marshal(or2(kv.GetValue())))
			r["ValueUnsupported"], r["ValueDropped"] = string(b), string(b)
			return r
		}
		name, valueType, items = column, number, append(items, item)
	}
	r[name] = items
	if r["IsArray"] = isArray; isArray {
		valueType += 4
	}
	if isArray && len(items) == 0 {
		valueType = firstArrayType
	}
	r["ValueType"] = valueType
	return r
}

func or2(v *commonv1.AnyValue) *commonv1.AnyValue {
	if v == nil {
		return &commonv1.AnyValue{}
	}
	return v
}
