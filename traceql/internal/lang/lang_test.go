package lang_test

import (
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/amudai/amudai-go/traceql/internal/lang"
)

// accepted has queries and how they are printed; "" stands for the query itself.
var accepted = []struct{ query, printed string }{
	{`{ }`, ``},
	{`{}`, `{ }`},
	{"{ // comment\n true }", `{ true }`},
	{`{ name = "x" }`, ``},
	{`{name="x"&&kind=server}`, `{ name = "x" && kind = server }`},
	{`{ .a = 1 }`, ``},
	{`{ span.http.status_code >= 200 && span.http.status_code < 300 }`, ``},
	{`{ resource.service.name = "a" || event.exception.type != "b" }`, ``},
	{`{ link.opentracing.ref_type = "child_of" && instrumentation.language = "java" }`, ``},
	{`{ event:name = "exception" && event:timeSinceStart > 2ms }`, ``},
	{`{ link:traceID = "1" && link:spanID = "2" }`, ``},
	{`{ instrumentation:name = "a" && instrumentation:version = "b" }`, ``},
	{`{ span:id = "1" && span:parentID != "2" && trace:id = "3" }`, ``},
	{`{ span:status = error && span:statusMessage = "" && span:kind = consumer && span:duration > 1h }`, ``},
	{`{ status = unset || status = ok || kind = unspecified || kind = internal || kind = producer }`, ``},
	{`{ statusMessage = "" && duration > 1s && traceDuration > 2m && rootName = "a" && rootServiceName = "b" }`, ``},
	{`{ trace:duration > 5s && trace:rootName = "a" && trace:rootService = "b" }`, ``},
	{`{ span:childCount > 0 && childCount = 1 }`, ``},
	{`{ nestedSetParent < 0 && nestedSetLeft > 0 && nestedSetRight > 0 }`, ``},
	{`{ parent = nil || parent != nil || parent:id = "1" }`, ``},
	{`{ parent.a = 1 && parent.span.b = 2 && parent.resource.c = 3 && parent.duration > 1s }`, ``},
	{`{ parent.spanned = 1 && parent."duration" = 2 && parent."span.x" = 3 }`, ``},
	{`{ span."a b" = 1 && span."a\"b\\c" = 2 && .a."b c".d = 3 && ."" = 4 }`, `{ span."a b" = 1 && span."a\"b\\c" = 2 && ."a.b c.d" = 3 && ."" = 4 }`},
	{`{ .http.header.content-type = "x" && .a/b = 1 && .a+b*c%d = 2 }`, ``},
	{`{ .größe = 1 }`, ``},
	{`{ .a = 1.5 && .b = 1e-09 && .c = -3 && .d = -1.0 && .e = -5s }`, ``},
	{`{ .a = minInt || .b = maxInt }`, `{ .a = -9223372036854775808 || .b = 9223372036854775807 }`},
	{`{ .a = 90m && .b = 1500ms && .c = 100us && .d = 7ns && .e = 1h30m }`, `{ .a = 90m && .b = 1500ms && .c = 100us && .d = 7ns && .e = 90m }`},
	{`{ .a = 1.5s && .b = 1µs }`, `{ .a = 1500ms && .b = 1us }`},
	{"{ .a = `raw \\` && .b = \"tab\\t\" }", `{ .a = "raw \\" && .b = "tab\t" }`},
	{`{ .a = true && .b = false && .c = nil && .d != nil }`, ``},
	{`{ .a }`, ``},
	{`{ !.a && !(.b && .c) }`, ``},
	{`{ .a =~ "x.*" && .b !~ "y|z" }`, ``},
	{`{ .a = .b && .c > .d + 1 }`, ``},
	{`{ .a + 1 * 2 - 3 / 4 % 5 ^ 6 = 7 }`, ``},
	{`{ (.a + 1) * 2 = -(.b - 1) }`, ``},
	{`{ .a - (1 - 2) - 3 > 2 ^ 3 ^ 4 }`, ``},
	{`{ (2 ^ 3) ^ .a = (-2) ^ .b }`, ``},
	{`{ -2 ^ .a = -(2 ^ .a) }`, `{ -2 ^ .a = -2 ^ .a }`},
	{`{ - 5 = .a && -(5) = .a && --5 = .a }`, `{ -5 = .a && -5 = .a && 5 = .a }`},
	{`{ .a || .b && .c }`, ``},
	{`{ .a || (.b && .c) }`, ``},
	{`{ (.a || .b) && .c }`, `{ .a || .b && .c }`},
	{`{ (.a = 1) = (.b = 2) }`, `{ .a = 1 = (.b = 2) }`},
	{`{ "x" = .a }`, ``},
	{`{ .a } && { .b } || { .c }`, ``},
	{`{ .a } && ({ .b } || { .c })`, ``},
	{`{ .a } > { .b } >> { .c } < { .d } << { .e } ~ { .f }`, ``},
	{`{ .a } !> { .b } !>> { .c } !< { .d } !<< { .e } !~ { .f }`, ``},
	{`{ .a } &> { .b } &>> { .c } &< { .d } &<< { .e } &~ { .f }`, ``},
	{`{ .a } && { .b } > { .c }`, ``},
	{`({ .a } && { .b }) > { .c }`, ``},
	{`{ .a } > ({ .b } > { .c })`, ``},
	{`(({ .a }))`, `{ .a }`},
	{`{ } | count() > 2`, ``},
	{`count() > 2`, ``},
	{`{ } | avg(duration) > 1s | min(.a) = 1 | max(.b + 1) != 2 | sum(span.c) <= 3.5`, ``},
	{`{ } | count() + 1 > 2 * max(.a)`, ``},
	{`{ } | (count() + 1) * 2 > 2`, ``},
	{`{ } | 2 < count()`, ``},
	{`{ } | -count() < -2`, ``},
	{`{ } | by(resource.service.name) | count() > 1 | coalesce()`, ``},
	{`by(.a)`, ``},
	{`{ } | by(.a, kind)`, ``},
	{`{ } | select(.a, span.b, status)`, ``},
	{`{ } | { .a } | { .b } > { .c }`, ``},
	{`({ .a } | count() > 1) && ({ .b } | avg(duration) > 1s)`, ``},
	{`({ .a } | by(.b)) | count() > 1`, ``},
	{`({ .a } | coalesce() | select(.b)) && { .c }`, ``},
	{`avg(duration) > 1s && { .a }`, `avg(duration) > 1s && { .a }`},
	{`{ } | rate()`, ``},
	{`{ .a } > { .b } | by(.c) | select(.d) | count_over_time() by (resource.service.name, span.x + 1)`,
		`{ .a } > { .b } | by(.c) | select(.d) | count_over_time() by(resource.service.name, span.x + 1)`},
	{`{ } | min_over_time(duration) by(name)`, ``},
	{`{ } | avg_over_time(.a * 2) > 1s`, ``},
	{`{ } | sum_over_time(.a) by(.b) >= -2.5 | topk(10) != 0 | bottomk(3)`, ``},
	{`{ } | quantile_over_time(duration, .99, .9, 0.5, 1) by(.a)`, `{ } | quantile_over_time(duration, 0.99, 0.9, 0.5, 1.0) by(.a)`},
	{`{ } | histogram_over_time(duration)`, ``},
	{`{ } | compare({ status = error })`, ``},
	{`{ } | compare({ status = error }, 10)`, `{ } | compare({ status = error })`},
	{`{ } | compare({ }, 5, 1, 1700000000000000000)`, ``},
	{`{ } | rate() with (exemplars=true)`, ``},
	{`{ } with (most_recent=true)`, ``},
	{`{ } | count() > 1 with (most_recent=false, sample=0.5, name="x")`, ``},
}

