package zoo

import (
	"math"
	"math/rand/v2"
	"time"
)

// zipf is a rank below n, by a Zipf distribution with exponent s above 1.
func (g *gen) zipf(s float64, n int) func() int {
	z := rand.NewZipf(g.Rand, s, 2, uint64(n-1))
	return func() int { return int(z.Uint64()) }
}

// chance is true once in n.
func (g *gen) chance(n int) bool { return g.IntN(n) == 0 }

// one is an element, all equally often.
func one[T any](g *gen, list []T) T { return list[g.IntN(len(list))] }

// skewed is an element, the first ones more often.
func skewed[T any](g *gen, list []T) T { return list[g.below(len(list))] }

// below is a number below n, small ones more often.
func (g *gen) below(n int) int { return int(float64(n) * g.Float64() * g.Float64() * g.Float64()) }

// around is a positive number with a log-normal distribution: half of them are below the median.
func (g *gen) around(median, spread float64) float64 {
	return median * math.Exp(spread*g.NormFloat64())
}

// chars appends n characters of an alphabet.
func (g *gen) chars(b []byte, alphabet string, n int) []byte {
	for range n {
		b = append(b, alphabet[g.IntN(len(alphabet))])
	}
	return b
}

// bytes are n random bytes.
func (g *gen) bytes(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(g.Uint32())
	}
	return b
}

// clock is a time that goes on, by steps with an exponential distribution.
type clock struct {
	g    *gen
	now  time.Time
	mean time.Duration
}

func (g *gen) clock(start time.Time, mean time.Duration) *clock { return &clock{g, start, mean} }

// date is a time of a day.
func date(year int, month time.Month, day, hour, minute, second int) time.Time {
	return time.Date(year, month, day, hour, minute, second, 0, time.UTC)
}

func (c *clock) tick() time.Time {
	c.now = c.now.Add(time.Duration(c.g.ExpFloat64() * float64(c.mean)))
	return c.now
}

// vocabulary is n words of syllables, none twice, beginning with some known ones.
func (g *gen) vocabulary(known []string, n int) []string {
	heads := []string{"b", "br", "c", "ch", "d", "f", "g", "gr", "h", "k", "l", "m", "n", "p", "r", "s", "sh", "st", "t", "v", "w", ""}
	cores := []string{"a", "e", "i", "o", "u", "ai", "ea", "oo", "an", "er", "in", "on"}
	tails := []string{"", "", "", "n", "r", "s", "l", "ck", "ll", "nd", "m", "t", "ton", "son", "ley", "man"}
	out := append(make([]string, 0, n), known...)
	seen := map[string]bool{}
	for _, w := range known {
		seen[w] = true
	}
	for len(out) < n {
		w := ""
		for range 1 + g.IntN(3) {
			w += one(g, heads) + one(g, cores)
		}
		if w += one(g, tails); len(w) > 2 && !seen[w] {
			seen[w] = true
			out = append(out, w)
		}
	}
	return out
}
