package zoo

import (
	"fmt"
	"net/http"
	"time"
)

var times = []Column{
	{Name: "time_rfc3339", Group: "times", open: openTime("2006-01-02T15:04:05.000Z", 700*time.Millisecond)},
	{Name: "time_us", Group: "times", open: openTimeUS},
	{Name: "time_http", Group: "times", HeldOut: true, open: openTime(http.TimeFormat, 9*time.Second)},
	{Name: "duration", Group: "times", HeldOut: true, open: openDuration},
	{Name: "price", Group: "times", open: openPrice},
}

func openTime(layout string, mean time.Duration) opener {
	return func(g *gen) (next, error) {
		clock := g.clock(date(2024, 2, 11, 6, 12, 33), mean)
		return func(b []byte) []byte { return clock.tick().AppendFormat(b, layout) }, nil
	}
}

// openTimeUS makes times in no order, as of birthdays and appointments.
func openTimeUS(g *gen) (next, error) {
	start := time.Date(2019, 1, 1, 8, 0, 0, 0, time.UTC)
	return func(b []byte) []byte {
		t := start.AddDate(0, 0, g.IntN(2200)).Add(time.Duration(g.IntN(40)*15) * time.Minute)
		return t.AppendFormat(b, "1/2/2006 3:04 PM")
	}, nil
}

func openDuration(g *gen) (next, error) {
	return func(b []byte) []byte {
		return append(b, time.Duration(g.around(3e7, 2)).Round(time.Microsecond).String()...)
	}, nil
}

func openPrice(g *gen) (next, error) {
	return func(b []byte) []byte {
		cents := skewed(g, []int{99, 0, 95, 50, 49, 90, g.IntN(100)})
		units := int(g.around(60, 1.6))
		if units >= 1000 {
			return fmt.Appendf(b, "$%d,%03d.%02d", units/1000, units%1000, cents)
		}
		return fmt.Appendf(b, "$%d.%02d", units, cents)
	}, nil
}
