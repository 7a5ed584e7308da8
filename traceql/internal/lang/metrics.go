package lang

import (
	"slices"
	"strconv"
	"strings"

	"github.com/amudai/amudai-go/traceql/internal/value"
)

// Metrics is the last stage of a query that makes time series of the spans before it.
type Metrics struct {
	Func      string    // "rate", "count_over_time", "min_over_time", …, "compare"
	X         *Expr     // whose numbers it is about; nil for rate, count_over_time and compare
	Quantiles []float64 // of quantile_over_time
	By        []*Expr

	Subset   *SpansetFilter // of compare
	Top      int
	From, To int64 // nanoseconds, in which spans of the subset begin; 0: at any time

	Then []SeriesStage
}

// SeriesStage leaves some of the samples of time series.
type SeriesStage struct {
	Func  string // "topk" or "bottomk"; "" for a comparison
	K     int
	Op    Op
	Value value.Value // of a comparison
}

func (*Metrics) stage() {}

// Metrics is the last stage if the query makes time series, else nil.
func (q *Query) Metrics() *Metrics {
	m, _ := q.Pipeline.Stages[len(q.Pipeline.Stages)-1].(*Metrics)
	return m
}

// metricsFuncs are the functions that make time series, and those that take some of them.
var metricsFuncs = []string{
	"rate", "count_over_time", "min_over_time", "max_over_time", "avg_over_time", "sum_over_time", "quantile_over_time", "histogram_over_time",
	"compare", "topk", "bottomk",
}

const defaultTop = 10

// metrics reads a function of time series and what follows it, up to the hints.
func (p *parser) metrics(first bool) *Metrics {
	m, pos := &Metrics{Func: p.tok.text}, p.tok.pos
	switch {
	case m.Func == "topk" || m.Func == "bottomk":
		p.fail(pos, "%s() follows a function of time series: { } | rate() by(name) | %[1]s(5)", m.Func)
	case first || p.depth > 0:
		p.fail(pos, "%s() ends a query: { } | %[1]s(…)", m.Func)
	}
	p.stage(pos)
	switch m.Func {
	case "rate", "count_over_time":
		p.noArguments()
	case "compare":
		p.compare(m)
		return m
	default:
		p.advance()
		p.expect("(")
		m.X = p.numeric(m.Func)
		for m.Func == "quantile_over_time" && (m.Quantiles == nil || p.isSymbol(",")) && p.err == nil {
			p.expect(",")
			m.Quantiles = append(m.Quantiles, p.quantile())
		}
		p.expect(")")
	}
	if p.isWord("by") {
		m.By = p.arguments("by")
	}
	for p.err == nil {
		op, compared := binaryOps[p.tok.text]
		switch {
		case p.accept("|"):
			m.Then = append(m.Then, p.extremes())
		case p.tok.kind == tokSymbol && compared && op >= Eq && op <= Ge:
			p.advance()
			m.Then = append(m.Then, SeriesStage{Op: op, Value: p.constantNumber()})
		default:
			return m
		}
	}
	return m
}

// quantile reads a number from 0 to 1. Its digits before the point may be missing, so that it looks like an attribute.
func (p *parser) quantile() float64 {
	pos, text := p.tok.pos, p.tok.text
	if p.tok.kind == tokField && strings.HasPrefix(text, ".") {
		if q, err := strconv.ParseFloat(text, 64); err == nil {
			p.advance()
			return q
		}
	}
	q := p.constantNumber().Float64()
	if !(q >= 0 && q <= 1) {
		p.fail(pos, "a quantile is a number from 0 to 1")
	}
	return q
}

func (p *parser) constantNumber() value.Value {
	e := p.unary()
	if e.Op != Literal || !e.Value.Kind().IsNumber() {
		p.fail(e.Pos, "expected a number")
	}
	return e.Value
}

// extremes reads topk(k) or bottomk(k).
func (p *parser) extremes() SeriesStage {
	s := SeriesStage{Func: p.tok.text}
	if p.tok.kind != tokWord || s.Func != "topk" && s.Func != "bottomk" {
		p.fail(p.tok.pos, "time series are followed by topk(k), bottomk(k) or a comparison, as in rate() > 10")
	}
	p.stage(p.tok.pos)
	p.advance()
	p.expect("(")
	pos := p.tok.pos
	if s.K = int(p.integer()); s.K < 1 {
		p.fail(pos, "%s() needs a number above 0", s.Func)
	}
	p.expect(")")
	return s
}

func (p *parser) integer() int64 {
	pos := p.tok.pos
	v := p.constantNumber()
	if v.Kind() != value.Int {
		p.fail(pos, "expected an integer")
	}
	return v.Int64()
}

// compare reads compare({ … }, top, from, to).
func (p *parser) compare(m *Metrics) {
	p.advance()
	p.expect("(")
	if !p.isSymbol("{") {
		p.unexpected("{, the condition of the spans that are compared with the others")
	}
	m.Subset, _ = p.spansetFilter().(*SpansetFilter)
	m.Top = defaultTop
	if p.accept(",") {
		pos := p.tok.pos
		top := p.integer()
		if top < 1 || top > 1000 {
			p.fail(pos, "compare() shows 1 to 1000 values of an attribute")
		}
		m.Top = int(top)
	}
	if pos := p.tok.pos; p.accept(",") {
		m.From = p.integer()
		p.expect(",")
		if m.To = p.integer(); m.From <= 0 || m.To <= m.From {
			p.fail(pos, "the times of compare() are nanoseconds since 1970, the first one before the second")
		}
	}
	p.expect(")")
	if p.tok.kind == tokSymbol || p.isWord("by") {
		p.fail(p.tok.pos, "nothing follows compare()")
	}
}

// numeric reads an expression of fields that has numbers.
func (p *parser) numeric(function string) *Expr {
	e := p.expr(0)
	if t := typeOf(e); t != tNumber && t != tUnknown {
		p.fail(e.Pos, "%s() needs a number, not %s", function, typNames[t])
	}
	if !hasField(e) {
		p.fail(e.Pos, "%s() needs an attribute or intrinsic", function)
	}
	return e
}

func (p *parser) isMetrics() bool {
	return p.tok.kind == tokWord && slices.Contains(metricsFuncs, p.tok.text)
}

// metrics writes a function of time series and what follows it.
func (p *printer) metrics(m *Metrics) {
	p.WriteString(m.Func + "(")
	if m.X != nil {
		p.expr(m.X, 0)
	}
	for _, q := range m.Quantiles {
		p.WriteString(", " + value.FormatFloat(q))
	}
	if m.Subset != nil {
		p.stage(m.Subset, 0)
		if m.Top != defaultTop || m.To != 0 {
			p.WriteString(", " + strconv.Itoa(m.Top))
		}
		if m.To != 0 {
			p.WriteString(", " + strconv.FormatInt(m.From, 10) + ", " + strconv.FormatInt(m.To, 10))
		}
	}
	p.WriteString(")")
	if m.By != nil {
		p.WriteString(" ")
		p.call("by", m.By)
	}
	for _, s := range m.Then {
		if s.Func != "" {
			p.WriteString(" | " + s.Func + "(" + strconv.Itoa(s.K) + ")")
		} else {
			p.WriteString(" " + s.Op.String() + " " + s.Value.String())
		}
	}
}
