package ranked

import (
	"context"
	"errors"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/amudai/amudai-go/internal/arrow/texts"
	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/base/seq"
	"github.com/amudai/amudai-go/internal/engine/ranking"
	"github.com/amudai/amudai-go/internal/format/postings"
	"github.com/amudai/amudai-go/internal/text/analysis"
	"github.com/amudai/amudai-go/table/internal/tables"
	"github.com/amudai/amudai-go/table/provider"
)

// scanned is an input as scans find it, a column after the other.
func (s *search) scanned(ctx context.Context, i int, have []string) ([]part, error) {
	p := part{columns: make([]column, len(s.Columns))}
	if len(have) == 0 { // its rows are to be counted only
		have = []string{""}
	}
	for _, path := range have {
		o := s.Read
		if o.Columns = []string{path}; path == "" {
			o.Columns = []string{}
		}
		src, err := s.union.OpenPart(ctx, i, o)
		if err != nil {
			return nil, err
		}
		z := analysis.Word
		if path != "" {
			z = s.tokenizers[slices.Index(s.Columns, path)]
		}
		c := newScanned(z, s.Query.AllWords(z))
		if n, known := provider.PositionsOf(src); known {
			p.rows = max(p.rows, n)
		}
		if err := seq.Each(tables.Batches(ctx, src), func(b arrow.RecordBatch) error { return c.add(b, provider.RangesOf(src)) }); err != nil { // it closes src
			return nil, err
		}
		if p.rows = max(p.rows, c.next); path != "" {
			c.lengths = slices.Grow(c.lengths, 1) // not nil
			p.columns[slices.Index(s.Columns, path)].Column = c
		}
	}
	return []part{p}, nil
}

// scanned is the rows of a column that have some words.
type scanned struct {
	words   []ranking.Word
	exact   map[string]int // number of a word that is one term
	others  []several
	rows    [][]uint32 // by word
	counts  [][]uint32
	lengths []uint8
	all     ranking.Collection
	next    int64 // row behind the last

	tokenizer analysis.Tokenizer
	found     analysis.Terms
	upper     []byte
	row       uint32 // the last that had a text
	terms     int    // of it
}

// several is a word of several terms.
type several struct {
	number int
	is     func(term []byte) bool
}

func newScanned(z analysis.Tokenizer, words []ranking.Word) *scanned {
	c := &scanned{tokenizer: z, words: words, exact: map[string]int{}, rows: make([][]uint32, len(words)), counts: make([][]uint32, len(words))}
	for i, w := range words {
		if w.IsTerm() {
			c.exact[w.Text] = i
		} else {
			c.others = append(c.others, several{i, w.Matcher()})
		}
	}
	return c
}

// add adds the rows of a batch, whose positions are those of ranges if they are known.
func (c *scanned) add(b arrow.RecordBatch, ranges []provider.RowRange) error {
	if ranges == nil {
		ranges = []provider.RowRange{{From: c.next, To: c.next + b.NumRows()}}
	}
	positions := make([]uint32, 0, b.NumRows())
	for _, r := range ranges {
		if r.To > postings.MaxRow {
			return fault.Limitf("a ranking of more than %d rows", postings.MaxRow)
		}
		for row := r.From; row < r.To; row++ {
			positions = append(positions, uint32(row))
		}
		c.next = max(c.next, r.To)
	}
	if int64(len(positions)) < b.NumRows() {
		return errors.New("the format does not tell the positions of rows")
	}
	if b.NumCols() == 0 {
		return nil
	}
	err := texts.Each(b.Column(0), func(row int, text []byte) error {
		if positions[row] != c.row {
			c.endRow()
			c.row = positions[row]
		}
		c.text(text)
		return nil
	})
	c.endRow()
	return err
}

// endRow counts the last row.
func (c *scanned) endRow() {
	if c.terms == 0 {
		return
	}
	code := analysis.LengthCode(c.terms)
	c.lengths = append(c.lengths, make([]uint8, int(c.row)+1-len(c.lengths))...)
	c.lengths[c.row] = code
	c.all.Add(ranking.Collection{Rows: 1, Terms: int64(analysis.Length(code))})
	c.terms = 0
}

// text counts the words of a text of the last row.
func (c *scanned) text(text []byte) {
	c.found.Find(c.tokenizer, text)
	c.terms += len(c.found.Spans)
	for term := range c.found.All {
		c.upper = analysis.AppendUpper(c.upper[:0], term)
		if i, ok := c.exact[string(c.upper)]; ok {
			c.count(i)
		}
		for _, o := range c.others {
			if o.is(c.upper) {
				c.count(o.number)
			}
		}
	}
}

// count counts a word in the last row.
func (c *scanned) count(i int) {
	if n := len(c.rows[i]); n > 0 && c.rows[i][n-1] == c.row {
		c.counts[i][n-1] = min(c.counts[i][n-1]+1, analysis.MaxFrequency-1)
		return
	}
	c.rows[i], c.counts[i] = append(c.rows[i], c.row), append(c.counts[i], 0)
}

// The methods of [ranking.Column].

func (c *scanned) Parameters() ranking.Parameters                         { return ranking.Default }
func (c *scanned) Tokenizer() analysis.Tokenizer                          { return c.tokenizer }
func (c *scanned) Collection(context.Context) (ranking.Collection, error) { return c.all, nil }
func (c *scanned) Lengths(context.Context) ([]uint8, error)               { return c.lengths, nil }

func (c *scanned) Find(_ context.Context, words []ranking.Word) (found []ranking.Found, err error) {
	for _, w := range words {
		i := slices.Index(c.words, w)
		found = append(found, ranking.Found{Postings: ranking.NewMemory(c.rows[i], c.counts[i], c.lengths), Rows: int64(len(c.rows[i]))})
	}
	return found, nil
}