func TestAccepted(t *testing.T) {
	for _, c := range accepted {
		q, err := lang.Parse(c.query)
		if err != nil {
			t.Errorf("%s: %v", c.query, err)
			continue
		}
		want := c.printed
		if want == "" {
			want = c.query
		}
		if got := q.String(); got != want {
			t.Errorf("%s is printed as\n%s", c.query, got)
		}
		checkRoundTrip(t, q)
	}
}

// checkRoundTrip checks that a query is equal to the one that its text is parsed to.
func checkRoundTrip(t *testing.T, q *lang.Query) {
	t.Helper()
	again, err := lang.Parse(q.String())
	if err != nil {
		t.Errorf("the text of a query is no query: %s: %v", q, err)
		return
	}
	clear(q)
	clear(again)
	if !reflect.DeepEqual(q, again) {
		t.Errorf("%s is parsed to another query, %s", q, again)
	}
}

// clear removes positions and compiled regular expressions, and the spelling of names.
func clear(q *lang.Query) {
	lang.Walk(q.Pipeline, func(s lang.Stage) {
		switch s := s.(type) {
		case *lang.SpansetFilter:
			s.Pos = 0
		case *lang.SpansetOperation:
			s.Pos = 0
		}
	})
	lang.Expressions(q.Pipeline, func(e *lang.Expr) { e.Pos, e.Regexp = 0, nil })
}

