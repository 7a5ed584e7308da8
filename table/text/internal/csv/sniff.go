package csv

import (
	"bytes"
	"io"
	"math"
	"regexp"
	"slices"

	"github.com/amudai/amudai-go/table/provider"
	"github.com/amudai/amudai-go/table/text/internal/guess"
	"github.com/amudai/amudai-go/table/text/internal/records"
)

// The dialect is recognized in at most sniffBytes, which cost less than a millisecond.
const (
	sniffBytes   = provider.SniffBytes
	sniffRecords = 300
)

// Delimiters, the likely ones first. The others are taken only if every record has the same number of them, and more
// than one record has.
const (
	usualDelimiters = ",\t;|"
	rareDelimiters  = ":^~\x01\x1f "
)

// sepLine is a line that some spreadsheets write and read first: sep=;
var sepLine = regexp.MustCompile(`^"?(?i:sep)=(.)"?\r?(\n|$)`)

// recognize finds the dialect of a file, in UTF-8 and without a byte order mark, that starts with sample. whole means
// that it ends there. named reports whether a first record has the names of columns for other reasons than its values.
func recognize(sample []byte, whole bool, o Options, usual byte, named func(head []cell) bool) dialect {
	best := bestTrial(sample, whole, o, usual)
	if o.Header == HeaderAuto && len(best.records) > 0 && !named(best.records[0].cells) {
		best.header = best.header && best.headed()
	}
	if len(best.records) > 0 && best.header && o.Comment == 0 {
		c := best.records[0].cells[0]
		best.hashHeader = !c.quoted && len(best.records[0].cells) > 1 && bytes.HasPrefix(c.text, []byte{'#'})
	}
	return best.dialect
}

// bestTrial returns the dialect that fits best, but for its header.
func bestTrial(sample []byte, whole bool, o Options, usual byte) trial {
	d := o.fixed(usual)
	if o.LineEnd == 0 && bytes.IndexByte(sample, '\n') < 0 && bytes.IndexByte(sample, '\r') >= 0 {
		d.lineEnd = '\r'
	}
	if m := sepLine.FindSubmatch(sample); m != nil && o.Skip == 0 && (o.Delimiter == 0 || o.Delimiter == m[1][0]) {
		d.delimiter, o.Delimiter, d.skip, o.Skip = m[1][0], m[1][0], 1, -1
	}
	s := sniffer{sample, whole, o, usual}
	best := s.try(d)
	if !s.plain(&best) {
		best = s.best(&best)
	}
	return best
}

// sniffer tries dialects on a sample.
type sniffer struct {
	sample []byte
	whole  bool
	o      Options
	usual  byte // the delimiter of the format
}

// try reads the sample in a dialect, and finds where the header is.
func (s *sniffer) try(d dialect) trial {
	t := trial{dialect: d}
	t.run(s.sample, s.whole)
	if s.o.Comment == 0 && d.comment != 0 && t.err == nil {
		if placed := t.placeComments(s.sample); placed != d {
			return s.try(placed)
		}
	}
	t.place(s.o)
	return t
}

// trial is a dialect, and the records of the sample in it.
type trial struct {
	dialect
	records []record
	err     error
	width   int  // of most records
	first   int  // index of the first record of that width
	regular int  // records of that width
	stray   bool // records before the first of that width are no lines to skip
}

// record is a record of the sample.
type record struct {
	cells  []cell
	line   int64
	spaced bool // an empty line is before it
}

// run reads the records of the sample.
func (t *trial) run(sample []byte, whole bool) {
	s := newScannerOn(records.NewBytesWindow(sample), t.dialect)
	var arena []cell
	if t.err = s.skipLines(t.skip); t.err != nil {
		return
	}
	for len(t.records) < sniffRecords {
		before := s.Line + int64(bytes.Count(s.Bytes()[:s.passed], []byte{t.lineEnd}))
		cells, err := s.next()
		if !whole && (err != nil || s.passed == len(s.Bytes())) { // the record may extend beyond the sample
			if err != nil && err != io.EOF && len(t.records) < 2 {
				t.err = err
			}
			break
		}
		if err != nil {
			if err != io.EOF {
				t.err = err
			}
			break
		}
		if len(cells) > cap(arena)-len(arena) {
			arena = make([]cell, 0, max(1024, len(cells)))
		}
		from := len(arena)
		for i, c := range cells {
			if s.spans[i].escaped { // in memory that the scanner uses again
				c.text = bytes.Clone(c.text)
			}
			arena = append(arena, c)
		}
		t.records = append(t.records, record{arena[from:], s.atLine, s.atLine > before})
	}
	t.measure()
}

// measure finds the width of most records.
func (t *trial) measure() {
	if len(t.records) == 0 {
		return
	}
	count := map[int]int{}
	for _, r := range t.records {
		count[len(r.cells)]++
	}
	t.width = len(t.records[0].cells)
	for _, r := range t.records {
		if n := len(r.cells); count[n] > count[t.width] {
			t.width = n
		}
	}
	t.first = slices.IndexFunc(t.records, func(r record) bool { return len(r.cells) == t.width })
	t.regular = count[t.width]
}

