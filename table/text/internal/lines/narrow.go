package lines

import (
	"bytes"
	"io"
	"math"
	"unicode/utf8"

	"github.com/amudai/amudai-go/internal/engine/pattern"
	"github.com/amudai/amudai-go/table/provider"
)

// narrow leaves out lines without certain texts, but for some before and after each that has one. These are looked for in whole lines of the window
// at once, the last of which are not left out, as the next may need them before it:
//
//	[ left out\n left out\n a line with a text\n left out\n | begin ]
//	                             ^ found                     ^ end
type narrow struct {
	find   *pattern.Finder     // nil before the first lines; lines choose one
	lists  []*pattern.Finder   // each line that is wanted has a text of each
	before int                 // lines that are kept before one with a text
	after  int                 // and behind it
	due    int                 // of the next lines that are not left out
	end    int                 // of the whole lines in the window; 0: to be found
	all    bool                // none of them is left out
	ranges []provider.RowRange // of the last batch
}

// Narrow has the source leave out lines without one of the texts of a list, but for some before and behind each that has one, if it need not look at each for other
// columns. See [provider.Select].
func (s *source) Narrow(lists [][]pattern.Text, before, after int64) {
	if s.times != nil || s.levels != nil || s.w.Used() > 0 {
		return
	}
	s.only = &narrow{before: int(min(before, math.MaxInt32)), after: int(min(after, math.MaxInt32-1))}
	for _, texts := range pattern.ByRarity(lists) {
		s.only.lists = append(s.only.lists, pattern.FinderOf(texts))
	}
}

// sampled is how many bytes say which texts are rare in so many.
const sampled, ofBytes = 4 << 10, 128 << 10

// choose chooses the finder that finds fewest of some lines, among equals the first one. What is rare in most texts may be in each line of this one.
func (o *narrow) choose(b []byte) {
	least := math.MaxInt
	for _, f := range o.lists {
		found := 0
		for rest := b[:min(len(b), sampled)]; found < least; found++ {
			at := f.Next(rest)
			if at < 0 {
				o.find, least = f, found
				break
			}
			_, rest, _ = bytes.Cut(rest[at:], []byte{'\n'})
		}
	}
}

// Ranges implements [provider.Numbered].
func (s *source) Ranges() []provider.RowRange {
	if s.only == nil {
		return nil
	}
	return s.only.ranges
}

// candidate returns the next line with one of the texts, or near one, without its end. It may wait for it.
func (s *source) candidate(wait bool) ([]byte, error) {
	o := s.only
	for {
		if o.end == 0 {
			if err := s.wholeLines(wait); err != nil {
				return nil, err
			}
		}
		if o.due == 0 && !o.all {
			if s.skip(); o.due == 0 {
				continue
			}
		}
		b := s.w.Bytes()[:o.end]
		row, n := s.w.Line-1, len(b)
		s.number = row
		if i := bytes.IndexByte(b, '\n'); i >= 0 {
			n = i + 1
		}
		if o.after > 0 && o.find.Next(b[:n]) >= 0 {
			o.due = max(o.due, 1+o.after)
		}
		o.due = max(0, o.due-1)
		if last := len(o.ranges) - 1; last >= 0 && o.ranges[last].To == row {
			o.ranges[last].To++
		} else {
			o.ranges = append(o.ranges, provider.RowRange{From: row, To: row + 1})
		}
		line := s.take(n)
		if end := n - 1; line[end] == '\n' {
			line = bytes.TrimSuffix(line[:end], []byte{'\r'})
		}
		return line, nil
	}
}

// skip takes whole lines up to those before the next with a text, or up to the last ones, and says how many are due then.
func (s *source) skip() {
	o := s.only
	b := s.w.Bytes()[:o.end]
	start := len(b)
	if from := o.find.Next(b); from >= 0 {
		start, o.due = bytes.LastIndexByte(b[:from], '\n')+1, 1
	}
	for k := 0; k < o.before && start > 0; k++ {
		start = bytes.LastIndexByte(b[:start-1], '\n') + 1
		o.due++
	}
	s.take(start)
}

func (s *source) take(n int) []byte {
	s.only.end -= n
	return s.w.Take(n)
}

// wholeLines finds the whole lines in the window, and reads until there is one.
func (s *source) wholeLines(wait bool) error {
	o, seen := s.only, 0
	for {
		b := s.w.Bytes()
		if o.end = seen + bytes.LastIndexByte(b[seen:], '\n') + 1; o.end > seen {
			break
		}
		o.end = 0
		if !wait {
			return errNoLine
		}
		seen = len(b)
		if err := s.w.More(); err == io.EOF && seen > 0 { // the last one has no end
			o.end = seen
			break
		} else if err != nil {
			return err
		}
	}
	if o.find == nil || o.end >= ofBytes && len(o.lists) > 1 {
		o.choose(s.w.Bytes()[:o.end])
	}
	o.all = s.text != nil && !utf8.Valid(s.w.Bytes()[:o.end]) // the error is that of the line
	return nil
}
