package lines

import (
	"bytes"
	"io"
	"unicode/utf8"

	"github.com/amudai/amudai-go/internal/engine/pattern"
	"github.com/amudai/amudai-go/table/provider"
)

// narrow leaves out lines without certain texts. These are looked for in whole lines of the window at once:
//
//	[ left out\n left out\n a line with a text\n left out\n | begin ]
//	                             ^ found                     ^ end
type narrow struct {
	find   *pattern.Finder
	end    int                 // of the whole lines in the window; 0: to be found
	all    bool                // none of them is left out
	ranges []provider.RowRange // of the last batch
}

// Narrow has the source leave out lines without one of some texts, if it need not look at each for other columns. See [provider.Select].
func (s *source) Narrow(texts []pattern.Text) {
	if s.times == nil && s.levels == nil && s.w.Used() == 0 {
		s.only = &narrow{find: pattern.FinderOf(texts)}
	}
}

// Ranges implements [provider.Numbered].
func (s *source) Ranges() []provider.RowRange {
	if s.only == nil {
		return nil
	}
	return s.only.ranges
}

// candidate returns the next line with one of the texts, without its end. It may wait for it.
func (s *source) candidate(wait bool) ([]byte, error) {
	o := s.only
	for {
		if o.end == 0 {
			if err := s.wholeLines(wait); err != nil {
				return nil, err
			}
		}
		b := s.w.Bytes()[:o.end]
		from := 0
		if !o.all {
			if from = o.find.Next(b); from < 0 {
				s.take(len(b))
				continue
			}
		}
		if before := bytes.LastIndexByte(b[:from], '\n') + 1; before > 0 {
			s.take(before)
			b, from = b[before:], from-before
		}
		row, n := s.w.Line-1, len(b)
		s.number = row
		if i := bytes.IndexByte(b[from:], '\n'); i >= 0 {
			n = from + i + 1
		}
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
	o.all = s.text != nil && !utf8.Valid(s.w.Bytes()[:o.end]) // the error is that of the line
	return nil
}