// share is the part of the records, from the first of the usual width on, that have it.
func (t *trial) share() float64 {
	if t.err != nil || len(t.records) == 0 {
		return 0
	}
	return float64(t.regular) / float64(len(t.records)-t.first)
}

// typed is the part of the cells after the first record that are numbers, dates or such.
func (t *trial) typed() float64 {
	all, typed := 1, 0
	for _, r := range t.records[min(t.first+1, len(t.records)):] {
		for _, c := range r.cells {
			if len(c.text) == 0 {
				continue
			}
			if all++; guess.ClassOf(c.text) != guess.Text {
				typed++
			}
		}
	}
	return float64(typed) / float64(all)
}

// plain reports whether the sample is clearly of a dialect, so that others need no trial: all records are of one
// width, and none has signs of other dialects.
func (s *sniffer) plain(t *trial) bool {
	if len(t.records) == 0 && t.err == nil {
		return true
	}
	if t.err != nil || t.first > 0 || t.regular != len(t.records) || s.o.Delimiter == 0 && t.width < 2 {
		return false
	}
	head, _, _ := bytes.Cut(s.sample, []byte{t.lineEnd})
	if s.o.Delimiter == 0 {
		for _, c := range []byte(usualDelimiters) {
			if c != t.delimiter && bytes.IndexByte(head, c) >= 0 {
				return false
			}
		}
	}
	has := func(parts ...string) bool {
		return slices.ContainsFunc(parts, func(part string) bool { return bytes.Contains(s.sample, []byte(part)) })
	}
	d := string(rune(t.delimiter))
	return !(s.o.Comment == 0 && s.sample[0] == '#') && !(s.o.Quote == 0 && (has(d+"'", "\n'") || s.sample[0] == '\'')) &&
		!(s.o.Escape == 0 && has(`\"`)) && !(s.o.Trim == TrimAuto && has(d+` "`))
}

// candidates lists the dialects that a file may have.
func (s *sniffer) candidates(d dialect) []dialect {
	o, sample := s.o, s.sample
	all := []dialect{d}
	with := func(yes bool, change func(*dialect)) {
		if !yes {
			return
		}
		for _, d := range slices.Clone(all) {
			change(&d)
			all = append(all, d)
		}
	}
	marked := bytes.HasPrefix(sample, []byte{'#'}) || bytes.Contains(sample, []byte{d.lineEnd, '#'})
	with(o.Comment == 0 && marked, func(d *dialect) { d.comment, d.guessedComment = '#', true })
	with(o.Escape == 0 && d.quote != 0 && bytes.Contains(sample, []byte(`\"`)), func(d *dialect) { d.escape = '\\' })
	with(o.Trim == TrimAuto && d.quote != 0 && bytes.Contains(sample, []byte(` "`)), func(d *dialect) { d.trim = true })
	if o.Quote == 0 {
		plain := slices.Clone(all)
		for _, d := range plain {
			if bytes.IndexByte(sample, '\'') >= 0 && d.escape == 0 && !d.trim {
				d.quote = '\''
				all = append(all, d)
			}
		}
		for _, d := range plain {
			if bytes.IndexByte(sample, '"') >= 0 && d.escape == 0 && !d.trim {
				d.quote = 0
				all = append(all, d)
			}
		}
	}
	if o.Delimiter == 0 {
		variants := slices.Clone(all)
		for _, c := range []byte(usualDelimiters + rareDelimiters) {
			if c == d.delimiter || bytes.IndexByte(sample, c) < 0 {
				continue
			}
			for _, d := range variants {
				d.delimiter = c
				all = append(all, d)
			}
		}
	}
	return all
}

// best tries dialects, and returns the best, or the first one if none is good.
func (s *sniffer) best(first *trial) trial {
	best, score := *first, math.Inf(-1)
	for i, d := range s.candidates(first.dialect) {
		t := *first
		if i > 0 {
			t = s.try(d)
		}
		if v := s.score(&t); v > score {
			best, score = t, v
		}
	}
	return best
}

// score rates a trial. Of equal ones the first is taken. A delimiter other than the usual one must divide nearly all
// records alike.
func (s *sniffer) score(t *trial) float64 {
	least := 0.9
	if s.o.Ragged == RaggedNull || s.o.Ragged == RaggedDrop {
		least = 0.5
	}
	share, other := t.share(), t.delimiter != s.usual && s.o.Delimiter == 0
	rare := other && bytes.IndexByte([]byte(rareDelimiters), t.delimiter) >= 0
	irregular := share < least || t.stray || t.regular < 2 && len(t.records) > 1
	switch {
	case t.err != nil || other && (t.width < 2 || irregular || rare && !t.convincing()):
		return -3
	case len(t.records) == 0:
		return -2
	case t.width < 2 || irregular:
		return share - t.oddity()
	}
	v := 10 + 4*share + t.typed() - t.oddity()
	if t.skip > 0 {
		v--
	}
	if rare {
		v -= 4
	}
	return v
}

