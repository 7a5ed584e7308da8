package aggregate

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/amudai/amudai-go/internal/arrow/kinds"
	"github.com/amudai/amudai-go/internal/engine/ast"
	"github.com/amudai/amudai-go/internal/text"
)

// function is an aggregate function.
type function struct {
	args    string // as in messages: "x, p"
	least   int    // arguments
	most    int
	bind    func(p *plan, c *bound) error
	anyway  bool // distinct makes no difference
	refuses bool // distinct makes no sense
}

// functions are the aggregate functions by name. Other names are those of DuckDB.
var functions map[string]function

func init() {
	functions = map[string]function{
		"count":           {"x", 0, 1, bindCount, false, false},
		"sum":             {"x", 1, 1, bindSum, false, false},
		"avg":             {"x", 1, 1, bindAverage, false, false},
		"min":             {"x", 1, 1, extreme(false), true, false},
		"max":             {"x", 1, 1, extreme(true), true, false},
		"first":           {"x", 1, 1, pick(first, true), true, false},
		"last":            {"x", 1, 1, pick(last, true), false, true},
		"any_value":       {"x", 1, 1, pick(first, false), true, false},
		"var_samp":        {"x", 1, 1, moment2(1, false), false, false},
		"var_pop":         {"x", 1, 1, moment2(0, false), false, false},
		"stddev_samp":     {"x", 1, 1, moment2(1, true), false, false},
		"stddev_pop":      {"x", 1, 1, moment2(0, true), false, false},
		"median":          {"x", 1, 1, bindMedian, false, false},
		"quantile_disc":   {"x, p", 2, 2, quantile(false), false, false},
		"quantile_cont":   {"x, p", 2, 2, quantile(true), false, false},
		"approx_quantile": {"x, p", 2, 2, bindApproxQuantile, false, false},
		"approx_distinct": {"x", 1, 1, bindApproxDistinct, true, false},
		"bool_and":        {"x", 1, 1, bindBool(false), true, false},
		"bool_or":         {"x", 1, 1, bindBool(true), true, false},
		"hist":            {"x, from, to, bins", 4, 4, bindHistogram, false, true},
		"list":            {"x", 1, 1, bindList, false, false},
		"string_agg":      {"x, separator", 1, 2, bindJoin, false, false},
	}
	for alias, name := range map[string]string{
		"mean": "avg", "variance": "var_samp", "stddev": "stddev_samp", "quantile": "quantile_disc", "approx_count_distinct": "approx_distinct",
		"arbitrary": "first", "group_concat": "string_agg", "array_agg": "list",
	} {
		functions[alias] = functions[name]
	}
}

// lookUp finds the function of a call.
func lookUp(c ast.Call) (function, error) {
	f, ok := functions[c.Name]
	if !ok {
		return f, errorAt(c.Pos, "unknown aggregate %s%s", c.Name, hint(c.Name))
	}
	if n := len(c.Args); n < f.least || n > f.most {
		return f, errorAt(c.Pos, "%s has other arguments: %s(%s)", c.Text, c.Name, f.args)
	}
	if c.Distinct && len(c.Args) == 0 {
		return f, errorAt(c.Pos, "distinct needs an argument: count(distinct x)")
	}
	if c.Distinct && f.refuses {
		return f, errorAt(c.Pos, "%s takes no distinct", c.Name)
	}
	return f, nil
}

func hint(name string) string {
	names := slices.AppendSeq([]string{"count_distinct"}, maps.Keys(functions)) // of which the parser makes count(distinct x)
	slices.Sort(names)
	if s := text.Suggest(name, slices.Values(names)); s != "" {
		return s
	}
	return ": use one of " + strings.Join(names, ", ")
}

func errorAt(pos int, format string, args ...any) error {
	return &ast.Error{Pos: pos, Message: fmt.Sprintf(format, args...)}
}

// refuse is the error of an argument of the wrong type.
func refuse(c *bound, what string) error {
	hint := ""
	if kinds.Of(c.plain()) == kinds.List {
		hint = fmt.Sprintf(": %s(sum(%s)) is about the sums of their elements", c.call.Name, c.arg.name)
	}
	return errorAt(c.call.Pos, "%s takes %s, and %s is %s%s", c.call.Name, what, c.arg.name, c.arg.dt, hint)
}

func isNumber(dt arrow.DataType) bool {
	return arrow.IsInteger(dt.ID()) || arrow.IsFloating(dt.ID()) || arrow.IsDecimal(dt.ID())
}
