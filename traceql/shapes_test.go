package traceql_test

import (
	"encoding/binary"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	commonv1 "go.opentelemetry.io/proto/otlp/common/v1"
	resourcev1 "go.opentelemetry.io/proto/otlp/resource/v1"
	tracev1 "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
)

// shape is a kind of traces that benchmarks are made of.
type shape struct {
	name    string
	service string // that of about a tenth of the spans
	make    func(g *traceMaker)
}

// shapes are traces of a long tail of sizes, whose errors have stack traces; spans with 60 attributes; and the calls of the OpenTelemetry demo.
var shapes = []shape{
	{"tail", "service-3", (*traceMaker).tail},
	{"wide", "service-3", (*traceMaker).wide},
	{"demo", "checkout", (*traceMaker).demo},
}

// messages are those of about as many spans, as collectors send them: the spans of a service from some seconds.
func (s shape) messages(n int) (out [][]byte) {
	g := &traceMaker{r: rand.New(rand.NewPCG(7, uint64(len(s.name)))), now: 1_790_000_000e9, spans: map[string][]*tracev1.Span{}}
	for total := 0; total < n; {
		g.trace = binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(nil, g.r.Uint64()), g.r.Uint64())
		g.now += g.r.Uint64N(40e6)
		s.make(g)
		if g.waiting >= 8192 || total+g.waiting >= n {
			total += g.waiting
			out = append(out, g.flush()...)
		}
	}
	return out
}

type traceMaker struct {
	r       *rand.Rand
	now     uint64
	trace   []byte
	spans   map[string][]*tracev1.Span
	waiting int
}

const spansPerMessage = 512

func (g *traceMaker) flush() (out [][]byte) {
	for _, service := range slices.Sorted(maps.Keys(g.spans)) {
		for list := range slices.Chunk(g.spans[service], spansPerMessage) {
			td := &tracev1.TracesData{ResourceSpans: []*tracev1.ResourceSpans{{
				Resource: &resourcev1.Resource{Attributes: attributes(
					"service.name", service, "service.namespace", "shop", "service.version", "1.12."+fmt.Sprint(len(service)), "telemetry.sdk.language", "go",
					"telemetry.sdk.name", "opentelemetry", "telemetry.sdk.version", "1.28.0", "host.name", service+"-7d4f9c", "os.type", "linux", "process.pid", 1+len(service),
					"k8s.pod.name", service+"-7d4f9c-x2x", "k8s.namespace.name", "default", "deployment.environment", "production")},
				ScopeSpans: []*tracev1.ScopeSpans{{Scope: &commonv1.InstrumentationScope{Name: "otel/" + service, Version: "0.49.0"}, Spans: list}},
			}}}
			message, err := proto.Marshal(td)
			if err != nil {
				panic(err)
			}
			out = append(out, message)
		}
	}
	clear(g.spans)
	g.waiting = 0
	return out
}

func attributes(list ...any) (out []*commonv1.KeyValue) {
	for i := 0; i < len(list); i += 2 {
		v := &commonv1.AnyValue{}
		switch x := list[i+1].(type) {
		case string:
			v.Value = &commonv1.AnyValue_StringValue{StringValue: x}
		case int:
			v.Value = &commonv1.AnyValue_IntValue{IntValue: int64(x)}
		case float64:
			v.Value = &commonv1.AnyValue_DoubleValue{DoubleValue: x}
		case bool:
			v.Value = &commonv1.AnyValue_BoolValue{BoolValue: x}
		}
		out = append(out, &commonv1.KeyValue{Key: list[i].(string), Value: v})
	}
	return out
}

// span adds a span that begins after its parent, and takes some of the time of it.
func (g *traceMaker) span(service, name string, kind tracev1.Span_SpanKind, parent *tracev1.Span, attrs ...any) *tracev1.Span {
	s := &tracev1.Span{TraceId: g.trace, SpanId: binary.BigEndian.AppendUint64(nil, g.r.Uint64()|1), Name: name, Kind: kind, Attributes: attributes(attrs...), Status: &tracev1.Status{}}
	start, length := g.now, uint64(1e6*(1+200*g.r.ExpFloat64()*g.r.ExpFloat64()))
	if parent != nil {
		s.ParentSpanId = parent.SpanId
		whole := parent.EndTimeUnixNano - parent.StartTimeUnixNano
		start, length = parent.StartTimeUnixNano+g.r.Uint64N(whole/4+1), g.r.Uint64N(whole*3/4+1)+1
	}
	s.StartTimeUnixNano, s.EndTimeUnixNano = start, start+length
	g.spans[service] = append(g.spans[service], s)
	g.waiting++
	return s
}

