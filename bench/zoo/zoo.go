// Package zoo makes columns of texts of different nature for benchmarks: real texts of the corpus and of Go's own sources,
// texts that follow the statistics of real ones, and texts by grammars with realistic skew. A column is the same in every
// run on the same machine. A third of the columns is held out: encodings must not be tuned with them.
package zoo

import (
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
)

// MaxValues is the largest number of values of a column.
const MaxValues = 1_000_000

// Sources are the folders with real texts.
type Sources struct {
	Corpus string // the folder corpus of the shared test data
	Go     string // the root of Go's own sources, "" for that of this program's Go
}

// Column is a column of texts.
type Column struct {
	Name    string
	Group   string // the nature of the texts
	HeldOut bool   // not for tuning
	// Entropy is the number of random bits of a value, if all others are known before; 0 for columns that are not random.
	Entropy float64
	open    opener
}

// next appends a value, or returns nil for a null.
type next func(b []byte) []byte

// opener prepares a column of g.n values.
type opener func(g *gen) (next, error)

// gen is what a column is made with.
type gen struct {
	*rand.Rand
	Sources
	n int // number of values
}

// Columns are all columns, by group.
func Columns() []Column {
	return slices.Concat(prose, people, web, files, identifiers, times, documents, programs, logs, random, scripts, shapes)
}

// Tuned are the columns that are not held out.
func Tuned() []Column {
	return slices.DeleteFunc(Columns(), func(c Column) bool { return c.HeldOut })
}

// Find is the column with a name.
func Find(name string) (Column, bool) {
	all := Columns()
	i := slices.IndexFunc(all, func(c Column) bool { return c.Name == name })
	if i < 0 {
		return Column{}, false
	}
	return all[i], true
}

// Make makes n values, at most MaxValues.
func (c Column) Make(src Sources, n int) (*array.String, error) {
	if n < 0 || n > MaxValues {
		return nil, fmt.Errorf("zoo: %d values of column %s; at most %d can be made", n, c.Name, MaxValues)
	}
	h := fnv.New64a()
	h.Write([]byte(c.Name))
	g := &gen{rand.New(rand.NewPCG(h.Sum64(), 26)), src, n}
	value, err := c.open(g)
	if err != nil {
		return nil, fmt.Errorf("zoo: column %s: %w", c.Name, err)
	}
	b := array.NewStringBuilder(memory.DefaultAllocator)
	defer b.Release()
	b.Reserve(n)
	buf := make([]byte, 0, 4096)
	for range n {
		if v := value(buf[:0]); v == nil {
			b.AppendNull()
		} else {
			b.BinaryBuilder.Append(v)
		}
	}
	return b.NewStringArray(), nil
}

// each makes an opener of a function that needs no preparation.
func each(f func(g *gen, b []byte) []byte) opener {
	return func(g *gen) (next, error) { return func(b []byte) []byte { return f(g, b) }, nil }
}

// sorted makes an opener of the sorted values of another one.
func sorted(open opener) opener {
	return func(g *gen) (next, error) {
		value, err := open(g)
		if err != nil {
			return nil, err
		}
		all := make([]string, g.n)
		for i := range all {
			all[i] = string(value(nil))
		}
		slices.Sort(all)
		return inOrder(all), nil
	}
}

// inOrder gives values one after the other, of which there are enough.
func inOrder(all []string) next {
	return func(b []byte) []byte {
		b = append(b, all[0]...)
		all = all[1:]
		return b
	}
}

// valid removes what is not UTF-8.
func valid(s string) string { return strings.ToValidUTF8(s, "?") }
