package traceql_test

import (
	"encoding/hex"
	"fmt"
	"math"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// This file has another evaluator of queries, over spans as tests describe them. It shares no code with the package: queries
// are generated as text together with a function that tells their meaning.

// Values are nil, string, int64, float64, time.Duration, bool, status, kind, multi and several.
type (
	status  int64
	kind    int64
	multi   []any // an attribute with an array
	several []any // an attribute in some events or links
)

// expression is a random expression, and its value for span i of a trace.
type expression struct {
	text  string
	value func(trace []span, i int) any
}

// comparables tells whether two plain values are compared, and how.
func comparables(a, b any) (order int, nan, ok bool) {
	if x, isNumber := asNumber(a); isNumber {
		y, isNumber := asNumber(b)
		switch {
		case !isNumber:
			return 0, false, false
		case x < y:
			return -1, false, true
		case x > y:
			return 1, false, true
		}
		return 0, x != y, true
	}
	if a == nil || fmt.Sprintf("%T", a) != fmt.Sprintf("%T", b) {
		return 0, false, false
	}
	if s, isString := a.(string); isString {
		return strings.Compare(s, b.(string)), false, true
	}
	if a == b {
		return same, false, true
	}
	return other, false, true
}

// Results for values of kinds without an order.
const (
	same  = 7
	other = 8
)

// asNumber is a number as a float. Tests use only numbers that are exact as floats.
func asNumber(v any) (float64, bool) {
	switch v := v.(type) {
	case int64:
		return float64(v), true
	case float64:
		return v, true
	case time.Duration:
		return float64(v), true
	}
	return 0, false
}

func elements(v any) []any {
	switch v := v.(type) {
	case multi:
		return v
	case several:
		var all []any
		for _, e := range v {
			all = append(all, elements(e)...)
		}
		return all
	}
	return []any{v}
}

// choices are the values of several events, or the one value.
func choices(v any) []any {
	if s, ok := v.(several); ok {
		return s
	}
	return []any{v}
}

func compareNaive(op string, a, b any) bool {
	pairs := func(a, b any, test func(order int, nan bool) bool) (some, any bool) {
		for _, x := range elements(a) {
			for _, y := range elements(b) {
				order, nan, ok := comparables(x, y)
				some = some || ok
				any = any || ok && test(order, nan)
			}
		}
		return some, any
	}
	if op == "!=" {
		for _, x := range choices(a) {
			for _, y := range choices(b) {
				comparable, equal := pairs(x, y, func(order int, nan bool) bool { return order == 0 && !nan || order == same })
				if comparable && !equal {
					return true
				}
			}
		}
		return false
	}
	_, yes := pairs(a, b, func(order int, nan bool) bool {
		switch {
		case op == "=":
			return order == 0 && !nan || order == same
		case order >= same:
			return false
		}
		switch op {
		case "<":
			return order < 0
		case "<=":
			return order <= 0 && !nan
		case ">":
			return order > 0
		}
		return order >= 0 && !nan
	})
	return yes
}

func matchNaive(not bool, v any, pattern string) bool {
	re := regexp.MustCompile(pattern)
	whole := func(s string) bool {
		re.Longest()
		return slices.ContainsFunc(re.FindAllStringIndex(s, -1), func(at []int) bool { return at[0] == 0 && at[1] == len(s) })
	}
	for _, choice := range choices(v) {
		texts, matched := 0, 0
		for _, e := range elements(choice) {
			if s, ok := e.(string); ok {
				texts++
				if whole(s) {
					matched++
				}
			}
		}
		if !not && matched > 0 || not && texts > 0 && matched == 0 {
			return true
		}
	}
	return false
}

// arithmeticNaive computes with floats; the numbers of tests are exact as floats.
func arithmeticNaive(op string, a, b any) any {
	for k, v := range []any{a, b} {
		var list []any
		switch v := v.(type) {
		case multi:
			list = v
		case several:
			list = v
		default:
			continue
		}
		var out []any
		for _, e := range list {
			pair := []any{a, b}
			pair[k] = e
			if r := arithmeticNaive(op, pair[0], pair[1]); r != nil {
				out = append(out, r)
			}
		}
		if len(out) == 0 {
			return nil
		}
		if _, isArray := v.(multi); isArray {
			return multi(out)
		}
		return several(out)
	}
	x, ok1 := asNumber(a)
	y, ok2 := asNumber(b)
	if !ok1 || !ok2 {
		return nil
	}
	switch op {
	case "+":
		return x + y
	case "-":
		return x - y
	case "*":
		return x * y
	case "/":
		return x / y
	case "%":
		if y == 0 {
			return math.NaN()
		}
		return math.Mod(x, y)
	}
	return math.Pow(x, y)
}

// parentOf is the position of the parent of a span, or -1.
func parentOf(trace []span, i int) int {
	if trace[i].parent == 0 {
		return -1
	}
	return slices.IndexFunc(trace, func(s span) bool { return s.id == trace[i].parent })
}

func attributeNaive(s span, name string) any {
	if name == "resource.service.name" {
		if s.service == "" {
			return nil
		}
		return s.service
	}
	switch v := s.attrs[name].(type) {
	case []any:
		return multi(v)
	default:
		return v
	}
}

func eventsNaive(s span, get func(event) any) any {
	var list several
	for _, e := range s.events {
		if v := get(e); v != nil {
			list = append(list, v)
		}
	}
	if list == nil {
		return nil
	}
	return list
}

func linksNaive(s span, get func(link) any) any {
	var list several
	for _, l := range s.links {
		if v := get(l); v != nil {
			list = append(list, v)
		}
	}
	if list == nil {
		return nil
	}
	return list
}

func firstNonNil(values ...any) any {
	for _, v := range values {
		if v != nil {
			return v
		}
	}
	return nil
}

func traceTimes(trace []span) (first, last int64) {
	first, last = trace[0].start, trace[0].end
	for _, s := range trace {
		first, last = min(first, s.start), max(last, s.end)
	}
	return first, last
}

func rootNaive(trace []span) int {
	return slices.IndexFunc(trace, func(s span) bool { return s.parent == 0 })
}

// fieldsNaive are the fields of queries and their meaning.
var fieldsNaive = map[string]func(trace []span, i int) any{
	"name":          func(t []span, i int) any { return t[i].name },
	"status":        func(t []span, i int) any { return status(t[i].status) },
	"span:kind":     func(t []span, i int) any { return kind(t[i].kind) },
	"duration":      func(t []span, i int) any { return time.Duration(t[i].end - t[i].start) },
	"statusMessage": func(t []span, i int) any { return t[i].message },
	"instrumentation:name": func(t []span, i int) any {
		return t[i].scope
	},
	"span.a":     func(t []span, i int) any { return attributeNaive(t[i], "span.a") },
	"span.b":     func(t []span, i int) any { return attributeNaive(t[i], "span.b") },
	"resource.a": func(t []span, i int) any { return attributeNaive(t[i], "resource.a") },
	"resource.service.name": func(t []span, i int) any {
		return attributeNaive(t[i], "resource.service.name")
	},
	"instrumentation.a": func(t []span, i int) any { return attributeNaive(t[i], "scope.a") },
	"event.a":           func(t []span, i int) any { return eventsNaive(t[i], func(e event) any { return e.attrs["a"] }) },
	"event:name":        func(t []span, i int) any { return eventsNaive(t[i], func(e event) any { return e.name }) },
	"event:timeSinceStart": func(t []span, i int) any {
		return eventsNaive(t[i], func(e event) any { return time.Duration(e.time - t[i].start) })
	},
	"link.a": func(t []span, i int) any { return linksNaive(t[i], func(l link) any { return l.attrs["a"] }) },
	".a": func(t []span, i int) any {
		return firstNonNil(attributeNaive(t[i], "span.a"), attributeNaive(t[i], "resource.a"), attributeNaive(t[i], "scope.a"),
			eventsNaive(t[i], func(e event) any { return e.attrs["a"] }), linksNaive(t[i], func(l link) any { return l.attrs["a"] }))
	},
	".service.name": func(t []span, i int) any { return attributeNaive(t[i], "resource.service.name") },
	"span.missing":  func([]span, int) any { return nil },
	"parent.span.a": func(t []span, i int) any {
		if p := parentOf(t, i); p >= 0 {
			return attributeNaive(t[p], "span.a")
		}
		return nil
	},
	"parent.name": func(t []span, i int) any {
		if p := parentOf(t, i); p >= 0 {
			return t[p].name
		}
		return nil
	},
	"span:childCount": func(t []span, i int) any {
		n := int64(0)
		for _, s := range t {
			if s.parent == t[i].id {
				n++
			}
		}
		return n
	},
	"trace:duration": func(t []span, _ int) any {
		first, last := traceTimes(t)
		return time.Duration(last - first)
	},
	"trace:rootName": func(t []span, _ int) any {
		if r := rootNaive(t); r >= 0 {
			return t[r].name
		}
		return nil
	},
	"rootServiceName": func(t []span, _ int) any {
		if r := rootNaive(t); r >= 0 {
			return attributeNaive(t[r], "resource.service.name")
		}
		return nil
	},
	"nestedSetParent": func(t []span, i int) any {
		switch {
		case t[i].parent == 0:
			return int64(-1)
		case parentOf(t, i) < 0:
			return int64(0)
		}
		return nil // the generator asks only for roots
	},
}

func pick[T any](r *rand.Rand, list ...T) T { return list[r.IntN(len(list))] }

// Words of random spans and queries.
var (
	words  = []string{"", "a", "b", "ab", "GET", "GET /"}
	ints   = []int64{-1, 0, 1, 2, 3, 200}
	floats = []float64{-0.5, 0, 1, 1.5, 2, 200}
)

func randomScalar(r *rand.Rand) any {
	switch r.IntN(5) {
	case 0, 1:
		return pick(r, words...)
	case 2:
		return pick(r, ints...)
	case 3:
		return pick(r, floats...)
	}
	return r.IntN(2) == 0
}

func randomValue(r *rand.Rand) any {
	if r.IntN(8) > 0 {
		return randomScalar(r)
	}
	list := []any{}
	for range r.IntN(4) {
		list = append(list, randomScalar(r))
	}
	return list
}

// literalOf is a random value as text.
func literalOf(v any) string {
	switch v := v.(type) {
	case string:
		return strconv.Quote(v)
	case float64:
		s := strconv.FormatFloat(v, 'g', -1, 64)
		if !strings.Contains(s, ".") {
			s += ".0"
		}
		return s
	case time.Duration:
		return fmt.Sprintf("%dns", int64(v))
	case status:
		return []string{"unset", "ok", "error"}[v]
	case kind:
		return []string{"unspecified", "internal", "server", "client", "producer", "consumer"}[v]
	}
	return fmt.Sprint(v)
}

// typed are literals that may be compared with a field.
func typed(r *rand.Rand, field string) any {
	switch field {
	case "name", "statusMessage", "instrumentation:name", "event:name", "trace:rootName", "rootServiceName", "parent.name":
		return pick(r, words...)
	case "status":
		return status(r.IntN(3))
	case "span:kind":
		return kind(r.IntN(6))
	case "duration", "event:timeSinceStart", "trace:duration":
		return time.Duration(pick(r, ints...))
	case "span:childCount":
		return pick(r, ints...)
	}
	return randomScalar(r)
}

func randomField(r *rand.Rand) string {
	return pick(r, slices.DeleteFunc(sortedKeys(fieldsNaive), func(f string) bool { return f == "nestedSetParent" })...)
}

func isAttribute(field string) bool {
	return !strings.Contains(field, ":") && strings.Contains(field, ".") && field != "parent.name"
}

func hasOrder(v any) bool {
	switch v.(type) {
	case bool, status, kind:
		return false
	}
	return true
}

// randomComparison is a comparison of a field with a literal, nil, a pattern or another field.
func randomComparison(r *rand.Rand) expression {
	field := randomField(r)
	get := fieldsNaive[field]
	switch r.IntN(12) {
	case 0:
		return expression{field + " = nil", func(t []span, i int) any { return get(t, i) == nil }}
	case 1:
		return expression{field + " != nil", func(t []span, i int) any { return get(t, i) != nil }}
	case 2, 3:
		if _, ok := typed(r, field).(string); !ok && !isAttribute(field) {
			return randomComparison(r)
		}
		pattern := pick(r, "a", "a|b", "GET.*", ".*b", "", ".*", "[ab]+")
		op := pick(r, "=~", "!~")
		return expression{fmt.Sprintf("%s %s %q", field, op, pattern), func(t []span, i int) any {
			return matchNaive(op == "!~", get(t, i), pattern)
		}}
	case 4:
		return randomIDs(r)
	case 5:
		return expression{"nestedSetParent < 0", func(t []span, i int) any { return t[i].parent == 0 }}
	case 6, 7:
		return randomArithmetic(r)
	case 8:
		other := pick(r, "span.a", ".a", "resource.a", "event.a", "parent.span.a")
		if !isAttribute(field) {
			field, get = "span.b", fieldsNaive["span.b"]
		}
		op := pick(r, "=", "!=", "<", ">=")
		return expression{fmt.Sprintf("%s %s %s", field, op, other), func(t []span, i int) any {
			return compareNaive(op, get(t, i), fieldsNaive[other](t, i))
		}}
	case 9:
		field = pick(r, "span.a", ".a", "resource.a", "event.a")
		get = fieldsNaive[field]
		return expression{field, func(t []span, i int) any { return compareNaive("=", get(t, i), true) }}
	}
	v := typed(r, field)
	op := pick(r, "=", "!=")
	if hasOrder(v) {
		op = pick(r, "=", "!=", "<", "<=", ">", ">=")
	}
	if r.IntN(4) == 0 { // the literal on the left
		return expression{fmt.Sprintf("%s %s %s", literalOf(v), op, field), func(t []span, i int) any { return compareNaive(op, v, get(t, i)) }}
	}
	return expression{fmt.Sprintf("%s %s %s", field, op, literalOf(v)), func(t []span, i int) any { return compareNaive(op, get(t, i), v) }}
}

func randomIDs(r *rand.Rand) expression {
	id := byte(r.IntN(6))
	op := pick(r, "=", "!=")
	test := func(text string, got byte) bool {
		want, _ := strconv.ParseUint("0"+text, 16, 64)
		return (uint64(got) == want) == (op == "=")
	}
	text := pick(r, hex.EncodeToString(spanID(id)), fmt.Sprintf("%x", id))
	switch r.IntN(3) {
	case 0:
		return expression{fmt.Sprintf("trace:id %s %q", op, text), func(t []span, i int) any { return test(text, t[i].trace) }}
	case 1:
		return expression{fmt.Sprintf("span:id %s %q", op, text), func(t []span, i int) any { return test(text, t[i].id) }}
	}
	return expression{fmt.Sprintf("span:parentID %s %q", op, text), func(t []span, i int) any { return test(text, t[i].parent) }}
}

// numeric are the fields of random arithmetic.
var numeric = []string{"span.a", ".a", "event.a", "duration", "span:childCount", "parent.span.a", "resource.a"}

func randomArithmetic(r *rand.Rand) expression {
	field := pick(r, numeric...)
	get := fieldsNaive[field]
	a, b := pick(r, ints...), pick(r, ints...)
	calc := pick(r, "+", "-", "*", "/", "%")
	op := pick(r, "=", "!=", "<", "<=", ">", ">=")
	other := pick(r, numeric...)
	if r.IntN(2) == 0 {
		return expression{fmt.Sprintf("%s %s %d %s %d", field, calc, a, op, b), func(t []span, i int) any {
			return compareNaive(op, arithmeticNaive(calc, get(t, i), a), b)
		}}
	}
	return expression{fmt.Sprintf("-(%s) %s %s * 2", field, op, other), func(t []span, i int) any {
		return compareNaive(op, arithmeticNaive("-", int64(0), get(t, i)), arithmeticNaive("*", fieldsNaive[other](t, i), int64(2)))
	}}
}

// randomCondition is a condition with && and || of equal precedence, from the left.
func randomCondition(r *rand.Rand, depth int) expression {
	if depth == 0 || r.IntN(3) == 0 {
		return randomComparison(r)
	}
	x := randomCondition(r, depth-1)
	if r.IntN(4) == 0 {
		return expression{"!(" + x.text + ")", func(t []span, i int) any { return x.value(t, i) != true }}
	}
	y := randomCondition(r, depth-1)
	if r.IntN(2) == 0 {
		return expression{fmt.Sprintf("(%s) && (%s)", x.text, y.text), func(t []span, i int) any { return x.value(t, i) == true && y.value(t, i) == true }}
	}
	return expression{fmt.Sprintf("(%s) || (%s)", x.text, y.text), func(t []span, i int) any { return x.value(t, i) == true || y.value(t, i) == true }}
}

// stage is a random part of a pipeline; sets are positions of spans.
type stage struct {
	text string
	run  func(trace []span, in [][]int) [][]int
}

func eachSet(f func(trace []span, set []int) []int) func([]span, [][]int) [][]int {
	return func(trace []span, in [][]int) (out [][]int) {
		for _, set := range in {
			if left := f(trace, set); len(left) > 0 {
				out = append(out, left)
			}
		}
		return out
	}
}

func randomFilter(r *rand.Rand) stage {
	if r.IntN(8) == 0 {
		return stage{"{ }", func(_ []span, in [][]int) [][]int { return in }}
	}
	c := randomCondition(r, 2)
	return stage{"{ " + c.text + " }", eachSet(func(trace []span, set []int) (out []int) {
		for _, i := range set {
			if c.value(trace, i) == true {
				out = append(out, i)
			}
		}
		return out
	})}
}

func joined(sets [][]int) []int {
	all := slices.Concat(sets...)
	slices.Sort(all)
	return slices.Compact(all)
}

func isAncestor(trace []span, a, b int) bool {
	for i, steps := parentOf(trace, b), 0; i >= 0 && steps <= len(trace); i, steps = parentOf(trace, i), steps+1 {
		if i == a {
			return true
		}
	}
	return false
}

func relatedNaive(trace []span, symbol string, l, r int) bool {
	switch symbol {
	case ">":
		return parentOf(trace, r) == l
	case ">>":
		return isAncestor(trace, l, r)
	case "<":
		return parentOf(trace, l) == r
	case "<<":
		return isAncestor(trace, r, l)
	}
	return l != r && trace[l].parent == trace[r].parent && trace[l].parent != 0
}

func randomSets(r *rand.Rand, depth int) stage {
	if depth == 0 || r.IntN(2) == 0 {
		return randomFilter(r)
	}
	if r.IntN(5) == 0 {
		inner := randomPipeline(r, depth-1)
		return stage{"(" + inner.text + ")", inner.run}
	}
	x, y := randomSets(r, depth-1), randomSets(r, depth-1)
	op := pick(r, "&&", "||", ">", ">>", "<", "<<", "~", "!>", "!>>", "!<", "!<<", "!~", "&>", "&>>", "&<", "&<<", "&~")
	symbol := op
	if strings.ContainsAny(op, "<>~") {
		symbol = strings.Trim(op, "!&")
	}
	return stage{fmt.Sprintf("(%s) %s (%s)", x.text, op, y.text), eachSet(func(trace []span, set []int) (out []int) {
		left, right := joined(x.run(trace, [][]int{set})), joined(y.run(trace, [][]int{set}))
		if op == "&&" && (left == nil || right == nil) {
			return nil
		}
		if op == "&&" || op == "||" {
			return joined([][]int{left, right})
		}
		for i := range trace {
			ofLeft := slices.ContainsFunc(left, func(l int) bool { return relatedNaive(trace, symbol, l, i) })
			ofRight := slices.ContainsFunc(right, func(r int) bool { return relatedNaive(trace, symbol, i, r) })
			isRight := slices.Contains(right, i) && ofLeft != strings.HasPrefix(op, "!")
			isLeft := slices.Contains(left, i) && ofRight && strings.HasPrefix(op, "&")
			if isRight || isLeft {
				out = append(out, i)
			}
		}
		return out
	})}
}

func aggregateNaive(trace []span, set []int, function, field string) any {
	var list []float64
	for _, i := range set {
		for _, v := range elements(fieldsNaive[field](trace, i)) {
			if n, ok := asNumber(v); ok {
				list = append(list, n)
			}
		}
	}
	if len(list) == 0 {
		return nil
	}
	sum := 0.0
	for _, n := range list {
		sum += n
	}
	switch function {
	case "min":
		return slices.Min(list)
	case "max":
		return slices.Max(list)
	case "avg":
		if field == "duration" {
			return math.Trunc(sum / float64(len(list)))
		}
		return sum / float64(len(list))
	}
	return sum
}

func randomPipeline(r *rand.Rand, depth int) stage {
	stages := []stage{randomSets(r, depth)}
	for range r.IntN(3) {
		stages = append(stages, randomStage(r))
	}
	var texts []string
	for _, s := range stages {
		texts = append(texts, s.text)
	}
	return stage{strings.Join(texts, " | "), func(trace []span, in [][]int) [][]int {
		for _, s := range stages {
			in = s.run(trace, in)
		}
		return in
	}}
}

func randomStage(r *rand.Rand) stage {
	op := pick(r, "=", "!=", "<", "<=", ">", ">=")
	v := pick(r, ints...)
	switch r.IntN(5) {
	case 0:
		return stage{fmt.Sprintf("count() %s %d", op, v), eachSet(func(_ []span, set []int) []int {
			if compareNaive(op, int64(len(set)), v) {
				return set
			}
			return nil
		})}
	case 1:
		function, field := pick(r, "avg", "min", "max", "sum"), pick(r, "duration", "span.a", ".a", "event.a", "span:childCount")
		return stage{fmt.Sprintf("%s(%s) %s %d", function, field, op, v), eachSet(func(trace []span, set []int) []int {
			if compareNaive(op, aggregateNaive(trace, set, function, field), v) {
				return set
			}
			return nil
		})}
	case 2:
		field := pick(r, "name", "span.a", "status", "resource.service.name", "span:childCount")
		return stage{"by(" + field + ")", func(trace []span, in [][]int) (out [][]int) {
			for _, set := range in {
				place := map[string]int{}
				for _, i := range set {
					v := fieldsNaive[field](trace, i)
					key := fmt.Sprintf("%T %v", v, v)
					k, ok := place[key]
					if !ok {
						k = len(out)
						place[key] = k
						out = append(out, nil)
					}
					out[k] = append(out[k], i)
				}
			}
			return out
		}}
	case 3:
		return stage{"coalesce()", func(_ []span, in [][]int) [][]int {
			if len(in) == 0 {
				return nil
			}
			return [][]int{joined(in)}
		}}
	}
	return randomFilter(r)
}
