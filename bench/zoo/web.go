package zoo

import (
	"fmt"
	"net/netip"
	"strings"
	"time"
)

var web = []Column{
	{Name: "url_query", Group: "web", open: openURL},
	{Name: "url_path", Group: "web", HeldOut: true, open: openPath},
	{Name: "user_agent", Group: "web", open: openAgent},
	{Name: "access_log", Group: "web", open: openAccess},
	{Name: "access_json", Group: "web", HeldOut: true, open: openAccessJSON},
	{Name: "ipv4", Group: "web", open: openIPv4},
	{Name: "ipv6", Group: "web", HeldOut: true, open: openIPv6},
	{Name: "host", Group: "web", HeldOut: true, open: openHost},
}

const (
	lower    = "abcdefghijklmnopqrstuvwxyz"
	upper    = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	digits   = "0123456789"
	hexLower = "0123456789abcdef"
	base64   = upper + lower + digits + "+/"
	base64u  = upper + lower + digits + "-_"
)

// slugs makes names of articles: some words with hyphens.
func (g *gen) slugs(n int) []string {
	words := g.vocabulary(strings.Fields("how to best new the guide review free top for with shop sale home black red mens kit set case 2024 pro mini"), 3000)
	word := g.zipf(1.15, len(words))
	out := make([]string, n)
	for i := range out {
		parts := make([]string, 2+g.IntN(6))
		for p := range parts {
			parts[p] = words[word()]
		}
		out[i] = strings.Join(parts, "-")
	}
	return out
}

func openURL(g *gen) (next, error) {
	hosts := []string{"https://www.example.com", "https://shop.example.org", "http://example.net", "https://m.example.com", "https://news.example.co.uk"}
	sections := strings.Fields("products search category articles p blog help account en/catalog de/katalog")
	slugs := g.slugs(40_000)
	slug := g.zipf(1.1, len(slugs))
	keys := []func([]byte) []byte{
		func(b []byte) []byte { return fmt.Appendf(b, "page=%d", 1+g.below(60)) },
		func(b []byte) []byte {
			return append(append(b, "q="...), strings.ReplaceAll(slugs[slug()], "-", "+")...)
		},
		func(b []byte) []byte {
			return append(append(b, "utm_source="...), skewed(g, []string{"google", "newsletter", "facebook", "bing", "partner"})...)
		},
		func(b []byte) []byte {
			return append(append(b, "utm_campaign="...), skewed(g, []string{"spring_sale", "brand", "retargeting_2024", "black_friday", "app"})...)
		},
		func(b []byte) []byte { return g.chars(append(b, "sid="...), hexLower, 24) },
		func(b []byte) []byte { return g.chars(append(b, "gclid=Cj0KCQ"...), base64u, 40) },
		func(b []byte) []byte { return fmt.Appendf(b, "id=%d", 100_000+g.below(5_000_000)) },
		func(b []byte) []byte {
			return append(append(b, "sort="...), skewed(g, []string{"price_asc", "relevance", "new", "price_desc"})...)
		},
	}
	return func(b []byte) []byte {
		b = fmt.Appendf(b, "%s/%s/%s", skewed(g, hosts), skewed(g, sections), slugs[slug()])
		for i := range g.below(6) {
			b = append(b, "?&&&&&&"[i])
			b = one(g, keys)(b)
		}
		return b
	}, nil
}

func openPath(g *gen) (next, error) {
	tenants := g.vocabulary(nil, 400)
	kinds := strings.Fields("orders users invoices sessions carts devices files events")
	verbs := []string{"", "", "", "/items", "/status", "/history", "/attachments", "/cancel"}
	return func(b []byte) []byte {
		b = fmt.Appendf(b, "/api/v%d/%s/%s/", 1+g.below(3), skewed(g, tenants), skewed(g, kinds))
		if g.chance(3) {
			b = g.appendUUID(b)
		} else {
			b = fmt.Appendf(b, "%d", 1000+g.below(3_000_000))
		}
		return append(b, one(g, verbs)...)
	}, nil
}

