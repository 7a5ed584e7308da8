package browse

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"
	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/charmbracelet/x/ansi"
	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/cmd/amudai/internal/browse/pages"
	"github.com/amudai/amudai-go/cmd/amudai/internal/inspect"
	"github.com/amudai/amudai-go/shard"
	"github.com/amudai/amudai-go/table/provider"
	"github.com/amudai/amudai-go/table/text"
)

var update = flag.Bool("update", false, "write the screens of testdata anew")

// screen drives a model without a terminal.
type screen struct {
	t *testing.T
	m *model
}

func newScreen(t *testing.T, b Table, width, height int) *screen {
	s := &screen{t, newModel(t.Context(), b, Options{})}
	s.m.method = ansi.GraphemeWidth
	s.m.width, s.m.height = width, height
	s.run(s.m.Init())
	t.Cleanup(func() {
		s.m.work.wait()
		require.NoError(t, s.m.rows.loader.Close())
	})
	return s
}

// run runs a command and those that follow from it. It leaves out ticks, which only draw progress.
func (s *screen) run(cmd tea.Cmd) {
	if cmd == nil {
		return
	}
	ended := make(chan tea.Msg, 1)
	go func() { ended <- cmd() }()
	var msg tea.Msg
	select {
	case msg = <-ended:
	case <-time.After(time.Minute):
		require.FailNow(s.t, "a command does not end")
	}
	switch msg := msg.(type) {
	case nil, tick:
	case tea.BatchMsg:
		for _, c := range msg {
			s.run(c)
		}
	default:
		s.send(msg)
	}
}

func (s *screen) send(msg tea.Msg) {
	_, cmd := s.m.Update(msg)
	s.run(cmd)
}

// keys presses keys: names in angle brackets, and characters.
func (s *screen) keys(text string) *screen {
	for text != "" {
		name := ""
		if end := strings.IndexByte(text, '>'); text[0] == '<' && end > 0 {
			name, text = text[1:end], text[end+1:]
		} else {
			r, n := utf8.DecodeRuneInString(text)
			name, text = string(r), text[n:]
		}
		s.send(keyOfName(name))
	}
	return s
}

func keyOfName(name string) tea.KeyPressMsg {
	codes := map[string]rune{
		"enter": tea.KeyEnter, "esc": tea.KeyEscape, "tab": tea.KeyTab, "up": tea.KeyUp, "down": tea.KeyDown, "left": tea.KeyLeft, "right": tea.KeyRight,
		"pgdown": tea.KeyPgDown, "pgup": tea.KeyPgUp, "home": tea.KeyHome, "end": tea.KeyEnd, "backspace": tea.KeyBackspace,
	}
	if c, ok := codes[name]; ok {
		return tea.KeyPressMsg{Code: c}
	}
	if c, ok := strings.CutPrefix(name, "ctrl+"); ok {
		return tea.KeyPressMsg{Code: rune(c[0]), Mod: tea.ModCtrl}
	}
	if name == "lt" {
		name = "<"
	}
	r, _ := utf8.DecodeRuneInString(name)
	return tea.KeyPressMsg{Code: r, Text: name}
}

// text is the screen without styles. Each line fits.
func (s *screen) text() string {
	content := s.m.View().Content
	lines := strings.Split(content, "\n")
	require.Len(s.t, lines, s.m.height)
	for i, l := range lines {
		require.LessOrEqual(s.t, ansi.GraphemeWidth.StringWidth(l), s.m.width, "line %d: %q", i, l)
		for _, r := range ansi.Strip(l) {
			require.True(s.t, r >= ' ' && r != 0x7f && !(r >= 0x80 && r < 0xa0) && !(r >= 0x202a && r <= 0x202e) && !(r >= 0x2066 && r <= 0x2069), "line %d: %q", i, l)
		}
		lines[i] = strings.TrimRight(ansi.Strip(l), " ")
	}
	return strings.Join(lines, "\n") + "\n"
}

// is compares the screen with a file of testdata.
func (s *screen) is(name string) *screen {
	s.t.Helper()
	path := filepath.Join("testdata", name+".txt")
	got := s.text()
	if *update {
		require.NoError(s.t, os.WriteFile(path, []byte(got), 0o644))
		return s
	}
	want, err := os.ReadFile(path)
	require.NoError(s.t, err)
	require.Equal(s.t, string(want), got, name)
	return s
}

