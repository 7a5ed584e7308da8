package aggregate

import (
	"cmp"
	"strconv"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
	"github.com/amudai/amudai-go/internal/arrow/kinds"
	"github.com/amudai/amudai-go/internal/engine/aggregate/internal/column"
	"github.com/amudai/amudai-go/internal/engine/ast"
	"github.com/amudai/amudai-go/internal/engine/compute"
	"github.com/amudai/amudai-go/internal/engine/order"
	"github.com/amudai/amudai-go/internal/engine/predicate"
	"github.com/amudai/amudai-go/internal/format/schema"
)

// value is an expression bound to the schema of the batches.
type value interface {
	Type() arrow.DataType
	Eval(mem memory.Allocator, batch arrow.RecordBatch) (arrow.Array, error)
}

// condition is a value that is true where a condition holds, and false elsewhere.
type condition struct{ bound *predicate.Bound }

func (c condition) Type() arrow.DataType { return arrow.FixedWidthTypes.Boolean }

func (c condition) Eval(mem memory.Allocator, batch arrow.RecordBatch) (arrow.Array, error) {
	bits, err := c.bound.Bits(batch)
	if err != nil {
		return nil, err
	}
	return arrowutil.Make(c.Type(), int(batch.NumRows()), []*memory.Buffer{nil, memory.NewBufferBytes(bits)}, nil, 0), nil
}

// expression is a value that keys or aggregates are computed of.
type expression struct {
	name  string
	value value
	dt    arrow.DataType
	out   arrow.DataType // of values in results: decimals that are read with 64 bits have their recorded type
	needs needs
}

// Query is a grouped aggregation of tables of a schema. It does not change and may be used by many goroutines.
type Query struct {
	keys        []expression
	derived     []derived
	determining *arrow.Schema // the keys that determine others
	args        []expression  // of calls, each once
	calls       []*bound
	schema      *arrow.Schema
}

// derived is a key that the values of other keys determine, as ClientIP determines ClientIP - 1. It is computed of groups, not of rows.
type derived struct {
	at    int // among all keys
	value value
}

// plan is a Query in the making.
type plan struct {
	*Query
	input *arrow.Schema
	names map[string]int // of args, by their text
}

// bound is a call of an aggregate function.
type bound struct {
	call  ast.Call
	arg   *expression // the first argument, nil for none
	index int         // of arg in Query.args, or -1
	where int         // index of the condition, or -1
	shift int64       // what is added to each value of arg
	dt    arrow.DataType
	make  func(a *Aggregator) builder // and its states, whose errors are in the aggregator
}

// builder makes an array of the results of groups from up to, but not including, to. It may return nil if all are null.
type builder func(from, to int) (arrow.Array, error)

// Bind checks keys and calls against the schema of the batches. Without keys, all rows are one group. An error is an
// [*ast.Error] with the position of the mistake in the text of the keys, or of the calls.
func Bind(keys []*ast.Node, calls []ast.Call, input *arrow.Schema) (*Query, error) {
	p := &plan{&Query{}, input, map[string]int{}}
	var fields []arrow.Field
	for _, n := range keys {
		v, err := compute.Bind(n, input)
		if err != nil {
			return nil, err
		}
		if err := order.Check(v.Type()); err != nil {
			return nil, errorAt(n.Pos, "%v", err)
		}
		f := resultOf(v, n.String(), input)
		f.Name = cmp.Or(n.Alias, f.Name)
		p.keys = append(p.keys, expression{name: f.Name, value: v, dt: v.Type(), out: f.Type})
		fields = append(fields, f)
	}
	p.derive(keys)
	for _, c := range calls {
		b, err := p.bind(c)
		if err != nil {
			return nil, err
		}
		p.calls = append(p.calls, b)
		f := arrow.Field{Name: nameOf(c), Type: b.dt, Nullable: true}
		if item, isList := b.dt.(arrow.ListLikeType); b.dt.ID() == arrow.FIXED_SIZE_BINARY || isList && item.Elem().ID() == arrow.FIXED_SIZE_BINARY {
			if v, err := compute.Bind(c.Args[0], input); err == nil { // values of the column: ids are printed as those
				f.Metadata = resultOf(v, "", input).Metadata
			}
		}
		fields = append(fields, f)
	}
	p.schema = arrow.NewSchema(fields, nil)
	return p.Query, nil
}

// determines is the path of a key that is a column whose values determine others, else "".
func (k expression) determines() string {
	path, ok := k.value.(*compute.Value).Column()
	dt := kinds.Decoded(k.dt)
	if !ok || len(schema.SplitPath(path)) > 1 || !kinds.IsText(dt) && (!column.HasOrdinals(dt) || arrow.IsFloating(dt.ID()) || arrow.IsDecimal(dt.ID())) {
		return ""
	}
	return path
}