func (g *traceMaker) status() int { return pick(g.r, 200, 200, 200, 200, 200, 200, 204, 302, 404, 500) }

func (g *traceMaker) fail(s *tracev1.Span) {
	s.Status = &tracev1.Status{Code: tracev1.Status_STATUS_CODE_ERROR, Message: pick(g.r, "timeout", "connection refused", "no such order")}
	var stack strings.Builder
	for range 10 + g.r.IntN(20) {
		fmt.Fprintf(&stack, "\tat com.shop.%s.%s(%s.java:%d)\n", pick(g.r, "orders", "stock", "web", "db"), pick(g.r, "handle", "invoke", "run", "query"), pick(g.r, "Order", "Stock", "Pool"), g.r.IntN(900))
	}
	s.Events = append(s.Events, &tracev1.Span_Event{TimeUnixNano: s.EndTimeUnixNano, Name: "exception", Attributes: attributes(
		"exception.type", "java.io.IOException", "exception.message", s.Status.Message, "exception.stacktrace", stack.String())})
}

func (g *traceMaker) tail() {
	var list []*tracev1.Span
	for range min(1+int(3/(1e-3+g.r.Float64()*g.r.Float64())), 3000) {
		var parent *tracev1.Span
		if len(list) > 0 {
			parent = list[g.r.IntN(len(list))]
		}
		service := fmt.Sprintf("service-%d", min(int(g.r.ExpFloat64()*8), 39))
		path := pick(g.r, "/orders", "/stock", "/cart", "/users", "/search")
		s := g.span(service, pick(g.r, "GET ", "POST ")+path, tracev1.Span_SpanKind(2+g.r.IntN(2)), parent,
			"http.method", pick(g.r, "GET", "POST"), "http.url", fmt.Sprintf("https://%s%s/%d", service, path, g.r.IntN(1e6)), "http.status_code", g.status(),
			"net.peer.name", service+".internal", "thread.id", g.r.IntN(64), "user.id", fmt.Sprintf("%08x", g.r.IntN(1e5)), "retry", g.r.IntN(20) == 0)
		if g.r.IntN(4) == 0 {
			s.Attributes = append(s.Attributes, attributes("db.system", "mysql", "db.statement", fmt.Sprintf("SELECT * FROM t%d WHERE id = %d", g.r.IntN(20), g.r.IntN(1e6)))...)
		}
		if g.r.IntN(50) == 0 {
			g.fail(s)
		}
		list = append(list, s)
	}
}

func (g *traceMaker) wide() {
	var list []*tracev1.Span
	for range 1 + g.r.IntN(24) {
		var parent *tracev1.Span
		if len(list) > 0 {
			parent = list[g.r.IntN(len(list))]
		}
		attrs := []any{"http.status_code", g.status(), "http.method", pick(g.r, "GET", "POST")}
		for k := range 58 {
			name := fmt.Sprintf("app.group%d.key%d", k%7, k)
			switch k % 5 {
			case 0:
				attrs = append(attrs, name, g.r.IntN(1000))
			case 1:
				attrs = append(attrs, name, g.r.IntN(2) == 0)
			case 2:
				attrs = append(attrs, name, float64(g.r.IntN(1e6))/100)
			case 3:
				attrs = append(attrs, name, fmt.Sprintf("value %d", g.r.IntN(30)))
			default:
				attrs = append(attrs, name, fmt.Sprintf("%x", g.r.Uint32()))
			}
		}
		s := g.span(fmt.Sprintf("service-%d", g.r.IntN(10)), fmt.Sprintf("operation %d", g.r.IntN(50)), tracev1.Span_SpanKind(1+g.r.IntN(5)), parent, attrs...)
		if g.r.IntN(50) == 0 {
			g.fail(s)
		}
		list = append(list, s)
	}
}

// call is a call of a service by another: a client span there, and a server span here.
func (g *traceMaker) call(from, to, service, method string, parent *tracev1.Span) *tracev1.Span {
	attrs := []any{"rpc.system", "grpc", "rpc.service", service, "rpc.method", method, "net.peer.name", to, "net.peer.port", 8080, "rpc.grpc.status_code", pick(g.r, 0, 0, 0, 0, 13)}
	client := g.span(from, "grpc."+service+"/"+method, tracev1.Span_SPAN_KIND_CLIENT, parent, attrs...)
	return g.span(to, service+"/"+method, tracev1.Span_SPAN_KIND_SERVER, client, append(attrs, "app.user.id", fmt.Sprintf("%016x", g.r.Uint64()))...)
}