// at tells the cursor's row, from 1, and column.
func (s *screen) at() string { return fmt.Sprintf("%d %d", s.m.rows.row+1, s.m.rows.col+1) }

// flights is a small table of 3000 rows.
func flights() arrow.RecordBatch { return flightsBut(func(int) bool { return false }) }

// flightsBut are those without some rows.
func flightsBut(gone func(i int) bool) arrow.RecordBatch {
	schema := arrow.NewSchema([]arrow.Field{
		{Name: "id", Type: arrow.PrimitiveTypes.Int64}, {Name: "origin", Type: arrow.BinaryTypes.String, Nullable: true},
		{Name: "delay", Type: arrow.PrimitiveTypes.Float64, Nullable: true},
		{Name: "tags", Type: arrow.ListOf(arrow.BinaryTypes.String), Nullable: true},
		{Name: "note", Type: arrow.BinaryTypes.String, Nullable: true},
	}, nil)
	b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
	defer b.Release()
	origins := []string{"SFO", "LAX", "JFK", "Zürich", "東京"}
	for i := range 3000 {
		if gone(i) {
			continue
		}
		b.Field(0).(*array.Int64Builder).Append(int64(i))
		b.Field(2).(*array.Float64Builder).Append(float64(i%700) - 10.5)
		if tags := b.Field(3).(*array.ListBuilder); i%3 == 0 {
			tags.Append(true)
			tags.ValueBuilder().(*array.StringBuilder).Append("late")
			tags.ValueBuilder().(*array.StringBuilder).Append(fmt.Sprint("t", i))
		} else {
			tags.AppendNull()
		}
		if i%11 == 10 {
			b.Field(1).AppendNull()
			b.Field(4).(*array.StringBuilder).Append("a long remark about flight " + fmt.Sprint(i) + ", which does not fit into a cell of the table")
			continue
		}
		b.Field(1).(*array.StringBuilder).Append(origins[i%len(origins)])
		b.Field(4).AppendNull()
	}
	return b.NewRecordBatch()
}

// shardOf is a batch as a shard to browse.
func shardOf(t *testing.T, batch arrow.RecordBatch) Table { return tableOf(t, writeShard(t, batch)) }

func writeShard(t *testing.T, batch arrow.RecordBatch) string {
	path := filepath.Join(t.TempDir(), "flights.amudai.shard")
	w, err := shard.Create(t.Context(), path, batch.Schema(), shard.WriterOptions{StripeRows: 1000, CreationTime: time.Unix(1e9, 0)})
	require.NoError(t, err)
	require.NoError(t, w.Write(t.Context(), batch))
	require.NoError(t, w.Close(t.Context()))
	return path
}

// tableOf is a shard to browse.
func tableOf(t *testing.T, path string) Table {
	b := formatOf(t, path, shard.New(shard.FormatOptions{}))
	in := inputOf(t, path)
	s, err := shard.New(shard.FormatOptions{}).Statistics(t.Context(), in, []string{})
	require.NoError(t, errors.Join(err, in.Close()))
	b.Rows, b.Seeks = s.Rows, true
	b.Statistics = func(ctx context.Context) (*provider.Statistics, error) {
		in := inputOf(t, path)
		s, err := shard.New(shard.FormatOptions{}).Statistics(ctx, in, nil)
		return s, errors.Join(err, in.Close())
	}
	return b
}

func inputOf(t *testing.T, path string) provider.Input {
	f, err := os.Open(path)
	require.NoError(t, err)
	info, err := f.Stat()
	require.NoError(t, err)
	return provider.Input{Name: filepath.Base(path), Reader: f, At: f, Size: info.Size(), Closer: f, Location: path}
}

// formatOf is a file to browse from its beginning.
func formatOf(t *testing.T, path string, f provider.Format) Table {
	b := Table{Name: filepath.Base(path), Rows: -1, Open: func(ctx context.Context, o provider.ReadOptions) (provider.Source, error) {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		return f.Open(ctx, inputOf(t, path), o)
	}}
	src, err := b.Open(t.Context(), provider.ReadOptions{})
	require.NoError(t, err)
	b.Schema = src.Schema()
	require.NoError(t, src.Close())
	return b
}

