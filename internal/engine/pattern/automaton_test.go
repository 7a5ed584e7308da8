package pattern

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// anExpression is a regular expression of any shape.
func anExpression(t *rapid.T, depth int) string {
	atom := rapid.SampledFrom([]string{"a", "b", "é", "K", "(?i:k)", "(?i:ß)", "\n", ".", "(?s:.)", "[ab]", "[^ab]", "[a-zé]", `\d`, `\W`, `\pL`, "\uFFFD", "^", "$", `\b`, `\B`, `\A`, `\z`, "(?m:^)", "(?m:$)", "", " "}).Draw(t, "atom")
	if depth == 0 || rapid.Bool().Draw(t, "simple") {
		return atom
	}
	a, b := anExpression(t, depth-1), anExpression(t, depth-1)
	switch rapid.IntRange(0, 4).Draw(t, "kind") {
	case 0:
		return a + b
	case 1:
		return "(" + a + "|" + b + ")"
	case 2:
		return "(?:" + a + ")" + rapid.SampledFrom([]string{"*", "+", "?", "{2,3}", "*?"}).Draw(t, "times")
	case 3:
		return "(" + a + ")" + atom + b
	}
	return a + atom + b
}

// An automaton finds what package regexp does, in any bytes, whatever it has seen before and however few states are kept.
func TestAutomaton(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		expr := anExpression(t, 4)
		re := regexp.MustCompile(expr)
		p, err := Regexp(expr, false)
		require.NoError(t, err)
		if p.states == nil {
			return
		}
		m := newMachine(p.states)
		for range 20 {
			value := []byte(strings.Join(rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "A", "é", "k", "K", "\u212a", "ss", "\n", " ", "1", "_", "\xff", "\xe2\x84", "日", "\uFFFD"}), 0, 12).Draw(t, "value"), ""))
			require.Equal(t, re.Match(value), m.match(value), "%q in %q", expr, value)
			if rapid.IntRange(0, 9).Draw(t, "forget") == 0 {
				m.next = append(m.next, make([]int32, maxCells)...) // too many
			}
		}
	})
}

// The states of an expression that has no end of them take bounded memory, and package regexp takes over.
func TestAutomatonBounded(t *testing.T) {
	p, err := Regexp("[ab]*a[ab]{20}c", false)
	require.NoError(t, err)
	require.NotNil(t, p.states)
	var s Scratch
	seed := uint32(1)
	for i := 0; i < 200 && (s.machines == nil || !s.machines[0].slow); i++ {
		value := make([]byte, 4000)
		for k := range value {
			seed = seed*1664525 + 1013904223
			value[k] = 'a' + byte(seed>>31)
		}
		require.Equal(t, false, p.Match(value, &s))
		require.LessOrEqual(t, len(s.machines[0].next), 2*maxCells)
	}
	require.True(t, s.machines[0].slow)
	require.True(t, p.Match([]byte("xa"+strings.Repeat("b", 20)+"c"), &s))
	p, err = Regexp(`(\pL\d){1000}`, false)
	require.NoError(t, err)
	require.True(t, p.Match(bytes.Repeat([]byte("é1"), 1000), &s))
}

func BenchmarkRegexp(b *testing.B) {
	var lines [][]byte
	size := 0
	for i := range 1000 {
		lines = append(lines, fmt.Appendf(nil, "2026-03-05 15:08:%02d,471 INFO node-%03d took %d ms for request %x", i%60, i, i*i, i*7919))
		size += len(lines[i])
	}
	p, err := Regexp("[0-9]{3}-[A-F]{4}", false)
	require.NoError(b, err)
	var s Scratch
	b.SetBytes(int64(size))
	for b.Loop() {
		for _, line := range lines {
			p.search(line, &s)
		}
	}
}

// Expressions that take turns keep their states, a few at a time.
func TestAutomataTakeTurns(t *testing.T) {
	var s Scratch
	var patterns []*Pattern
	for i := range mostMachines {
		p, err := Regexp(strings.Repeat("[ab]", i+1)+"c", false)
		require.NoError(t, err)
		patterns = append(patterns, p)
	}
	for range 3 {
		for i, p := range patterns {
			require.True(t, p.Match([]byte("xabababababac"), &s))
			require.False(t, p.Match([]byte("xabababababa"), &s))
			require.Same(t, p.states, s.machines[i].automaton)
		}
		require.Len(t, s.machines, mostMachines)
	}
	p, err := Regexp("[xy]c", false)
	require.NoError(t, err)
	require.False(t, p.Match([]byte("abc"), &s))
	require.Len(t, s.machines, 1)
}
