package search

import (
	"bufio"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/amudai/amudai-go/cmd/amudai/internal/terminal"
	"github.com/amudai/amudai-go/internal/inputs"
	"github.com/amudai/amudai-go/internal/query"
	"github.com/amudai/amudai-go/internal/text/jsontext"
	"github.com/amudai/amudai-go/storage"
)

// Printer prints what was found, as grep does.
type Printer struct {
	Screen      terminal.Screen
	Highlighter *query.Highlighter // used if the screen has colors, and for snippets
	Names       bool               // the name of the input is before each line
	Numbers     bool               // and the number of the row, from 1
	JSON        bool
	Count       bool  // prints the number of matches of each input
	Files       bool  // prints the names of inputs with matches
	Quiet       bool  // prints nothing, and ends the search with the first match
	Context     bool  // groups of lines are separated
	After       int64 // rows of context behind a match
	Limit       int64 // of matches in all inputs; 0: no limit
	Snippet     int   // bytes to print of a line, about; 0: all

	Warn    func(error) // is given what does not make a search incomplete
	Fail    func(error) // is given what does
	Matches int64       // that were printed or counted
	Failed  bool        // Fail was called

	out   *bufio.Writer
	began bool // a line was printed
}

// ErrEnough ends a search.
var ErrEnough = errors.New("enough was found")

// Print prints what is found in an input, while it is found. The error is [ErrEnough] if no more is needed.
func (p *Printer) Print(f *Found) error {
	p.begin()
	last := int64(-1) // row printed
	due := int64(0)   // rows of context behind the last match that are to come
	defer func() {
		for _, w := range f.Warnings() {
			p.Warn(w)
		}
	}()
	for lines := range f.Lines {
		for _, l := range lines {
			if p.Limit > 0 && p.Matches >= p.Limit {
				if due == 0 {
					return errors.Join(p.out.Flush(), ErrEnough)
				}
				l.Match = false
			}
			if l.Match {
				p.Matches++
				due = p.After
			} else if due > 0 {
				due--
			}
			if !p.Count && !p.Files && !p.Quiet {
				p.line(f.Input, l, last)
				last = l.Row
			}
		}
		if err := p.out.Flush(); err != nil {
			return err
		}
	}
	if err := p.total(f); err != nil {
		return err
	}
	if f.Err != nil {
		p.Failed = true
		p.Fail(f.Err)
	}
	if p.Quiet && p.Matches > 0 || p.Limit > 0 && p.Matches >= p.Limit {
		return ErrEnough
	}
	return nil
}

func (p *Printer) begin() {
	if p.out == nil {
		p.out = bufio.NewWriterSize(p.Screen.Out, 64<<10)
	}
}

// total prints what is known at the end of an input.
func (p *Printer) total(f *Found) error {
	name := nameOf(f.Input)
	if p.Count || p.Files || p.Quiet {
		n := f.Count
		if p.Limit > 0 {
			n = min(n, p.Limit-p.Matches)
		}
		p.Matches += n
		switch {
		case p.Quiet || f.Err != nil && f.Count == 0:
		case p.Files && p.JSON && n > 0:
			fmt.Fprintf(p.out, "{\"file\":%s}\n", jsontext.AppendString(nil, name))
		case p.Files && n > 0:
			fmt.Fprintf(p.out, "%s\n", p.Screen.Paint(terminal.Cyan, name))
		case p.Count && p.JSON:
			fmt.Fprintf(p.out, "{\"file\":%s,\"count\":%d}\n", jsontext.AppendString(nil, name), n)
		case p.Count:
			p.name(name, ":")
			fmt.Fprintf(p.out, "%d\n", n)
		}
	}
	return p.out.Flush()
}

// nameOf is the name of an input in the output.
func nameOf(in inputs.Input) string {
	if in.Location == "-" {
		return "(standard input)"
	}
	return storage.Redact(in.Location)
}

func (p *Printer) name(name, separator string) {
	if p.Names {
		fmt.Fprint(p.out, p.Screen.Paint(terminal.Cyan, name), separator)
	}
}

// line prints a line. last is the row before it in the same input, -1 for none.
func (p *Printer) line(in inputs.Input, l Line, last int64) {
	if p.Snippet > 0 && l.Match && !p.JSON {
		l.Text = snippet(l.Text, p.Highlighter.Spans(l.Text), p.Snippet)
	}
	if p.JSON {
		p.jsonLine(in, l)
		return
	}
	if p.Context && p.began && (last < 0 || l.Row > last+1) {
		fmt.Fprint(p.out, p.Screen.Paint(terminal.Cyan, "--"), "\n")
	}
	p.began = true
	separator := ":"
	if !l.Match {
		separator = "-"
	}
	p.name(nameOf(in), separator)
	if p.Numbers {
		fmt.Fprint(p.out, p.Screen.Paint(terminal.Green, l.Row+1), separator)
	}
	switch {
	case p.Screen.Width == 0:
		p.out.Write(l.Text)
	case l.Match && p.Screen.Color:
		p.highlight(l.Text)
	default:
		p.text(l.Text)
	}
	p.out.WriteByte('\n')
}

// highlight prints a line with the texts that were searched for in color.
func (p *Printer) highlight(line []byte) {
	at := 0
	for _, s := range p.Highlighter.Spans(line) {
		p.text(line[at:s.From])
		p.out.WriteString(p.Screen.Paint(terminal.Match, visible(line[s.From:s.To])).String())
		at = s.To
	}
	p.text(line[at:])
}

func (p *Printer) text(b []byte) { p.out.WriteString(terminal.Printable(visible(b))) }

// visible replaces tabs, which are no danger on a screen.
func visible(b []byte) string { return strings.ReplaceAll(string(b), "\t", "    ") }

// jsonLine prints a line as an object.
func (p *Printer) jsonLine(in inputs.Input, l Line) {
	b := append(jsontext.AppendString([]byte(`{"file":`), nameOf(in)), `,"row":`...)
	b = strconv.AppendInt(b, l.Row+1, 10)
	if !l.Match {
		b = append(b, `,"context":true`...)
	}
	if l.Score > 0 {
		b = strconv.AppendFloat(append(b, `,"score":`...), l.Score, 'f', 6, 64)
	}
	b = append(append(append(b, `,"values":`...), l.Text...), "}\n"...)
	p.out.Write(b)
}