// csvOf is a text to browse.
func csvOf(t *testing.T, rows string) Table {
	path := filepath.Join(t.TempDir(), "table.csv")
	require.NoError(t, os.WriteFile(path, []byte(rows), 0o644))
	return formatOf(t, path, text.CSV(text.CSVOptions{}))
}

var sizes = []struct {
	name          string
	width, height int
}{{"80x24", 80, 24}, {"200x50", 200, 50}, {"40x10", 40, 10}}

// TestScreens draws each tab in terminals of three sizes.
func TestScreens(t *testing.T) {
	b := shardOf(t, flights())
	b.Structure = func(context.Context) ([]inspect.Node, error) {
		leaf := inspect.Node{Name: "block 0", Facts: "FFOR[12]"}
		return []inspect.Node{
			{Name: "rows", Facts: "3,000"},
			{Name: "stripe 0", Facts: "rows 0–1,000", Parts: func(context.Context) ([]inspect.Node, error) { return []inspect.Node{leaf}, nil }},
		}, nil
	}
	for _, z := range sizes {
		t.Run(z.name, func(t *testing.T) {
			s := newScreen(t, b, z.width, z.height)
			s.is(z.name + "_rows")
			s.keys("<right><right><down><pgdown>").is(z.name + "_page")
			s.keys("<end>").is(z.name + "_end")
			s.keys("<home>10<tab>").is(z.name + "_columns")
			s.keys("<tab><down><enter>").is(z.name + "_structure")
			s.keys("1/origin = 'JFK' and delay > 6<enter>").is(z.name + "_filter")
			s.keys("<esc>/del").is(z.name + "_prompt")
			s.keys("<esc>?").is(z.name + "_help")
			s.keys("<esc>v").is(z.name + "_row")
		})
	}
}

// TestDeletedRows draws the same of a shard with deleted rows as of one without them. Their number is not known, as for the command.
func TestDeletedRows(t *testing.T) {
	gone := func(i int) bool { return i%3 == 1 || i >= 1000 && i < 2000 || i > 2980 }
	path := writeShard(t, flights())
	var ranges []shard.RowRange
	for i := range 3000 {
		if gone(i) {
			ranges = append(ranges, shard.RowRange{From: int64(i), To: int64(i) + 1})
		}
	}
	_, err := shard.Delete(t.Context(), path, shard.EditOptions{}, shard.Rows{Ranges: ranges})
	require.NoError(t, err)
	var screens [2]*screen
	for k, b := range []Table{tableOf(t, path), shardOf(t, flightsBut(gone))} {
		b.Rows, b.Seeks = -1, false
		if k == 1 {
			b.Statistics = nil // those with deleted rows are not shown
		}
		screens[k] = newScreen(t, b, 120, 30)
	}
	for _, keys := range []string{"", "<pgdown><pgdown>", "<end>", "<home>40<enter>", "<tab>", "<tab><tab>/origin = 'JFK' and delay > 6<enter>", "<end>", "<esc><esc>/origin = '", "<esc><home>v"} {
		require.Equal(t, screens[1].keys(keys).text(), screens[0].keys(keys).text(), keys)
	}
}

// TestResize draws each tab in terminals of all sizes, down to none.
func TestResize(t *testing.T) {
	s := newScreen(t, shardOf(t, flights()), 80, 24)
	for _, keys := range []string{"", "<right><right><right><right>", "?", "<esc>2", "1/origin = 'x", "<esc><enter>"} {
		s.keys(keys)
		for width := range 60 {
			for height := range 12 {
				s.send(tea.WindowSizeMsg{Width: width, Height: height})
				if width >= leastWidth && height >= leastHeight {
					s.text()
				}
				s.m.View()
			}
		}
		s.send(tea.WindowSizeMsg{Width: 80, Height: 24})
	}
}