// agents makes user agents: the version and build of each browser change.
func (g *gen) agents() func(b []byte) []byte {
	systems := []string{"Windows NT 10.0; Win64; x64", "Macintosh; Intel Mac OS X 10_15_7", "X11; Linux x86_64", "Windows NT 6.1; WOW64"}
	phones := []string{"SM-G991B", "Pixel 7", "SM-A525F", "M2101K6G", "CPH2211", "SM-S918U", "moto g(60)", "VOG-L29", "Redmi Note 9 Pro", "LM-K500"}
	bots := []string{"Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)", "Mozilla/5.0 (compatible; bingbot/2.0; +http://www.bing.com/bingbot.htm)", "curl/7.68.0", "python-requests/2.28.1", "Go-http-client/1.1", "Mozilla/5.0 (compatible; AhrefsBot/7.0; +http://ahrefs.com/robot/)"}
	return func(b []byte) []byte {
		version := 124 - g.below(40)
		switch g.below(7) {
		case 0:
			return fmt.Appendf(b, "Mozilla/5.0 (%s) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/%d.0.%d.%d Safari/537.36", skewed(g, systems), version, 4000+version*20, g.below(200))
		case 1:
			return fmt.Appendf(b, "Mozilla/5.0 (Linux; Android %d; %s) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/%d.0.%d.%d Mobile Safari/537.36", 14-g.below(6), skewed(g, phones), version, 4000+version*20, g.below(200))
		case 2:
			major, minor := 17-g.below(4), g.below(7)
			return fmt.Appendf(b, "Mozilla/5.0 (iPhone; CPU iPhone OS %d_%d_%d like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/%d.%d Mobile/15E148 Safari/604.1", major, minor, g.below(3), major, minor)
		case 3:
			return fmt.Appendf(b, "Mozilla/5.0 (%s; rv:%d.0) Gecko/20100101 Firefox/%[2]d.0", skewed(g, systems), version)
		case 4:
			return fmt.Appendf(b, "Mozilla/5.0 (%s) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/%d.0.0.0 Safari/537.36 Edg/%[2]d.0.%d.%d", skewed(g, systems), version, 1500+version, g.below(100))
		}
		return append(b, skewed(g, bots)...)
	}
}

func openAgent(g *gen) (next, error) { return g.agents(), nil }

// clients are addresses: few networks have many visitors.
func (g *gen) clients(n int) func() netip.Addr {
	nets := make([][2]byte, 3000)
	for i := range nets {
		nets[i] = [2]byte{byte(1 + g.IntN(222)), byte(g.IntN(256))}
	}
	net := g.zipf(1.2, len(nets))
	all := make([]netip.Addr, n)
	for i := range all {
		p := nets[net()]
		all[i] = netip.AddrFrom4([4]byte{p[0], p[1], byte(g.IntN(256)), byte(g.IntN(256))})
	}
	who := g.zipf(1.05, n)
	return func() netip.Addr { return all[who()] }
}

func openIPv4(g *gen) (next, error) {
	client := g.clients(300_000)
	return func(b []byte) []byte { return client().AppendTo(b) }, nil
}

func openIPv6(g *gen) (next, error) {
	prefixes := make([][]byte, 500)
	for i := range prefixes {
		prefixes[i] = append([]byte{0x20, 0x01 + byte(g.below(9))}, g.bytes(4)...)
	}
	return func(b []byte) []byte {
		var a [16]byte
		copy(a[:], skewed(g, prefixes))
		if a[7] = byte(g.below(256)); g.chance(3) {
			a[15] = byte(g.below(200))
		} else {
			copy(a[8:], g.bytes(8))
		}
		return netip.AddrFrom16(a).AppendTo(b)
	}, nil
}

// session is a visitor who requests several pages one after the other.
type session struct {
	client netip.Addr
	agent  string
	left   int
}

// request is a line of an access log.
type request struct {
	session
	at         time.Time
	method     string
	path, from string
	status     int
	size       int
	took       float64
}