// derive takes out the keys that others determine. Equal floats may differ, as 0 and -0 do, so that they determine none; and decimals may come in
// another width.
func (p *plan) derive(nodes []*ast.Node) {
	var fields []arrow.Field
	for _, k := range p.keys {
		if path := k.determines(); path != "" {
			fields = append(fields, arrow.Field{Name: schema.SplitPath(path)[0], Type: kinds.Decoded(k.dt), Nullable: true})
		}
	}
	if len(fields) == 0 {
		return
	}
	of := arrow.NewSchema(fields, nil)
	var rest []expression
	for i, k := range p.keys {
		if _, ok := k.value.(*compute.Value).Column(); !ok {
			if v, err := compute.Bind(nodes[i], of); err == nil && arrow.TypeEqual(v.Type(), k.dt) {
				p.derived = append(p.derived, derived{i, v})
				continue
			}
		}
		rest = append(rest, k)
	}
	p.keys = rest
	p.determining = of
}

// resultOf is an expression in results, by its text: of a column, with its path as the name, and its mark as one of spans.
func resultOf(v value, text string, input *arrow.Schema) arrow.Field {
	out := arrow.Field{Name: text, Type: kinds.Decoded(v.Type()), Nullable: true}
	c, ok := v.(*compute.Value)
	if ok {
		text, ok = c.Column()
	}
	if !ok {
		return out
	}
	out.Name = text
	for _, i := range input.FieldIndices(schema.SplitPath(text)[0]) {
		if f := input.Field(i); arrow.TypeEqual(f.Type, v.Type()) {
			out.Type = kinds.Decoded(arrowutil.RecordedType(f))
			if mark, ok := f.Metadata.GetValue(arrowutil.ColumnType); ok {
				out.Metadata = arrow.NewMetadata([]string{arrowutil.ColumnType}, []string{mark})
			}
			break
		}
	}
	return out
}

// nameOf is the name of the column of a call: "count" for count(), else its text.
func nameOf(c ast.Call) string {
	if c.Name == "count" && len(c.Args) == 0 && c.Where == nil {
		return cmp.Or(c.Alias, "count")
	}
	return cmp.Or(c.Alias, c.Text)
}

// Schema is the schema of the results: keys, then calls.
func (q *Query) Schema() *arrow.Schema { return q.schema }

// Keys is the number of keys, which are the first columns of results.
func (q *Query) Keys() int { return len(q.keys) + len(q.derived) }

func (q *Query) keyTypes() []arrow.DataType {
	types := make([]arrow.DataType, len(q.keys))
	for i, k := range q.keys {
		types[i] = k.dt
	}
	return types
}

func (p *plan) bind(c ast.Call) (*bound, error) {
	f, err := lookUp(c)
	if err != nil {
		return nil, err
	}
	if f.anyway {
		c.Distinct = false
	}
	b := &bound{call: c, index: -1, where: -1}
	if !c.Distinct && (c.Name == "sum" || c.Name == "avg" || c.Name == "mean") {
		if x, by := ast.Shifted(c.Args[0]); by != 0 {
			if v, err := compute.Bind(x, p.input); err == nil && arrow.IsInteger(v.Type().ID()) && v.Type().(arrow.FixedWidthDataType).BitWidth() <= 32 {
				c.Args, b.shift = []*ast.Node{x}, by // no sum of these is out of range
			}
		}
	}
	if len(c.Args) > 0 {
		if b.index, err = p.argument(c.Args[0]); err != nil {
			return nil, err
		}
	}
	if c.Where != nil {
		w, err := compute.Condition(c.Where, p.input)
		if err != nil {
			return nil, err
		}
		b.where = p.add("where "+c.Where.String(), condition{w})
		p.args[b.where].needs |= needPlain
	}
	if b.index >= 0 {
		b.arg = &p.args[b.index]
	}
	if c.Distinct {
		if err := order.Check(b.arg.dt); err != nil {
			return nil, errorAt(c.Pos, "%v", err)
		}
		if arrow.IsDecimal(b.plain().ID()) {
			b.need(needPlain)
		}
	}
	return b, f.bind(p, b)
}

// argument is the index of an expression among the arguments.
func (p *plan) argument(n *ast.Node) (int, error) {
	v, err := compute.Bind(n, p.input)
	if err != nil {
		return -1, err
	}
	return p.add(n.String(), v), nil
}

func (p *plan) add(name string, v value) int {
	if i, ok := p.names[name]; ok {
		return i
	}
	p.names[name] = len(p.args)
	p.args = append(p.args, expression{name: name, value: v, dt: v.Type(), out: resultOf(v, name, p.input).Type})
	return len(p.args) - 1
}

// need makes views of the argument of a call.
func (c *bound) need(n needs) { c.arg.needs |= n }

// plain is the type of the argument without wrappers.
func (c *bound) plain() arrow.DataType { return kinds.Unwrapped(c.arg.dt) }

// fraction is the constant second argument, between 0 and 1.
func (c *bound) fraction() (float64, error) {
	n := c.call.Args[1]
	if n.Op == ast.OpLiteral && n.Lit.Kind == ast.LitNumber {
		if q, err := strconv.ParseFloat(n.Lit.Text, 64); err == nil && q >= 0 && q <= 1 {
			return q, nil
		}
	}
	return 0, errorAt(n.Pos, "the second argument of %s is a number from 0 to 1", c.call.Name)
}