// TestMoves goes through a table that is read from any row, and through one that is read from its beginning.
func TestMoves(t *testing.T) {
	var lines strings.Builder
	lines.WriteString("id,origin\n")
	for i := range 3000 {
		fmt.Fprintf(&lines, "%d,%s\n", i, []string{"SFO", "LAX", "JFK"}[i%3])
	}
	for name, b := range map[string]Table{"shard": shardOf(t, flights()), "csv": csvOf(t, lines.String())} {
		t.Run(name, func(t *testing.T) {
			s := newScreen(t, b, 60, 14)
			id := func() string { text, _ := s.m.rows.text(s.m.rows.row, 0); return text }
			for _, c := range []struct{ keys, at, id string }{
				{"", "1 1", "0"}, {"<up>", "1 1", "0"}, {"<down><down>", "3 1", "2"}, {"<pgdown>", "13 1", "12"}, {"<pgup><pgup>", "1 1", "0"},
				{"<end>", "3000 1", "2999"}, {"<down><pgdown>", "3000 1", "2999"}, {":1234<enter>", "1234 1", "1233"}, {"g2000<enter>", "2000 1", "1999"},
				{":9999<enter>", "3000 1", "2999"}, {"<home>", "1 1", "0"}, {"<right><left><left>", "1 1", "0"}, {"g0<enter><esc>", "1 1", "0"},
				{"$", "1 " + fmt.Sprint(len(s.m.fields)), "0"}, {"0", "1 1", "0"},
			} {
				s.keys(c.keys)
				require.Equal(t, c.at, s.at(), c.keys)
				require.Equal(t, c.id, id(), c.keys)
			}
			require.Contains(t, s.text(), "3,000 rows")
			require.LessOrEqual(t, s.m.rows.pages.Len(), pages.Most)
		})
	}
}

// TestFilterLine filters rows, completes words, and shows mistakes at their places.
func TestFilterLine(t *testing.T) {
	s := newScreen(t, shardOf(t, flights()), 80, 14)
	s.keys("/or<tab>")
	require.Equal(t, "origin ", string(s.m.prompt.text))
	s.keys("= 'J<tab>and del<tab>> 600<enter>")
	require.Nil(t, s.m.prompt)
	require.Equal(t, "origin = 'JFK' and delay > 600", s.m.rows.where)
	n := s.m.rows.view.Rows()
	require.Positive(t, n)
	require.Contains(t, s.text(), fmt.Sprintf("%d of 3,000 rows", n))
	s.keys("<end>")
	require.EqualValues(t, n, s.m.rows.row+1)
	text, ok := s.m.rows.text(s.m.rows.row, 1)
	require.True(t, ok)
	require.Equal(t, "JFK", text)
	s.keys("/<ctrl+u>dely > 1<enter>")
	require.Contains(t, s.text(), "is delay meant? (at character 1)")
	require.Zero(t, s.m.prompt.at)
	s.keys("<ctrl+u><ctrl+k>delay > 1 and >")
	s.keys("<enter>")
	require.Contains(t, s.text(), "at character 15")
	require.Equal(t, 14, s.m.prompt.at)
	s.keys("<esc><esc>")
	require.Empty(t, s.m.rows.where)
	require.Contains(t, s.text(), "  3,000 rows")
	s.keys("/id lt 0<enter>")
	require.NotNil(t, s.m.prompt, "a mistake keeps the prompt open")
	s.keys("<ctrl+u><ctrl+k>id <lt> 0<enter>")
	require.Contains(t, s.text(), "no row meets the condition")
	s.keys("<end><pgdown><down><enter>vyY")
	require.Contains(t, s.text(), "no row meets the condition")
	s.keys("/<up><up><enter>")
	require.Equal(t, "origin = 'JFK' and delay > 600", s.m.rows.where, "a line of the history")
}

// TestSearch finds texts forward and backward.
func TestSearch(t *testing.T) {
	s := newScreen(t, shardOf(t, flights()), 80, 14)
	s.keys("sflight 21,<enter>")
	require.Equal(t, "22 5", s.at())
	s.keys("sREMARK<enter>")
	require.Contains(t, s.text(), "no further row has REMARK")
	s.keys("sremark<enter>")
	require.Equal(t, "22 5", s.at())
	s.keys("n")
	require.Equal(t, "33 5", s.at())
	s.keys("nNN")
	require.Equal(t, "22 5", s.at())
	s.keys("NN")
	require.Equal(t, "11 5", s.at())
	require.Contains(t, s.text(), "no row before has remark")
	s.keys("sZÜRICH<enter>s東京<enter>")
	require.Equal(t, "15 2", s.at())
	s.keys("st2997<enter>")
	require.Equal(t, "2998 4", s.at())
	s.keys("<esc>/id > 100<enter>s東<enter>")
	require.Equal(t, "4 2", s.at(), "rows of the filter")
}

