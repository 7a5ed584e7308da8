package find

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/encoding/internal/fields"
	"github.com/amudai/amudai-go/internal/testing/sweep"
)

// markColumns are forms of numbers, and numbers that have texts in them.
var markColumns = []struct {
	fields.Column
	number func(rnd *rand.Rand) uint64
}{
	{fields.Column{Kind: fields.Decimal}, func(rnd *rand.Rand) uint64 { return rnd.Uint64() >> rnd.IntN(64) }},
	{fields.Column{Kind: fields.Decimal}, func(rnd *rand.Rand) uint64 { return rnd.Uint64N(200) }},
	{fields.Column{Kind: fields.Signed}, func(rnd *rand.Rand) uint64 { return uint64(int64(rnd.Uint64()) >> rnd.IntN(64)) }},
	{fields.Column{Kind: fields.HexLower, Width: 16}, func(rnd *rand.Rand) uint64 { return rnd.Uint64() }},
	{fields.Column{Kind: fields.HexUpper, Width: 7}, func(rnd *rand.Rand) uint64 { return rnd.Uint64N(1 << 28) }},
	{fields.Column{Kind: fields.HexLower, Width: 1}, func(rnd *rand.Rand) uint64 { return rnd.Uint64N(16) }},
	{fields.Column{Kind: fields.Digits, Groups: []fields.Group{{Width: 6}}}, func(rnd *rand.Rand) uint64 { return rnd.Uint64N(1e6) }},
	{fields.Column{Kind: fields.Digits, Groups: []fields.Group{{Width: 19}}}, func(rnd *rand.Rand) uint64 { return rnd.Uint64N(1e19) }},
	{fields.Column{Kind: fields.Digits, Groups: []fields.Group{{Width: 4}, {Separator: []byte("-"), Width: 2, Low: 1, Radix: 12}, {Separator: []byte("-"), Width: 2, Low: 1, Radix: 31},
		{Separator: []byte("T"), Width: 2, Radix: 24}, {Separator: []byte(":"), Width: 2, Radix: 60}}}, func(rnd *rand.Rand) uint64 { return rnd.Uint64N(1e4 * 12 * 31 * 24 * 60) }},
	{fields.Column{Kind: fields.Digits, Groups: []fields.Group{{Width: 2}, {Separator: []byte(", "), Width: 3, Low: 100, Radix: 900}, {Width: 1, Radix: 10}}}, func(rnd *rand.Rand) uint64 { return rnd.Uint64N(1e2 * 9000) }},
	{fields.Column{Kind: fields.Digits, Groups: []fields.Group{{Width: 2}, {Separator: []byte("."), Width: 9, Radix: 1e9}, {Separator: []byte("."), Width: 9, Radix: 1e9}}}, func(rnd *rand.Rand) uint64 { return rnd.Uint64N(18 * 1e18) }},
	{fields.Column{Kind: fields.Digits, Groups: []fields.Group{{Width: 1}, {Width: 9, Radix: 1e9}, {Width: 9, Radix: 1e9}, {Width: 9, Radix: 1e9}}}, func(rnd *rand.Rand) uint64 { return rnd.Uint64() }},
}

// Of numbers whose texts have a relation to a text, none is missed, whether numbers, intervals of them or their digits are compared.
func TestMark(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	for _, c := range markColumns {
		require.NoError(t, c.Check())
		const n = 300
		wide := make([]uint64, n)
		most := uint64(0)
		for i := range wide {
			wide[i] = c.number(rnd)
			most = max(most, wide[i])
		}
		var b fields.Buffer
		texts := textsOf(t, &b, &c.Column, wide)
		for range sweep.Count(60, 2000) {
			v := texts[rnd.IntN(n)]
			from := rnd.IntN(len(v))
			text := v[from : from+1+rnd.IntN(len(v)-from)]
			if rnd.IntN(4) == 0 {
				text = string(rune('0'+rnd.IntN(10))) + text
			}
			for how := range Equals + 1 {
				found := make([]uint64, (n+63)/64)
				can := can(&c.Column, how, []byte(text))
				if can {
					require.NoError(t, Mark(found, &b, &c.Column, wide, how, []byte(text)))
				}
				intervals, ok := Intervals(nil, &c.Column, how, []byte(text))
				var narrow []uint64
				if can && most < 1<<32 && c.Kind != fields.Signed {
					numbers := make([]uint32, n)
					for i, v := range wide {
						numbers[i] = uint32(v)
					}
					narrow = make([]uint64, len(found))
					require.NoError(t, Mark(narrow, &b, &c.Column, numbers, how, []byte(text)))
				}
				for i, v := range texts {
					want := how == Contains && strings.Contains(v, text) || how == Begins && strings.HasPrefix(v, text) ||
						how == Ends && strings.HasSuffix(v, text) || how == Equals && v == text
					got := found[i/64]>>(i%64)&1 != 0
					if want && !got || narrow != nil && narrow[i/64]>>(i%64)&1 != 0 != got {
						t.Fatalf("%v %d of %q in %q is %v", c, how, text, v, got)
					}
					if can && ok {
						within := false
						for _, x := range intervals {
							within = within || wide[i] >= x.Low && wide[i] <= x.High
						}
						if want != within {
							t.Fatalf("%v %d of %q in %q is %v", c, how, text, v, within)
						}
					}
				}
			}
		}
	}
}

// A number that is much less than the one before has another window, although its difference is small modulo 2^64.
func TestMarkAfterLarge(t *testing.T) {
	c := fields.Column{Kind: fields.Digits, Groups: []fields.Group{{Width: 1}, {Width: 9, Radix: 1e9}, {Width: 9, Radix: 1e9}, {Width: 9, Radix: 1e9}}}
	var b fields.Buffer
	found := []uint64{0}
	require.NoError(t, Mark(found, &b, &c, []uint64{18e18, 76749884715754000}, Begins, []byte("000000000")))
	require.EqualValues(t, 2, found[0])
}

func textsOf(t *testing.T, b *fields.Buffer, c *fields.Column, numbers []uint64) (texts []string) {
	f, err := fields.Format(b, c, numbers)
	require.NoError(t, err)
	for _, s := range f.Spans {
		texts = append(texts, string(f.Text[s.At:s.At+s.Len]))
	}
	return texts
}