// requests makes the requests of many sessions at a time.
func (g *gen) requests() func() request {
	client, agent := g.clients(60_000), g.agents()
	clock := g.clock(date(2024, 3, 1, 0, 0, 4), 180*time.Millisecond)
	slugs := g.slugs(8000)
	slug, open := g.zipf(1.15, len(slugs)), make([]session, 60)
	assets := []string{"/static/app.css", "/static/vendor.js", "/favicon.ico", "/static/img/logo.png", "/robots.txt", "/static/img/banner-%d.jpg"}
	sizes := map[string]int{}
	return func() request {
		s := &open[g.IntN(len(open))]
		if s.left--; s.left <= 0 {
			*s = session{client(), string(agent(nil)), 1 + int(g.around(5, 1))}
		}
		r := request{session: *s, at: clock.tick(), method: "GET", status: skewed(g, []int{200, 200, 200, 200, 304, 404, 301, 302, 500, 403}), from: "-"}
		switch g.below(4) {
		case 0:
			r.path = "/articles/" + slugs[slug()]
		case 1:
			if r.path = one(g, assets); strings.Contains(r.path, "%d") {
				r.path = fmt.Sprintf(r.path, g.below(90))
			}
		case 2:
			r.method, r.path = skewed(g, []string{"POST", "GET", "PUT"}), fmt.Sprintf("/api/cart/%d", 1000+g.IntN(900_000))
		default:
			r.path = fmt.Sprintf("/search?q=%s&page=%d", slugs[slug()], 1+g.below(9))
		}
		if !g.chance(3) {
			r.from = "https://www.example.com/articles/" + slugs[slug()]
		}
		if sizes[r.path] == 0 || r.status != 200 {
			sizes[r.path] = int(g.around(6000, 1.2))
		}
		r.size, r.took = sizes[r.path], g.around(0.02, 1.1)
		return r
	}
}

func openAccess(g *gen) (next, error) {
	request := g.requests()
	return func(b []byte) []byte {
		r := request()
		return fmt.Appendf(b, `%s - - [%s] "%s %s HTTP/1.1" %d %d "%s" "%s"`, r.client, r.at.Format("02/Jan/2006:15:04:05 -0700"), r.method, r.path, r.status, r.size, r.from, r.agent)
	}, nil
}

func openAccessJSON(g *gen) (next, error) {
	request := g.requests()
	return func(b []byte) []byte {
		r := request()
		b = fmt.Appendf(b, `{"ts":%d.%06d,"level":"info","logger":"http.log.access","msg":"handled request","request":{"remote_ip":"%s","remote_port":"%d","proto":"HTTP/2.0","method":"%s","host":"example.com","uri":"%s","headers":{"User-Agent":["%s"]`,
			r.at.Unix(), r.at.Nanosecond()/1000, r.client, 1024+g.IntN(64_000), r.method, r.path, r.agent)
		if r.from != "-" {
			b = fmt.Appendf(b, `,"Referer":["%s"]`, r.from)
		}
		return fmt.Appendf(b, `}},"bytes_read":0,"duration":%.9f,"size":%d,"status":%d}`, r.took, r.size, r.status)
	}, nil
}

func openHost(g *gen) (next, error) {
	roles := strings.Fields("web db cache worker queue proxy search mail build gpu")
	sites := strings.Fields("fra1 iad2 sfo3 sin1 lhr2 nrt1")
	names := g.vocabulary(nil, 3000)
	return func(b []byte) []byte {
		switch g.below(3) {
		case 0:
			return fmt.Appendf(b, "%s-%02d.%s.prod.example.internal", skewed(g, roles), 1+g.below(80), skewed(g, sites))
		case 1:
			a := g.bytes(4)
			return fmt.Appendf(b, "ip-10-%d-%d-%d.eu-central-1.compute.internal", a[0]/16, a[1], a[2])
		}
		return fmt.Appendf(b, "%s.%s.example.net", skewed(g, names), skewed(g, sites))
	}, nil
}
