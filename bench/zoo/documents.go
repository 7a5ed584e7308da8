package zoo

import (
	"fmt"
	"strings"
	"time"
)

var documents = []Column{
	{Name: "json_events", Group: "documents", open: openEvents},
	{Name: "json_orders", Group: "documents", HeldOut: true, open: openOrders},
	{Name: "xml", Group: "documents", open: openXML},
	{Name: "sql", Group: "documents", open: openSQL},
	{Name: "logfmt", Group: "documents", open: openLogfmt},
	{Name: "csv_line", Group: "documents", HeldOut: true, open: openCSVLine},
	{Name: "mail_text", Group: "documents", HeldOut: true, open: openMail},
}

func openEvents(g *gen) (next, error) {
	clock, agent := g.clock(date(2024, 6, 3, 11, 20, 0), 35*time.Millisecond), g.agents()
	kinds := strings.Fields("page_view click scroll purchase signup logout error")
	countries := strings.Fields("US DE FR GB BR IN JP CA ES IT NL PL MX SE")
	users := g.zipf(1.05, 400_000)
	slugs := g.slugs(5000)
	slug := g.zipf(1.2, len(slugs))
	return func(b []byte) []byte {
		kind := skewed(g, kinds)
		b = fmt.Appendf(b, `{"event":"%s","ts":"%s","user_id":%d,"session":"`, kind, clock.tick().Format("2006-01-02T15:04:05.000Z"), 10_000+users()*7)
		b = g.chars(b, hexLower, 16)
		b = fmt.Appendf(b, `","country":"%s","props":{`, skewed(g, countries))
		switch kind {
		case "purchase":
			b = fmt.Appendf(b, `"amount":%.2f,"currency":"%s","items":%d`, g.around(45, 0.9), skewed(g, []string{"USD", "EUR", "GBP"}), 1+g.below(8))
		case "error":
			b = fmt.Appendf(b, `"message":"%s","code":%d`, skewed(g, []string{"TypeError: undefined is not a function", "NetworkError when attempting to fetch resource.", "ChunkLoadError: Loading chunk failed"}), 100+g.below(60))
		case "scroll":
			b = fmt.Appendf(b, `"depth":%d`, 5*g.IntN(21))
		default:
			b = fmt.Appendf(b, `"page":"/%s","x":%d,"y":%d`, slugs[slug()], g.IntN(1920), int(g.around(500, 0.8)))
		}
		b = append(b, '}')
		if g.chance(4) {
			b = append(agent(append(b, `,"ua":"`...)), '"')
		}
		return append(b, '}')
	}, nil
}

func openOrders(g *gen) (next, error) {
	name, address := g.names(), next(nil)
	address, err := openAddress(g)
	if err != nil {
		return nil, err
	}
	titles, err := g.titles()
	if err != nil {
		return nil, err
	}
	number := 4_000_000
	return func(b []byte) []byte {
		number += 1 + g.IntN(3)
		first, last := name()
		b = fmt.Appendf(b, `{"id": %d, "customer": {"name": "%s %s", "address": "%s", "vip": %t}, "lines": [`, number, first, last, address(nil), g.chance(20))
		for i := range 1 + g.below(4) {
			if i > 0 {
				b = append(b, ", "...)
			}
			b = fmt.Appendf(b, `{"sku": "SKU%06d", "title": %q, "qty": %d, "price": %.2f, "discount": null}`, g.below(50_000), skewed(g, titles), 1+g.below(5), g.around(15, 0.6))
		}
		return fmt.Appendf(b, `], "state": "%s"}`, skewed(g, []string{"shipped", "paid", "open", "returned"}))
	}, nil
}

func openXML(g *gen) (next, error) {
	clock, name := g.clock(date(2023, 10, 5, 0, 0, 0), 30*time.Second), g.names()
	currencies := strings.Fields("EUR USD CHF GBP PLN")
	return func(b []byte) []byte {
		t := clock.tick()
		first, last := name()
		b = fmt.Appendf(b, `<payment id="%d" date="%s"><amount currency="%s">%.2f</amount><debtor>%s %s</debtor><iban>DE%02d`, 88_000_000+g.IntN(9_000_000), t.Format("2006-01-02"), skewed(g, currencies), g.around(120, 1.2), first, last, 10+g.IntN(88))
		b = append(g.chars(b, digits, 18), "</iban>"...)
		if g.chance(2) {
			b = fmt.Appendf(b, "<remittance>Invoice %d of %s</remittance>", 20_000+g.below(400_000), t.AddDate(0, 0, -g.below(60)).Format("02.01.2006"))
		}
		return append(b, "</payment>"...)
	}, nil
}

