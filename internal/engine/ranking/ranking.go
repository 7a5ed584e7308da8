// Package ranking orders rows by how well they match words: BM25 (S. Robertson, H. Zaragoza, The Probabilistic Relevance Framework: BM25 and Beyond, 2009), and
// the best rows of lists of rows with frequencies, without looking at most of the others.
package ranking

import (
	"bytes"
	"context"
	"math"

	"github.com/amudai/amudai-go/internal/engine/rowset"
	"github.com/amudai/amudai-go/internal/text/analysis"
)

// Score is how well a row matches, in units of 2^-20. Integers have the same sum in any order.
type Score uint64

const scoreUnit = 1 << 20

// Float is the score as a number.
func (s Score) Float() float64 { return float64(s) / scoreUnit }

// Parameters are those of BM25: K1 is how much further occurrences of a word in a row count, and B how much the length of the row does, from 0 to 1.
type Parameters struct{ K1, B float64 }

// MaxK1 is the greatest K1.
const MaxK1 = 1000

// Default is the parameters that are usual.
var Default = Parameters{K1: 1.2, B: 0.75}

// Collection is what scores need to know of all rows of a column.
type Collection struct {
	Rows  int64 // that have words
	Terms int64 // their lengths
}

// Add adds other rows.
func (c *Collection) Add(o Collection) { c.Rows, c.Terms = c.Rows+o.Rows, c.Terms+o.Terms }

// Collect counts those of some rows that have words, by their length codes.
func Collect(lengths []uint8, among rowset.Set) (c Collection) {
	for r := range among.Clip(0, int64(len(lengths))).Ranges() {
		for _, code := range lengths[r.From:r.To] {
			if code > 0 {
				c.Add(Collection{Rows: 1, Terms: int64(analysis.Length(code))})
			}
		}
	}
	return c
}

// Scorer gives the score of a word in rows of a column.
type Scorer struct {
	weight float64
	norms  [256]float64 // by length code
}

// Scorer returns the scorer of a word that so many rows have.
func (p Parameters) Scorer(c Collection, rows int64, boost float64) *Scorer {
	n := max(float64(c.Rows), float64(rows), 1)
	idf := math.Log1p((n - float64(rows) + 0.5) / (float64(rows) + 0.5))
	s := &Scorer{weight: boost * idf * (p.K1 + 1) * scoreUnit}
	average := max(float64(c.Terms)/n, 1)
	for code := range s.norms {
		// Conversions keep processors from rounding once for both operations.
		s.norms[code] = p.K1 * (1 - p.B + float64(p.B*float64(analysis.Length(uint8(code)))/average))
	}
	return s
}

// Score is the score of a row that has the word so many times.
func (s *Scorer) Score(frequency uint32, length uint8) Score {
	f := float64(frequency)
	return max(Score(float64(s.weight*f)/(f+s.norms[length])), 1)
}

// most is the highest score of rows with some bounds.
func (s *Scorer) most(b analysis.Bounds) (most Score) {
	for i, length := range b.Lengths[:min(int(b.Frequency), len(b.Lengths))] {
		f := uint32(i + 1)
		if i == len(b.Lengths)-1 {
			f = uint32(b.Frequency)
		}
		most = max(most, s.Score(f, length))
	}
	return most
}

// Word is what rows are ranked by: a term as a tokenizer finds it, in upper case, or several: those that begin with it, that have it anywhere, or are like it
// ([analysis.Fuzzy]). Several terms are one word, whose occurrences are theirs together.
type Word struct {
	Text     string
	Prefix   bool
	Inside   bool
	Distance int // of terms like it; 0 for the term itself
}

// IsTerm reports whether the word is a single term.
func (w Word) IsTerm() bool { return !w.Prefix && !w.Inside && w.Distance == 0 }

// Matcher tells terms in upper case that are the word.
func (w Word) Matcher() func(term []byte) bool {
	switch {
	case w.Prefix:
		return func(term []byte) bool { return bytes.HasPrefix(term, []byte(w.Text)) }
	case w.Inside:
		return func(term []byte) bool { return bytes.Contains(term, []byte(w.Text)) }
	case w.Distance > 0:
		return analysis.NewFuzzy([]byte(w.Text), w.Distance).Match
	}
	return func(term []byte) bool { return string(term) == w.Text }
}

// Column is the words of a column of some consecutive rows. Rows are counted from the first of these. Its methods may be called concurrently.
type Column interface {
	// Parameters are those that the index was made for.
	Parameters() Parameters
	// Tokenizer is that of the words.
	Tokenizer() analysis.Tokenizer
	// Collection counts rows and terms.
	Collection(ctx context.Context) (Collection, error)
	// Lengths are the length codes of the rows. They are not to be changed.
	Lengths(ctx context.Context) ([]uint8, error)
	// Find finds the rows with each of some words.
	Find(ctx context.Context, words []Word) ([]Found, error)
}

// Found is the rows with a word, and their number; nil if there are none.
type Found struct {
	Postings Postings
	Rows     int64
}