// rejected has queries, the offsets of their mistakes, and a part of the messages.
var rejected = []struct {
	query   string
	pos     int
	message string
}{
	{``, 0, "{ } finds all spans"},
	{`{`, 1, "expected an attribute"},
	{`{ .a`, 4, "expected }"},
	{`{ .a = }`, 7, "expected an attribute"},
	{`{ .a = 1 } {`, 11, "expected | or the end"},
	{`{ .a == 1 }`, 6, "expected an attribute"},
	{`{ http.method = "GET" }`, 2, "span.http.method"},
	{`{ naem = "x" }`, 2, "is name meant?"},
	{`{ span:nmae = "x" }`, 2, "is span:name meant?"},
	{`{ span:foo = "x" }`, 2, "is the attribute span.foo meant?"},
	{`{ spam:foo = "x" }`, 2, "intrinsics are event:name"},
	{`{ foo = "x" }`, 2, "an attribute is written span.foo or .foo, a string \"foo\""},
	{`{ .a = 'x' }`, 7, "strings have double quotes"},
	{`{ .a = "x }`, 7, "unterminated string"},
	{`{ .a = "\q" }`, 7, "unknown escape"},
	{`{ span."a = 1 }`, 7, "unterminated name"},
	{`{ span."a\n" = 1 }`, 9, `only \" and \\`},
	{`{ span. = 1 }`, 6, "expected the name of an attribute"},
	{`{ .a = 5x }`, 7, "units ns, us, ms, s, m and h"},
	{`{ .a = 9223372036854775808 }`, 7, "at most 64 bits"},
	{`{ .a = 1e999 }`, 7, "1.79e308"},
	{`{ name = 5 }`, 7, "a string is compared with a number"},
	{`{ name = error }`, 7, "a string is compared with a status"},
	{`{ status > error }`, 9, "a status has no order"},
	{`{ .a < true }`, 5, "a Boolean has no order"},
	{`{ .a > nil }`, 5, "nil is compared only by = and !="},
	{`{ nil = nil }`, 6, "only an attribute or intrinsic is compared with nil"},
	{`{ .a =~ 5 }`, 8, "regular expression in quotes"},
	{`{ .a =~ .b }`, 8, "regular expression in quotes"},
	{`{ .a =~ "(" }`, 8, "missing closing )"},
	{`{ duration =~ "x" }`, 2, "=~ needs a string, not a number"},
	{`{ "a" =~ "a" }`, 2, "needs an attribute or intrinsic"},
	{`{ parent = 5 }`, 9, "parent is compared only with nil"},
	{`{ name }`, 2, "a string is no condition"},
	{`{ 5 }`, 2, "a number is no condition"},
	{`{ .a + 1 }`, 5, "a number is no condition"},
	{`{ .a + "x" = 1 }`, 7, "+ needs a number, not a string"},
	{`{ -"x" = 1 }`, 3, "- needs a number"},
	{`{ !5 }`, 3, "! needs a Boolean"},
	{`{ .a && 5 }`, 8, "&& needs a Boolean, not a number"},
	{`{ .a >> .b }`, 5, "stands between spansets"},
	{`{ .a & .b }`, 5, "expected && or one of &>"},
	{`{ .a = 1; }`, 8, "unexpected character"},
	{`.a = 1`, 0, "conditions are in braces: { .a … }"},
	{`duration > 5s`, 0, "conditions are in braces: { duration … }"},
	{`true`, 0, "conditions are in braces: { true }"},
	{`{ } |`, 5, "expected { or an aggregate"},
	{`{ } | count()`, 6, "compare it, as in count() > 2"},
	{`{ } | count( > 2`, 13, "expected )"},
	{`{ } | avg() > 2`, 10, "expected an attribute"},
	{`{ } | avg(name) > 2`, 10, "needs a number, not a string"},
	{`{ } | avg(5) > 2`, 10, "needs an attribute or intrinsic"},
	{`{ } | 3 > 2`, 6, "needs an aggregate"},
	{`{ } | foo() > 2`, 6, "foo is no stage"},
	{`{ } | by()`, 9, "expected an attribute"},
	{`{ } | by(1)`, 9, "needs an attribute or intrinsic"},
	{`{ } | select(.a + 1)`, 16, "select() needs attributes"},
	{`select(.a)`, 0, "select() follows other stages"},
	{`coalesce()`, 0, "coalesce() follows other stages"},
	{`{ } && by(.a)`, 7, "by() is a stage of its own"},
	{`{ } > 5`, 4, "spans on one side and a number on the other"},
	{`{ } + { }`, 4, "no operator between spansets"},
	{`count() && 5`, 8, "no operator between numbers"},
	{`rate()`, 0, "rate() ends a query: { } | rate(…)"},
	{`({ } | rate()) / ({ } | rate())`, 7, "rate() ends a query"},
	{`{ } | rate(duration)`, 11, "expected )"},
	{`{ } | rate() | { }`, 15, "time series are followed by topk(k)"},
	{`{ } | rate() > .a`, 15, "expected a number"},
	{`{ } | rate() =~ "x"`, 13, "expected | or the end"},
	{`{ } | topk(5)`, 6, "topk() follows a function of time series"},
	{`{ } | rate() | topk(0)`, 20, "topk() needs a number above 0"},
	{`{ } | rate() | bottomk(1.5)`, 23, "expected an integer"},
	{`{ } | min_over_time()`, 20, "expected an attribute"},
	{`{ } | max_over_time(name)`, 20, "max_over_time() needs a number, not a string"},
	{`{ } | sum_over_time(1)`, 20, "sum_over_time() needs an attribute"},
	{`{ } | avg_over_time(duration, 1)`, 28, "expected )"},
	{`{ } | quantile_over_time(duration)`, 33, "expected ,"},
	{`{ } | quantile_over_time(duration, 1.5)`, 35, "a quantile is a number from 0 to 1"},
	{`{ } | quantile_over_time(duration, .x)`, 35, "expected a number"},
	{`{ } | histogram_over_time(duration) by()`, 39, "expected an attribute"},
	{`{ } | compare()`, 14, "expected {"},
	{`{ } | compare({ }, 0)`, 19, "1 to 1000 values"},
	{`{ } | compare({ }, 5, 2, 1)`, 20, "nanoseconds since 1970"},
	{`{ } | compare({ }, 5, 2)`, 23, "expected ,"},
	{`{ } | compare({ }) > 5`, 19, "nothing follows compare()"},
	{`{ } | compare({ }) | topk(5)`, 19, "nothing follows compare()"},
	{"{}|rate()" + strings.Repeat("|topk(1)", 1000), 7994, "more than 1000 spansets and stages"},
	{`{ } with (most_recent=5)`, 22, "most_recent is true or false"},
	{`{ } with most_recent`, 9, "expected ("},
	{`{ } with (5=5)`, 10, "the name of a hint"},
	{`{ } with (a=.b)`, 12, "the value of a hint is a literal"},
	{`({ } | count()) > 2`, 7, "compare it"},
	{strings.Repeat("(", 101) + "{ }" + strings.Repeat(")", 101), 100, "deeper than 100"},
	{"{ " + strings.Repeat("!", 101) + ".a }", 102, "deeper than 100"},
	{strings.Repeat("{}>", 20_000) + "{}", 3000, "more than 1000 spansets and stages"},
	{"{}" + strings.Repeat("|count()>0", 1000), 9993, "more than 1000 spansets and stages"},
	{"{}" + strings.Repeat("|coalesce()", 1000), 10_992, "more than 1000 spansets and stages"},
	{strings.Repeat(" ", lang.MaxText) + "{}", -1, "more than 131072"},
}