func openSQL(g *gen) (next, error) {
	tables := strings.Fields("users orders order_items products sessions payments audit_log carts")
	columns := strings.Fields("id user_id status created_at updated_at amount email name price quantity state type")
	words := g.vocabulary(strings.Fields("active pending done cancelled new open"), 800)
	where := func(b []byte) []byte {
		c := skewed(g, columns)
		switch g.below(4) {
		case 0:
			return fmt.Appendf(b, "%s = %d", c, g.below(5_000_000))
		case 1:
			return fmt.Appendf(b, "%s = '%s'", c, skewed(g, words))
		case 2:
			return fmt.Appendf(b, "%s >= '%s'", c, time.Unix(1.6e9+int64(g.IntN(1e8)), 0).UTC().Format("2006-01-02 15:04:05"))
		}
		return fmt.Appendf(b, "%s IN (%d, %d, %d)", c, g.below(90_000), g.below(90_000), g.below(90_000))
	}
	return func(b []byte) []byte {
		t := skewed(g, tables)
		switch g.below(4) {
		case 0:
			b = fmt.Appendf(b, "SELECT %s, %s, %s FROM %s WHERE ", columns[g.below(4)], columns[4+g.below(4)], columns[8+g.below(4)], t)
			b = where(b)
			if g.chance(2) {
				b = where(append(b, " AND "...))
			}
			return fmt.Appendf(b, " ORDER BY %s LIMIT %d", skewed(g, columns), skewed(g, []int{10, 20, 50, 100, 1}))
		case 1:
			return where(fmt.Appendf(b, "UPDATE %s SET %s = '%s', updated_at = now() WHERE ", t, skewed(g, columns), skewed(g, words)))
		case 2:
			return fmt.Appendf(b, "INSERT INTO %s (user_id, %s, amount, created_at) VALUES (%d, '%s', %.2f, now())", t, skewed(g, columns), g.below(900_000), skewed(g, words), g.around(40, 1))
		}
		return where(fmt.Appendf(b, "SELECT count(*) FROM %s t JOIN %s u ON u.id = t.user_id WHERE t.", t, skewed(g, tables)))
	}, nil
}

func openLogfmt(g *gen) (next, error) {
	clock := g.clock(date(2024, 7, 1, 10, 0, 0), 12*time.Millisecond)
	messages := []string{"request completed", "cache miss", "retrying upstream", "connection closed", "slow query", "token refreshed", "job finished"}
	services := strings.Fields("gateway billing catalog auth search mailer")
	return func(b []byte) []byte {
		b = fmt.Appendf(b, `time=%s level=%s service=%s msg="%s"`, clock.tick().Format("2006-01-02T15:04:05.000000Z"), skewed(g, []string{"info", "info", "debug", "warn", "error"}), skewed(g, services), skewed(g, messages))
		b = g.chars(append(b, " trace_id="...), hexLower, 32)
		if g.chance(2) {
			b = fmt.Appendf(b, " duration=%.3fms", g.around(12, 1.1))
		}
		if g.chance(3) {
			b = fmt.Appendf(b, " user=%d attempt=%d", g.below(200_000), 1+g.below(5))
		}
		if g.chance(20) {
			b = fmt.Appendf(b, ` err="dial tcp 10.%d.%d.%d:%d: connect: connection refused"`, g.below(4), g.IntN(256), g.IntN(256), skewed(g, []int{5432, 6379, 9092, 443}))
		}
		return b
	}, nil
}

// openCSVLine makes readings of sensors.
func openCSVLine(g *gen) (next, error) {
	clock := g.clock(date(2024, 1, 1, 0, 0, 0), 400*time.Millisecond)
	levels := make([]float64, 120)
	for i := range levels {
		levels[i] = 18 + 4*g.NormFloat64()
	}
	return func(b []byte) []byte {
		s := g.IntN(len(levels))
		levels[s] += 0.05 * g.NormFloat64()
		return fmt.Appendf(b, "%s,S%03d,%.2f,%.1f,%d,%s", clock.tick().Format("2006-01-02 15:04:05"), s, levels[s], 40+levels[s]/2+g.NormFloat64(), 1013+int(3*g.NormFloat64()), skewed(g, []string{"ok", "ok", "low_battery", "stale"}))
	}, nil
}

// openMail makes messages of several lines.
func openMail(g *gen) (next, error) {
	body, err := speech(comments, 8, 25)(g)
	if err != nil {
		return nil, err
	}
	name := g.names()
	return func(b []byte) []byte {
		to, _ := name()
		first, last := name()
		b = fmt.Appendf(b, "%s %s,\n\n", skewed(g, []string{"Hi", "Hello", "Dear"}), to)
		b = append(b, body(nil)...)
		if g.chance(3) {
			b = append(append(b, "\n\n> "...), body(nil)...)
		}
		return fmt.Appendf(b, "\n\n%s,\n%s %s\n", skewed(g, []string{"Best", "Thanks", "Kind regards"}), first, last)
	}, nil
}