// TestCopy copies values and rows within what terminals take.
func TestCopy(t *testing.T) {
	long := strings.Repeat("x", mostCopy+1)
	s := newScreen(t, csvOf(t, "a,b,c\n1,\"two, 2\",\n2,"+long+",x\n"), 80, 14)
	copied := func(keys string) string {
		for _, k := range keys {
			_, cmd := s.m.Update(keyOfName(string(k)))
			for _, msg := range messages(cmd) {
				if r, ok := msg.(result); ok {
					cmd := r(s.m)
					for _, msg := range messages(cmd) {
						if text := fmt.Sprint(msg); fmt.Sprintf("%T", msg) == "tea.setClipboardMsg" {
							return text
						}
					}
					continue
				}
				if text := fmt.Sprint(msg); fmt.Sprintf("%T", msg) == "tea.setClipboardMsg" {
					return text
				}
			}
		}
		return ""
	}
	require.Equal(t, "1", copied("y"))
	require.Equal(t, `{"a":1,"b":"two, 2","c":null}`, copied("Y"))
	s.keys("<right><down>")
	require.Empty(t, copied("y"))
	require.Contains(t, s.text(), "a terminal copies up to 74,000")
}

// messages runs a command, and those it consists of.
func messages(cmd tea.Cmd) (list []tea.Msg) {
	if cmd == nil {
		return nil
	}
	switch msg := cmd().(type) {
	case nil, tick:
	case tea.BatchMsg:
		for _, c := range msg {
			list = append(list, messages(c)...)
		}
	default:
		list = append(list, msg)
	}
	return list
}

// hostileTable has texts that would move the cursor, change colours or turn the direction, and others that are hard to measure.
func hostileTable() arrow.RecordBatch {
	texts := []string{
		"\x1b[31mred\x1b[2J", "a\tb\r\nc", "\u202egpj.exe\u202c", "\u2066x\u2069", "\x00\x07\x08", "\u009b2J", "👨‍👩‍👧 👩🏽‍🚀 🏴󠁧󠁢󠁳󠁣󠁴󠁿 🇩🇪", "שלום עולם", "مرحبا بالعالم",
		"日本語のテキスト", "e\u0301\u0301\u0301" + strings.Repeat("\u0301", 500), strings.Repeat("あ", 5000), "{\"a\":[1,2,{\"b\":null}]}", "\u200d\u200d", "\ufeffbom", "", " ",
	}
	b := array.NewRecordBuilder(memory.DefaultAllocator, arrow.NewSchema([]arrow.Field{
		{Name: "name\x1b[1m\u202e", Type: arrow.BinaryTypes.String}, {Name: "", Type: arrow.BinaryTypes.String}, {Name: "", Type: arrow.BinaryTypes.Binary},
		{Name: "日本\n", Type: arrow.StructOf(arrow.Field{Name: "x\x07", Type: arrow.BinaryTypes.String})},
	}, nil))
	for i, text := range texts {
		b.Field(0).(*array.StringBuilder).Append(text)
		b.Field(1).(*array.StringBuilder).Append(texts[len(texts)-1-i])
		b.Field(2).(*array.BinaryBuilder).Append([]byte(text))
		b.Field(3).(*array.StructBuilder).Append(true)
		b.Field(3).(*array.StructBuilder).FieldBuilder(0).(*array.StringBuilder).Append(text)
	}
	return b.NewRecordBatch()
}

// TestHostile draws hostile texts.
func TestHostile(t *testing.T) {
	b := hostileTable()
	for _, z := range sizes {
		s := newScreen(t, shardOf(t, b), z.width, z.height)
		s.is("hostile_" + z.name)
		for range b.NumRows() {
			for range 4 {
				s.keys("<enter>").text()
				s.keys("<pgdown><end><esc><right>").text()
			}
			s.keys("v").text()
			s.keys("<esc><down>0")
		}
		s.keys("2").text()
		s.keys("1/").text()
		s.keys("\x1b\u202e<tab><tab><tab>").text()
	}
}

