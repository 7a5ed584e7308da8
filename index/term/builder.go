package term

import (
	"bufio"
	"cmp"
	"context"
	"io"

	"github.com/amudai/amudai-go/index/term/internal/runs"
	"github.com/amudai/amudai-go/internal/base/ascii"
	"github.com/amudai/amudai-go/internal/base/bitmap"
	"github.com/amudai/amudai-go/internal/text/analysis"
	"github.com/amudai/amudai-go/storage"
)

// Collation is an order of terms, Tokenizer cuts texts into terms, and Bounds are those of scores of rows.
type (
	Collation = analysis.Collation
	Tokenizer = analysis.Tokenizer
	Bounds    = analysis.Bounds
)

// The orders of terms, and the tokenizers.
const (
	CaseInsensitive = analysis.CaseInsensitive
	CasePreserving  = analysis.CasePreserving
	Word            = analysis.Word
	Log             = analysis.Log
	Trivial         = analysis.Trivial
)

// Builder collects the terms of consecutive rows of a table. What exceeds its memory goes to temporary files, in sorted runs. It must
// not be used concurrently, but several builders may collect different rows side by side.
type Builder struct {
	o       BuilderOptions
	lengths []rowLength // of each field, if there are frequencies
	spilled []*storage.Spool
	terms   runs.Memory
	found   analysis.Terms
	spans   []analysis.Span // of words for pairs
	upper   []byte
	pair    []byte
}

// rowLength is the number of terms of the last row of a field so far.
type rowLength struct {
	row   uint32
	terms int
}

// BuilderOptions are the options of [NewBuilder].
type BuilderOptions struct {
	Collation  Collation
	Tokenizers []Tokenizer // one for each field
	// Phrases also collects pairs of words ([AppendPair]), each in the field behind all of these whose number is as much greater as there are tokenizers.
	Phrases bool
	// Scores collects how often a row has a term, too, and in one more field for each tokenizer, behind all others, how many terms it has ([Options]).
	Scores bool
	Memory int64                 // bytes to take, about, before terms are spooled
	Spool  func() *storage.Spool // makes a temporary file, which the builder closes
}

// Fields is the number of fields of an index.
func (o *BuilderOptions) Fields() int {
	return len(o.Tokenizers) * (1 + bitmap.Bit(o.Phrases) + bitmap.Bit(o.Scores))
}

// Scored is the number of fields with frequencies.
func (o *BuilderOptions) Scored() int { return len(o.Tokenizers) * bitmap.Bit(o.Scores) }

// maxMemory is the most memory of a builder, whose places are of 32 bits.
const maxMemory = 2 << 30

// NewBuilder returns a builder.
func NewBuilder(o BuilderOptions) *Builder {
	o.Memory = min(o.Memory, maxMemory)
	return &Builder{o: o, lengths: make([]rowLength, o.Scored()), terms: runs.Memory{Repeats: o.Scores}}
}

// Add adds a text of a field in a row. For each field rows come in ascending order; a row may have several texts.
func (b *Builder) Add(field int, row uint32, text []byte) error {
	b.found.Find(b.o.Tokenizers[field], text)
	spans, of := b.found.Spans, b.found.Text
	if b.o.Scores {
		if l := &b.lengths[field]; l.row != row {
			b.addLength(field)
			*l = rowLength{row: row}
		}
		b.lengths[field].terms += len(spans)
	}
	switch {
	case b.o.Collation == analysis.CasePreserving:
		for _, s := range spans {
			b.terms.Add(field, row, of[s.From:s.To])
		}
	case ascii.Only(of):
		b.upper = analysis.AppendUpper(b.upper[:0], of)
		for _, s := range spans {
			b.terms.Add(field, row, b.upper[s.From:s.To])
		}
	default: // a character may change its size
		for _, s := range spans {
			b.upper = analysis.AppendUpper(b.upper[:0], of[s.From:s.To])
			b.terms.Add(field, row, b.upper)
		}
	}
	if b.o.Phrases {
		b.addPairs(field+len(b.o.Tokenizers), row, text)
	}
	if b.terms.Size() > b.o.Memory {
		return b.spill()
	}
	return nil
}

// addLength adds the length of the last row of a field.
func (b *Builder) addLength(field int) {
	if l := b.lengths[field]; l.terms > 0 {
		var buf [3]byte
		b.terms.Add(b.o.Fields()-b.o.Scored()+field, l.row, lengthTerm(buf[:0], analysis.LengthCode(l.terms)))
	}
}

// MaxPair is the most bytes of two words that are collected as a pair.
const MaxPair = analysis.MaxTermLen - 2

// addPairs adds the pairs of words that follow each other.
func (b *Builder) addPairs(field int, row uint32, text []byte) {
	b.spans = analysis.AppendWords(b.spans[:0], text)
	for i := 1; i < len(b.spans); i++ {
		first, second := b.spans[i-1], b.spans[i]
		if first.To-first.From+second.To-second.From > MaxPair {
			continue
		}
		b.pair = AppendPair(b.pair[:0], text[first.From:first.To], text[second.From:second.To])
		if b.o.Collation == analysis.CaseInsensitive {
			b.upper = analysis.AppendUpper(b.upper[:0], b.pair)
			b.terms.Add(field, row, b.upper)
		} else {
			b.terms.Add(field, row, b.pair)
		}
	}
}

// AppendPair appends the term for two words that follow each other: a blank, the first, a blank, and the second. So pairs come before all words.
func AppendPair(dst, first, second []byte) []byte {
	dst = append(append(dst, ' '), first...)
	return append(append(dst, ' '), second...)
}

// spill writes the terms in memory to a spool, and forgets them.
func (b *Builder) spill() error {
	s := b.o.Spool()
	b.spilled = append(b.spilled, s)
	out := bufio.NewWriterSize(s, 64<<10)
	if err := runs.Write(out, b.terms.Run(b.o.Collation)); err != nil {
		return err
	}
	b.terms.Reset()
	return out.Flush()
}

// Close removes temporary files.
func (b *Builder) Close() (err error) {
	for _, s := range b.spilled {
		err = cmp.Or(err, s.Close())
	}
	b.spilled = nil
	return err
}

// Write writes an index of what builders have collected: each of the rows that follow those of the one before. They can be used no more, but are to be closed.
func Write(ctx context.Context, out io.Writer, o Options, builders ...*Builder) error {
	w, err := newWriter(out, o)
	if err != nil {
		return err
	}
	return w.merge(ctx, runsOf(o.Collation, builders))
}

// Each calls visit with each term that builders of a collation have collected, in the order of an index: each builder has the rows that follow those
// of the one before. A term is valid during the call, in which rows is to be called once. It yields the rows in their order, some of them
// twice in a row. The builders can be used no more, but are to be closed.
func Each(ctx context.Context, c Collation, visit func(term []byte, field int, rows func(yield func(row uint32)) error) error, builders ...*Builder) error {
	return runs.Merge(ctx, c, runsOf(c, builders), func(term []byte, field int, rows func(func([]uint32)) error) error {
		return visit(term, field, func(yield func(uint32)) error {
			return rows(func(rows []uint32) {
				for _, row := range rows {
					yield(row)
				}
			})
		})
	})
}

// runsOf are the runs of builders, in the order of their rows.
func runsOf(c Collation, builders []*Builder) (all []runs.Run) {
	for _, b := range builders {
		for _, s := range b.spilled {
			all = append(all, runs.NewFile(s))
		}
		for field := range b.lengths {
			b.addLength(field)
		}
		all = append(all, b.terms.Last(c))
	}
	return all
}