func (g *traceMaker) demo() {
	product := func() string {
		return pick(g.r, "0PUK6V6EV0", "1YMWWN1N4O", "2ZYFJ3GM2N", "66VCHSJNUP", "6E92ZMYYFZ", "9SIQT8TOJO", "L9ECAV7KIM", "LS4PSXUNUM", "OLJCESPC7Z", "HQTGWGPNH4")
	}
	http := func(service, name string, kind tracev1.Span_SpanKind, parent *tracev1.Span, target string) *tracev1.Span {
		return g.span(service, name, kind, parent, "http.method", name, "http.target", target, "http.url", "http://"+service+":8080"+target, "http.status_code", g.status(), "http.flavor", "1.1",
			"net.peer.ip", fmt.Sprintf("172.18.0.%d", g.r.IntN(30)), "user_agent.original", "python-requests/2.31.0", "http.response_content_length", g.r.IntN(5000))
	}
	path := pick(g.r, "/api/products/"+product(), "/api/products/"+product(), "/api/cart", "/api/cart", "/api/checkout", "/api/recommendations", "/api/data")
	load := http("load-generator", "GET", tracev1.Span_SPAN_KIND_CLIENT, nil, path)
	proxy := http("frontend-proxy", "ingress", tracev1.Span_SPAN_KIND_SERVER, load, path)
	front := http("frontend", "GET", tracev1.Span_SPAN_KIND_SERVER, proxy, path)
	find := func(from string, parent *tracev1.Span) {
		s := g.call(from, "product-catalog", "oteldemo.ProductCatalogService", "GetProduct", parent)
		s.Attributes = append(s.Attributes, attributes("app.product.id", product(), "app.product.name", "Telescope "+product())...)
		if g.r.IntN(30) == 0 {
			g.fail(s)
		}
	}
	cart := func(from, method string, parent *tracev1.Span) {
		s := g.call(from, "cart", "oteldemo.CartService", method, parent)
		g.span("cart", pick(g.r, "HGET", "HMSET"), tracev1.Span_SPAN_KIND_CLIENT, s, "db.system", "redis", "db.statement", "HGET cart", "net.peer.name", "valkey-cart", "db.redis.database_index", 0)
		if g.r.IntN(40) == 0 {
			g.fail(s)
		}
	}
	switch {
	case strings.HasPrefix(path, "/api/products"):
		find("frontend", front)
		g.call("frontend", "currency", "oteldemo.CurrencyService", "Convert", front)
	case path == "/api/cart":
		cart("frontend", "GetCart", front)
		for range g.r.IntN(4) {
			find("frontend", front)
		}
	case path == "/api/data":
		g.call("frontend", "ad", "oteldemo.AdService", "GetAds", front).Attributes = attributes("app.ads.count", g.r.IntN(3), "app.ads.contextKeys", "telescopes")
	case path == "/api/recommendations":
		s := g.call("frontend", "recommendation", "oteldemo.RecommendationService", "ListRecommendations", front)
		for range 1 + g.r.IntN(5) {
			find("recommendation", s)
		}
	default:
		s := g.call("frontend", "checkout", "oteldemo.CheckoutService", "PlaceOrder", front)
		s.Attributes = append(s.Attributes, attributes("app.order.id", fmt.Sprintf("%x", g.r.Uint64()), "app.order.amount", g.r.Float64()*1000, "app.order.items.count", 1+g.r.IntN(5))...)
		cart("checkout", "GetCart", s)
		for range 1 + g.r.IntN(5) {
			find("checkout", s)
			g.call("checkout", "currency", "oteldemo.CurrencyService", "Convert", s)
		}
		quote := http("shipping", "POST", tracev1.Span_SPAN_KIND_SERVER, s, "/get-quote")
		http("quote", "POST", tracev1.Span_SPAN_KIND_SERVER, quote, "/getquote")
		pay := g.call("checkout", "payment", "oteldemo.PaymentService", "Charge", s)
		if g.r.IntN(10) == 0 {
			g.fail(pay)
			g.fail(s)
		}
		http("email", "POST", tracev1.Span_SPAN_KIND_SERVER, s, "/send_order_confirmation")
		sent := g.span("checkout", "orders publish", tracev1.Span_SPAN_KIND_PRODUCER, s, "messaging.system", "kafka", "messaging.destination.name", "orders", "messaging.kafka.destination.partition", 0)
		for _, consumer := range []string{"accounting", "fraud-detection"} {
			s := g.span(consumer, "orders process", tracev1.Span_SPAN_KIND_CONSUMER, sent, "messaging.system", "kafka", "messaging.operation", "process", "messaging.kafka.message.offset", g.r.IntN(1e6))
			s.EndTimeUnixNano = sent.EndTimeUnixNano + g.r.Uint64N(50e6)
		}
	}
	g.now += uint64(time.Millisecond)
}