func TestRejected(t *testing.T) {
	for _, c := range rejected {
		_, err := lang.Parse(c.query)
		var e *lang.Error
		if !errors.As(err, &e) {
			t.Errorf("%.60s: no error, but %v", c.query, err)
			continue
		}
		if e.Pos != c.pos || !strings.Contains(e.Message, c.message) {
			t.Errorf("%.60s: offset %d instead of %d: %s", c.query, e.Pos, c.pos, e.Message)
		}
	}
}

func TestErrorShowsThePlace(t *testing.T) {
	_, err := lang.Parse(`{ naem = "x" }`)
	const want = `at offset 2, "naem = \"x\" }": there is no intrinsic naem: is name meant?`
	if err == nil || err.Error() != want {
		t.Errorf("got %v", err)
	}
	_, err = lang.Parse(`{ .a`)
	if err == nil || !strings.HasPrefix(err.Error(), "at the end of the query: ") {
		t.Errorf("got %v", err)
	}
}

// Chains of operators must not exhaust the stack.
func TestLongChains(t *testing.T) {
	for _, link := range []string{" && .a", " || .a = 1", " ^ 2", " + 2"} {
		text := "{ .a" + strings.Repeat(link, 8000) + " }"
		if strings.Contains(link, "2") {
			text = strings.TrimSuffix(text, "}") + "= 1 }"
		}
		q, err := lang.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		if q.String() != text {
			t.Errorf("a chain of %q changes when it is printed", link)
		}
	}
}

