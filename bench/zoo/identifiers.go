package zoo

import (
	"crypto/md5"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"strings"
	"time"
)

var identifiers = []Column{
	{Name: "uuid", Group: "identifiers", Entropy: 122, open: each((*gen).appendUUID)},
	{Name: "uuid7_braces", Group: "identifiers", HeldOut: true, open: openUUID7},
	{Name: "sha256", Group: "identifiers", Entropy: 256, open: each(func(g *gen, b []byte) []byte { return fmt.Appendf(b, "%x", sha256.Sum256(g.bytes(32))) })},
	{Name: "md5_upper", Group: "identifiers", HeldOut: true, Entropy: 128, open: each(func(g *gen, b []byte) []byte { return fmt.Appendf(b, "%X", md5.Sum(g.bytes(16))) })},
	{Name: "trace_id", Group: "identifiers", open: openTraceID},
	{Name: "mac", Group: "identifiers", open: openMAC},
	{Name: "product_code", Group: "identifiers", open: openProduct},
	{Name: "iban", Group: "identifiers", HeldOut: true, open: openIBAN},
	{Name: "invoice", Group: "identifiers", open: openInvoice},
	{Name: "order_number", Group: "identifiers", HeldOut: true, open: openOrder},
}

func (g *gen) appendUUID(b []byte) []byte {
	u := g.bytes(16)
	u[6], u[8] = u[6]&15|0x40, u[8]&63|0x80
	return appendUUID(b, u)
}

func appendUUID(b, u []byte) []byte {
	return fmt.Appendf(b, "%x-%x-%x-%x-%x", u[:4], u[4:6], u[6:8], u[8:10], u[10:])
}

func openUUID7(g *gen) (next, error) {
	clock := g.clock(date(2024, 5, 1, 8, 0, 0), 40*time.Millisecond)
	return func(b []byte) []byte {
		u := g.bytes(16)
		var ms [8]byte
		binary.BigEndian.PutUint64(ms[:], uint64(clock.tick().UnixMilli()))
		copy(u, ms[2:])
		u[6], u[8] = u[6]&15|0x70, u[8]&63|0x80
		return append([]byte(strings.ToUpper(string(appendUUID(append(b, '{'), u)))), '}')
	}, nil
}

// openTraceID makes the headers of traces, each of several spans.
func openTraceID(g *gen) (next, error) {
	var traces [40][]byte
	return func(b []byte) []byte {
		t := &traces[g.IntN(len(traces))]
		if *t == nil || g.chance(12) {
			*t = g.bytes(16)
		}
		return fmt.Appendf(b, "00-%x-%x-0%d", *t, g.bytes(8), (1+g.below(4))&1)
	}, nil
}

func openMAC(g *gen) (next, error) {
	vendors := make([][]byte, 400)
	for i := range vendors {
		vendors[i] = g.bytes(3)
	}
	return func(b []byte) []byte {
		v, d := skewed(g, vendors), g.bytes(3)
		return fmt.Appendf(b, "%02x:%02x:%02x:%02x:%02x:%02x", v[0], v[1], v[2], d[0], d[1], d[2])
	}, nil
}

func openProduct(g *gen) (next, error) {
	kinds := make([]string, 60)
	for i := range kinds {
		kinds[i] = string(g.chars(nil, upper, 2+g.IntN(2)))
	}
	sizes, colours := strings.Fields("M L S XL XXL XS 42 43 41 40"), strings.Fields("BLK WHT BLU RED GRN GRY NVY BRN")
	item := g.zipf(1.05, 200_000)
	return func(b []byte) []byte {
		i := item()
		b = fmt.Appendf(b, "%s-%05d", kinds[i*7919%len(kinds)], i*7919%100_000)
		if i%3 > 0 {
			b = fmt.Appendf(b, "-%s-%s", skewed(g, sizes), skewed(g, colours))
		}
		return b
	}, nil
}

func openIBAN(g *gen) (next, error) {
	banks := make([]string, 800)
	for i := range banks {
		banks[i] = string(g.chars(nil, digits, 8))
	}
	return func(b []byte) []byte {
		account := append([]byte(skewed(g, banks)), fmt.Appendf(nil, "%010d", g.IntN(1e9))...)
		rest := 0
		for _, c := range append(account[:len(account):len(account)], "131400"...) {
			rest = (rest*10 + int(c-'0')) % 97
		}
		return fmt.Appendf(b, "DE%02d%s", 98-rest, account)
	}, nil
}

func openInvoice(g *gen) (next, error) {
	number := 0
	return func(b []byte) []byte {
		number++
		if g.chance(300) {
			number += g.IntN(20) // cancelled ones
		}
		return fmt.Appendf(b, "INV-%06d", number)
	}, nil
}

// openOrder makes the numbers of orders of several shops, which count each year anew.
func openOrder(g *gen) (next, error) {
	clock, numbers := g.clock(date(2015, 1, 1, 0, 0, 0), 5*time.Minute), map[string]int{}
	shops := strings.Fields("DE AT CH FR NL")
	return func(b []byte) []byte {
		series := fmt.Sprintf("%s-%d", skewed(g, shops), clock.tick().Year())
		numbers[series]++
		return fmt.Appendf(b, "%s/%07d", series, numbers[series])
	}, nil
}
