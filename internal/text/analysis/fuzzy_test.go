package analysis

import (
	"bytes"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// distance is the optimal string alignment distance as textbooks define it.
func distance(a, b []rune) int {
	if len(a) == 0 || len(b) == 0 {
		return max(len(a), len(b))
	}
	i, j := len(a)-1, len(b)-1
	d := distance(a[:i], b[:j])
	if a[i] == b[j] {
		return d
	}
	d = min(d, distance(a[:i], b), distance(a, b[:j])) + 1
	if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
		d = min(d, distance(a[:i-1], b[:j-1])+1)
	}
	return d
}

func TestFuzzy(t *testing.T) {
	for _, c := range []struct {
		word, other string
		distance    int
		want        bool
	}{
		{"FAILED", "FAILED", 1, true}, {"FAILED", "FAILE", 1, true}, {"FAILED", "FIALED", 1, true}, {"FAILED", "AFILDE", 1, false},
		{"FAILED", "AFILDE", 2, true}, {"FAILED", "FAILURE", 2, false}, {"CA", "ABC", 2, false}, {"A", "B", 1, false}, {"A", "A", 1, true},
		{"AB", "B", 1, false}, {"AB", "CD", 2, false}, {"AB", "ACB", 1, true}, {"ÜBEL", "UBEL", 1, true}, {"東京都", "東都京", 1, true}, {"ABC", "C", 2, false},
	} {
		require.Equal(t, c.want, NewFuzzy([]byte(c.word), c.distance).Match([]byte(c.other)), c)
	}
	rapid.Check(t, func(t *rapid.T) {
		alphabet := []rune("AB0Zé\ud7ff\ue000東\U0010ffff")[:rapid.IntRange(2, 9).Draw(t, "alphabet")]
		draw := func(name string, least int) []rune {
			return rapid.SliceOfN(rapid.SampledFrom(alphabet), least, 6).Draw(t, name)
		}
		word, edits := draw("word", 1), rapid.IntRange(1, MaxDistance).Draw(t, "edits")
		f := NewFuzzy([]byte(string(word)), edits)
		from := []byte(string(draw("from", 0)))
		next, ok := f.Next(from)
		if ok {
			require.GreaterOrEqual(t, bytes.Compare(next, from), 0)
		}
		for range 40 {
			other := draw("other", 1)
			d := distance(word, other)
			want := d <= edits && d < min(len(word), len(other))
			text := []byte(string(other))
			require.Equal(t, want, f.Match(text), "%q %q %d", word, other, edits)
			if want && bytes.Compare(text, from) >= 0 {
				require.True(t, ok)
				require.GreaterOrEqual(t, bytes.Compare(text, next), 0, "%q comes before %q", text, next)
			}
		}
	})
}

// From one to the next, only words that are like a word are met.
func TestFuzzyNext(t *testing.T) {
	f := NewFuzzy([]byte("FAILED"), 1)
	at := []byte(nil)
	for range 1000 {
		next, ok := f.Next(at)
		require.True(t, ok)
		require.True(t, f.Match(next), "%q", next)
		at = append(slices.Clone(next), firstOfWords)
	}
	_, ok := f.Next([]byte("\U0010ffff\U0010ffff"))
	require.False(t, ok)
}

func BenchmarkFuzzyMatch(b *testing.B) {
	f := NewFuzzy([]byte("CONNECTION"), 2)
	words := bytes.Fields([]byte("2015 10 18 18 06 03 856 INFO RMCOMMUNICATOR ALLOCATOR ORG APACHE HADOOP IPC CLIENT RETRYING CONNECT TO SERVER CONECTOIN"))
	for b.Loop() {
		for _, w := range words {
			f.Match(w)
		}
	}
}