// As many spansets and stages as are allowed.
func TestManyStages(t *testing.T) {
	for _, text := range []string{strings.Repeat("{ } > ", 999) + "{ }", "{ }" + strings.Repeat(" | count() > 0", 999)} {
		q, err := lang.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		if q.String() != text {
			t.Errorf("%.20s… changes when it is printed", text)
		}
	}
}

func TestParseField(t *testing.T) {
	for _, name := range []string{".a", "span.a", "resource.service.name", "name", "span:name", "trace:rootName", `event."a b"`, "parent.x"} {
		f, err := lang.ParseField(name)
		if err != nil || f.String() != name {
			t.Errorf("%s: %v %v", name, f, err)
		}
	}
	for _, name := range []string{"", "5", ".a = 1", "foo", `"x"`} {
		if f, err := lang.ParseField(name); err == nil {
			t.Errorf("%s is the field %s", name, f)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, c := range accepted {
		f.Add(c.query)
	}
	for _, c := range rejected {
		f.Add(c.query)
	}
	f.Fuzz(func(t *testing.T, text string) {
		q, err := lang.Parse(text)
		if err != nil {
			var e *lang.Error
			if !errors.As(err, &e) || e.Pos > len(text) || e.Error() == "" {
				t.Fatalf("%q: %v", text, err)
			}
			return
		}
		checkRoundTrip(t, q)
	})
}