// TestWide shows a table of many columns, which are read in groups.
func TestWide(t *testing.T) {
	const n = 500
	var fields []arrow.Field
	for i := range n {
		fields = append(fields, arrow.Field{Name: fmt.Sprint("column ", i), Type: arrow.PrimitiveTypes.Int32})
	}
	b := array.NewRecordBuilder(memory.DefaultAllocator, arrow.NewSchema(fields, nil))
	defer b.Release()
	for i := range n {
		for k := range 300 {
			b.Field(i).(*array.Int32Builder).Append(int32(i * k))
		}
	}
	s := newScreen(t, shardOf(t, b.NewRecordBatch()), 80, 24)
	s.keys("<down>").is("wide_begin")
	s.keys("$<end>").is("wide_end")
	require.Equal(t, "300 500", s.at())
	s.keys("HHHLL").text()
	s.keys("Y")
	require.Contains(t, s.text(), "copied the row")
	s.keys("2<end>").is("wide_columns")
	require.LessOrEqual(t, s.m.rows.pages.Len(), pages.Most)
}

// broken is a table that fails.
type broken struct {
	provider.Source
	after int
}

func (b *broken) Next(ctx context.Context) (arrow.RecordBatch, error) {
	if b.after--; b.after < 0 {
		return nil, errors.New("disk\x1b on fire")
	}
	return b.Source.Next(ctx)
}

// TestErrors shows errors of reads in the status line, and goes on.
func TestErrors(t *testing.T) {
	b := shardOf(t, flights())
	open, fails := b.Open, true
	b.Open = func(ctx context.Context, o provider.ReadOptions) (provider.Source, error) {
		src, err := open(ctx, o)
		if err == nil && fails {
			src = &broken{src, 1}
		}
		return src, err
	}
	b.Statistics = nil
	s := newScreen(t, b, 80, 14)
	require.Contains(t, s.text(), "LAX")
	for _, keys := range []string{"<end>", "sremark about flight 999<enter>", "/id > 2000<enter>", "2", "1<esc>:2000<enter>"} {
		s.keys(keys)
		require.Contains(t, s.text(), `disk\x1b on fire`, keys)
	}
	fails = false
	s.keys("r:2000<enter>")
	require.NotContains(t, s.text(), "fire")
	require.Contains(t, s.text(), "1,999")
}

// slow is a source that waits for the end of its context.
type slow struct{ provider.Source }

func (s slow) Next(ctx context.Context) (arrow.RecordBatch, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

// TestCancel stops what is being read by the next key, and everything at the end.
func TestCancel(t *testing.T) {
	b := shardOf(t, flights())
	open, waits := b.Open, false
	b.Open = func(ctx context.Context, o provider.ReadOptions) (provider.Source, error) {
		src, err := open(ctx, o)
		if err == nil && waits {
			src = slow{src}
		}
		return src, err
	}
	ctx, cancel := context.WithCancel(t.Context())
	m := newModel(ctx, b, Options{})
	s := &screen{t, m}
	s.run(m.Init())
	waits = true
	var ended []chan struct{}
	for _, keys := range []string{"n", ":2900", "<end>"} {
		m.rows.wanted = "nowhere"
		if keys == ":2900" {
			m.rows.goTo("2900")
			keys = "<down>"
		}
		_, cmd := m.Update(keyOfName(strings.Trim(keys, "<>")))
		done := make(chan struct{})
		ended = append(ended, done)
		go func() { defer close(done); messages(cmd) }()
	}
	m.Update(keyOfName("home"))
	cancel()
	for _, done := range ended {
		select {
		case <-done:
		case <-time.After(time.Minute):
			require.FailNow(t, "a read goes on")
		}
	}
	m.work.wait()
	require.NoError(t, m.rows.loader.Close())
}

// TestChangedFile reads a file that becomes shorter while it is shown.
func TestChangedFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "t.csv")
	write := func(rows int) {
		require.NoError(t, os.WriteFile(path, []byte("a\n"+strings.Repeat("1\n", rows)), 0o644))
	}
	write(2000)
	s := newScreen(t, formatOf(t, path, text.CSV(text.CSVOptions{})), 60, 12)
	s.keys("<end>")
	require.Equal(t, "2000 1", s.at())
	write(10)
	s.keys("r<end>")
	require.Equal(t, "10 1", s.at())
}

