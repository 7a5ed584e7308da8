package traces

import (
	"bytes"
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/cmd/amudai/internal/terminal"
)

const ms = int64(1e6)

func printed(t *testing.T, spans ...Span) string {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, Print(terminal.Screen{Out: &b}, "0af7", spans))
	return b.String()
}

func TestPrintTree(t *testing.T) {
	got := printed(t,
		Span{ID: "3", Parent: "1", Service: "payment", Name: "Charge", Start: 60 * ms, End: 100 * ms, Failed: true, Message: "card declined"},
		Span{ID: "1", Service: "frontend", Name: "GET /checkout", Start: 0, End: 120 * ms},
		Span{ID: "2", Parent: "1", Service: "cart", Name: "cart.Get", Start: 10 * ms, End: 30 * ms},
		Span{ID: "4", Parent: "2", Service: "redis", Name: "HGET", Start: 12 * ms, End: 20 * ms},
	)
	require.Equal(t, `trace 0af7: 4 spans of 4 services, 120.0 ms, began 1970-01-01T00:00:00.000Z, 1 error
span                        service     after      took  time
─────────────────────────────────────────────────────────────────────────────────
GET /checkout               frontend     0 µs  120.0 ms  ━━━━━━━━━━━━━━━━━━━━━━━━
├─ cart.Get                 cart      10.0 ms   20.0 ms  ··━━━━··················
│  └─ HGET                  redis     12.0 ms    8.0 ms  ··━━····················
└─ ✗ Charge: card declined  payment   60.0 ms   40.0 ms  ············━━━━━━━━····
`, got)
}

func TestPrintShowsEverySpanOnce(t *testing.T) {
	for name, spans := range map[string][]Span{
		"missing parent": {{ID: "a", Parent: "x", Name: "span-a"}, {ID: "b", Parent: "a", Name: "span-b"}},
		"own parent":     {{ID: "a", Parent: "a", Name: "span-a"}},
		"cycle":          {{ID: "a", Parent: "b", Name: "span-a"}, {ID: "b", Parent: "a", Name: "span-b"}, {ID: "c", Parent: "b", Name: "span-c"}},
		"same id":        {{ID: "a", Name: "span-a"}, {ID: "a", Name: "span-b"}, {ID: "c", Parent: "a", Name: "span-c"}},
		"times":          {{ID: "a", Name: "span-a", Start: math.MinInt64, End: math.MaxInt64}, {ID: "b", Name: "span-b", Start: math.MaxInt64, End: math.MinInt64}},
	} {
		t.Run(name, func(t *testing.T) {
			got := printed(t, spans...)
			for _, s := range spans {
				require.Equal(t, 1, strings.Count(got, s.Name+"  "), "%s in\n%s", s.Name, got) // remarks have one blank
			}
		})
	}
}

// A chain of spans is as deep as a hostile file wants.
func TestPrintDeepTrace(t *testing.T) {
	spans := make([]Span, 20_000)
	for i := range spans {
		spans[i] = Span{ID: strconv.Itoa(i), Parent: strconv.Itoa(i - 1), Name: "s"}
	}
	spans[0].Parent = ""
	require.Less(t, len(printed(t, spans...)), 20_000*400)
}
