package command

import (
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"syscall"
	"unicode"
	"unicode/utf8"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
)

// Colours of [app.paint], as parameters of the ANSI sequence SGR.
const (
	bold  = "1"
	dim   = "2"
	red   = "31"
	green = "32"
	cyan  = "36"
)

// paint colours a text on a terminal.
func (a *app) paint(color, s string) string {
	if !a.color {
		return s
	}
	return "\x1b[" + color + "m" + s + "\x1b[0m"
}

// printable replaces the characters that would move the cursor or change the
// terminal: data must not be able to do that.
func printable(s string) string {
	clean := true
	for _, r := range s {
		if !unicode.IsPrint(r) || r == utf8.RuneError {
			clean = false
			break
		}
	}
	if clean {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		if unicode.IsPrint(r) {
			b.WriteRune(r)
			continue
		}
		quoted := strconv.QuoteRune(r)
		b.WriteString(quoted[1 : len(quoted)-1])
	}
	return b.String()
}

// grid is a table for people: a header, a line below it, columns apart by two
// spaces.
type grid struct {
	titles []string
	right  []bool // numbers
	rows   [][]string
	most   []int // widths beyond which a column's texts are cut, 0: none
}

// add adds a row. Cells beyond the titles are dropped.
func (g *grid) add(cells ...string) { g.rows = append(g.rows, cells) }

// newGrid makes a table; titles that start with ">" are those of columns that
// are aligned to the right.
func newGrid(titles ...string) *grid {
	g := &grid{}
	for _, t := range titles {
		g.titles = append(g.titles, strings.TrimPrefix(t, ">"))
		g.right = append(g.right, strings.HasPrefix(t, ">"))
	}
	g.most = make([]int, len(titles))
	return g
}

// print renders the table; lines end at their last character.
func (a *app) print(w io.Writer, g *grid) error {
	t := table.NewWriter()
	style := table.StyleLight
	style.Box.PaddingLeft, style.Box.PaddingRight = "", "  "
	style.Options = table.OptionsNoBordersAndSeparators
	style.Options.SeparateHeader = true
	style.Format.Header = text.FormatDefault
	t.SetStyle(style)
	t.SuppressTrailingSpaces()
	configs := make([]table.ColumnConfig, len(g.titles))
	header := make(table.Row, len(g.titles))
	for i, title := range g.titles {
		header[i] = a.paint(bold, printable(title))
		configs[i] = table.ColumnConfig{Number: i + 1}
		if g.right[i] {
			configs[i].Align, configs[i].AlignHeader = text.AlignRight, text.AlignRight
		}
	}
	t.AppendHeader(header)
	t.SetColumnConfigs(configs)
	for _, r := range g.rows {
		row := make(table.Row, len(g.titles))
		for i := range row {
			if i < len(r) {
				row[i] = cut(r[i], g.most[i])
			}
		}
		t.AppendRow(row)
	}
	_, err := fmt.Fprintln(w, trimLines(t.Render()))
	return err
}

// trimLines drops what pads the last column: spaces, and the end of the line
// below the header.
func trimLines(s string) string {
	lines := strings.Split(s, "\n")
	width := 0
	for i, l := range lines {
		lines[i] = strings.TrimRight(l, " ")
		if i != 1 {
			width = max(width, text.StringWidthWithoutEscSequences(lines[i]))
		}
	}
	if len(lines) > 1 {
		lines[1] = text.Trim(lines[1], width)
	}
	return strings.Join(lines, "\n")
}

// cut shortens a text to a number of columns on the screen.
func cut(s string, most int) string {
	if most <= 0 || text.StringWidthWithoutEscSequences(s) <= most {
		return s
	}
	return text.Trim(s, most-1) + "…"
}

// count is a number with separators: 3,000,000.
func count[T int | int64 | uint64 | uint32 | int32](n T) string {
	s := fmt.Sprint(n)
	sign := ""
	if s[0] == '-' {
		sign, s = "-", s[1:]
	}
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return sign + s
}

// size is a number of bytes with its unit: 12.9 MiB.
func size[T int | int64 | uint64](n T) string {
	v := float64(n)
	if math.Abs(v) < 1024 {
		return fmt.Sprintf("%d B", n)
	}
	for _, unit := range []string{"KiB", "MiB", "GiB", "TiB"} {
		v /= 1024
		if math.Abs(v) < 1024 || unit == "TiB" {
			digits := 1
			if math.Abs(v) >= 100 {
				digits = 0
			}
			return strconv.FormatFloat(v, 'f', digits, 64) + " " + unit
		}
	}
	return ""
}

// percent is a share: 12.3 %.
func percent(part, whole float64) string {
	if whole == 0 {
		return "–"
	}
	return strconv.FormatFloat(100*part/whole, 'f', 1, 64) + " %"
}

// bar draws a share with eighths of blocks.
func bar(part, whole float64, width int) string {
	if whole <= 0 {
		return ""
	}
	eighths := int(math.Round(part / whole * float64(width) * 8))
	s := strings.Repeat("█", eighths/8)
	if rest := eighths % 8; rest > 0 {
		s += string([]rune("▏▎▍▌▋▊▉")[rest-1])
	}
	return s
}

// plural is "1 row", "2 rows".
func plural[T int | int64 | uint64](n T, one string) string {
	if n == 1 {
		return "1 " + one
	}
	if strings.HasSuffix(one, "x") || strings.HasSuffix(one, "ch") {
		return count(n) + " " + one + "es"
	}
	if strings.HasSuffix(one, "y") {
		return count(n) + " " + strings.TrimSuffix(one, "y") + "ies"
	}
	return count(n) + " " + one + "s"
}

func isBrokenPipe(err error) bool { return errors.Is(err, syscall.EPIPE) }