// TestEmpty shows tables without rows, and without columns.
func TestEmpty(t *testing.T) {
	s := newScreen(t, shardOf(t, flights().NewSlice(0, 0)), 80, 12)
	require.Contains(t, s.text(), "no rows")
	s.keys("<end><pgdown><home><enter>vynN$2<enter>:5<enter>/id = 1<enter>")
	require.Contains(t, s.text(), "no row meets the condition")
	none := array.NewRecordBatch(arrow.NewSchema(nil, nil), nil, 5)
	s = newScreen(t, shardOf(t, none), 80, 12)
	require.Contains(t, s.text(), "the table has no columns")
	s.keys("<end><pgdown><right><left>LH$0<enter>vyYn2<enter><down>y:5<enter>sx<enter>/<tab>")
	s.text()
}

// TestExport writes the rows of the filter.
func TestExport(t *testing.T) {
	b := shardOf(t, flights())
	var got provider.ReadOptions
	b.Export = func(_ context.Context, file string, o provider.ReadOptions) (int64, error) {
		got = o
		if file == "no" {
			return 0, io.ErrShortWrite
		}
		return 12, nil
	}
	s := newScreen(t, b, 80, 12)
	s.keys("/id > 2987<enter>:w out.csv<enter>")
	require.Contains(t, s.text(), "wrote 12 rows to out.csv")
	require.Equal(t, "id > 2987", got.Filter.String())
	s.keys(":w no<enter>")
	require.Contains(t, s.text(), "short write")
}

// TestEndOfWideTable goes to the last of many columns, and measures only those that are shown.
func TestEndOfWideTable(t *testing.T) {
	const n = 5000
	var names, row []string
	for i := range n {
		names, row = append(names, fmt.Sprint("column ", i)), append(row, fmt.Sprint(i))
	}
	line := strings.Join(row, ",") + "\n"
	s := newScreen(t, csvOf(t, strings.Join(names, ",")+"\n"+strings.Repeat(line, 30)), 80, 24)
	s.keys("$")
	require.Equal(t, "1 5000", s.at())
	require.Contains(t, s.text(), "4999")
	measured := 0
	for _, w := range s.m.rows.widths {
		if w > 0 {
			measured++
		}
	}
	require.Less(t, measured, 100)
	s.keys("H")
	require.Contains(t, s.text(), "column 4994")
}

// TestLateMisfit goes to the end of a table with a value that does not fit the type of its sample: with types of all rows it is shown. Where
// there are none, the last rows before it are, with the error.
func TestLateMisfit(t *testing.T) {
	path := filepath.Join(t.TempDir(), "t.csv")
	rows := "a,b\n" + strings.Repeat("1,2\n", 2000) + "late,3\n4,5\n"
	require.NoError(t, os.WriteFile(path, []byte(rows), 0o644))
	sampled := text.CSV(text.CSVOptions{Text: provider.TextOptions{SampleRows: 100}})
	b := formatOf(t, path, sampled)
	s := newScreen(t, b, 80, 14)
	s.keys("<end>")
	require.Equal(t, "1792 1", s.at())
	require.Contains(t, s.text(), `"late" is not an int64 (line 2002 of t.csv)`)
	s.keys("<end>")
	require.Equal(t, "1792 1", s.at())

	retyped := 0
	b.Retype = func(context.Context) (Table, error) {
		retyped++
		return formatOf(t, path, text.CSV(text.CSVOptions{Text: provider.TextOptions{AllRows: true}})), nil
	}
	for _, keys := range []string{"<end>", ":2002<enter>"} {
		s = newScreen(t, b, 80, 14)
		s.keys("<right>" + keys)
		require.Equal(t, "2002 2", s.at())
		require.Contains(t, s.text(), "late")
		require.Contains(t, s.text(), "utf8")
		require.Contains(t, s.text(), "types are those of all rows now")
	}
	s = newScreen(t, b, 80, 14)
	s.keys("/b > 2<enter>")
	require.Contains(t, s.text(), "2 rows × 2 columns")
	require.Equal(t, 3, retyped)
}