// oddity is the cost of what few files have: it must make the records more regular, or quoted fields more.
func (t *trial) oddity() float64 {
	v := 0.0
	if t.quote != '"' {
		v += 0.2
		if t.quote != 0 && !t.allQuoted() {
			v += 8
		}
	}
	if t.escape != 0 {
		v += 0.1
	}
	if t.trim {
		v += 0.1
	}
	for _, r := range t.records {
		for _, c := range r.cells {
			if !c.quoted && t.looksQuoted(c.text) {
				if t.quote == 0 {
					v += 20
				}
				return v + 0.5
			}
		}
	}
	return v
}

// looksQuoted reports whether a field looks as if it were quoted in another dialect. Text between tabs may start with a
// word in quotes.
func (t *trial) looksQuoted(b []byte) bool {
	if len(b) < 2 {
		return false
	}
	last := b[len(b)-1]
	return t.quote == 0 && b[0] == '"' && (last == '"' || t.delimiter != '\t' && bytes.IndexByte(b[1:], '"') >= 0) || t.quote == '"' && b[0] == '\'' && last == '\'' ||
		!t.trim && b[0] == ' ' && bytes.Contains(b, []byte(` "`))
}

// allQuoted reports whether a column is quoted in all records with a value there.
func (t *trial) allQuoted() bool {
	for i := range t.width {
		quoted, all := 0, 0
		for _, r := range t.records[min(t.first+1, len(t.records)):] {
			if i < len(r.cells) && (r.cells[i].quoted || len(r.cells[i].text) > 0) {
				if all++; r.cells[i].quoted {
					quoted++
				}
			}
		}
		if quoted > 0 && quoted == all {
			return true
		}
	}
	return false
}

// convincing reports whether a rare delimiter is used alike in all records. Times of day have colons, and texts have
// spaces: with these, a column of numbers under a name is required.
func (t *trial) convincing() bool {
	if t.first > 0 || t.regular != len(t.records) || t.regular < 2 {
		return false
	}
	if t.delimiter != ':' && t.delimiter != ' ' {
		return true
	}
	if t.delimiter == ':' && t.longest() <= 4 { // addresses in hexadecimal digits
		return false
	}
	if t.delimiter == ':' && t.width >= 5 {
		return true
	}
	return slices.Contains(t.columnVotes(), votesHeader)
}

// placeComments returns the dialect for a file with lines that start with #. Those before the first record are lines to
// skip. The last of them is the header if it has as many fields as the records, which have no other header.
func (t *trial) placeComments(sample []byte) dialect {
	d := t.dialect
	lines, at, last := 0, 0, []byte(nil)
	for i := 0; at < len(sample); i++ {
		line, _, _ := bytes.Cut(sample[at:], []byte{t.lineEnd})
		if blank := len(bytes.TrimSpace(line)) == 0; i >= t.skip && !blank {
			if line[0] != t.comment {
				break
			}
			last = line
		}
		at += len(line) + 1
		lines = i + 1
	}
	if at < len(sample) && !bytes.Contains(sample[at:], []byte{t.lineEnd, t.comment}) {
		d.comment, d.guessedComment = 0, false
	}
	if last == nil {
		return d
	}
	d.skip = lines
	if t.header && t.width > 1 && bytes.Count(last, []byte{t.delimiter})+1 == t.width && !slices.Contains(t.columnVotes(), votesHeader) {
		d.skip, d.comment, d.guessedComment = lines-1, 0, false
	}
	return d
}

// longest is the length of the longest field.
func (t *trial) longest() (n int) {
	for _, r := range t.records {
		for _, c := range r.cells {
			n = max(n, len(c.text))
		}
	}
	return n
}

// place finds the lines before the header, and how records relate to it.
func (t *trial) place(o Options) {
	if t.err != nil || t.first == 0 {
		return
	}
	before := t.records[:t.first]
	head := len(before[0].cells)
	switch {
	case o.Ragged == RaggedAuto && len(before) == 1 && head == t.width-1 && t.regular == len(t.records)-1 && t.header && (head >= 2 || t.emptyLast()):
		if t.shape = rowNames; t.emptyLast() {
			t.shape = lastIsEmpty
		}
	case o.Skip == 0 && t.regular >= 2 && (slices.Contains(t.columnVotes(), votesHeader) || t.leads(before)):
		t.skip = int(t.records[t.first].line - 1)
		t.records, t.first = t.records[t.first:], 0
	default:
		t.stray = true
	}
}

// leads reports whether records are lines of text before the header: they have one field, and others three or more, or
// empty lines are between them.
func (t *trial) leads(before []record) bool {
	several := slices.ContainsFunc(before, func(r record) bool { return len(r.cells) != 1 })
	return !several && (t.records[t.first].spaced || t.width >= 3 && t.share() == 1)
}

// emptyLast reports whether the last field of all records but the header is empty.
func (t *trial) emptyLast() bool {
	return !slices.ContainsFunc(t.records[t.first:], func(r record) bool { return !blank(r.cells[len(r.cells)-1]) })
}
