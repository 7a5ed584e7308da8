package browse

import (
	"context"
	"errors"
	"path"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/apache/arrow-go/v18/arrow"
	"github.com/charmbracelet/x/ansi"

	"github.com/amudai/amudai-go/cmd/amudai/internal/complete"
	"github.com/amudai/amudai-go/cmd/amudai/internal/terminal"
	"github.com/amudai/amudai-go/internal/arrow/extension"
	"github.com/amudai/amudai-go/internal/arrow/kinds"
	"github.com/amudai/amudai-go/internal/format/arrowmap"
	"github.com/amudai/amudai-go/internal/format/schema"
	"github.com/amudai/amudai-go/internal/text"
	"github.com/amudai/amudai-go/table/provider"
)

// tab is one of the views of a table.
type tab int

const (
	rowsTab tab = iota
	columnsTab
	structureTab
)

// Smallest screen that has room for anything.
const (
	leastWidth  = 20
	leastHeight = 6
)

// model is the state of the screen.
type model struct {
	table  Table
	ctx    context.Context
	work   *work
	fields []field
	names  *complete.Columns // for conditions

	width, height int
	method        ansi.Method // of the terminal, to measure texts
	tab           tab
	rows          grid
	columns       columnList
	tree          tree
	overlay       *overlay // help, or a value as a whole
	prompt        *prompt
	history       map[promptKind][]string

	message string // in the status line
	isError bool
	misfit  bool // a value does not fit the types, which a sample told
	ticking bool
}

func newModel(ctx context.Context, t Table, o Options) *model {
	m := &model{ctx: ctx, work: &work{}, width: 80, height: 24, history: map[promptKind][]string{}}
	m.take(t)
	m.message = terminal.OneLine(o.Message)
	m.rows = newGrid(m)
	m.columns = newColumnList(m)
	if o.Where != "" {
		m.history[wherePrompt] = []string{o.Where}
		m.rows.first = o.Where
	}
	return m
}

// take takes over a table and its columns.
func (m *model) take(t Table) {
	m.table, m.fields, m.names = t, nil, complete.Of(t.Schema)
	for i, name := range arrowmap.UniqueNames(t.Schema.Fields()) {
		m.fields = append(m.fields, newField(t.Schema.Field(i), schema.Escape(name)))
	}
}

// retype reads the table with the types of all rows, once, after a value did not fit those of a sample. The cursor stays, or goes on to the end.
func (m *model) retype() tea.Cmd {
	if !m.misfit {
		return nil
	}
	m.misfit = false
	retype, why, toEnd := m.table.Retype, m.message, m.rows.toEnd
	j, ctx := m.rows.begin("finding types of all rows")
	return m.run(ctx, func(ctx context.Context) result {
		t, err := retype(ctx)
		return func(m *model) tea.Cmd {
			if !m.rows.finish(j, err) {
				return nil
			}
			t.Retype = nil
			m.take(t)
			running := m.columns.running
			m.columns = newColumnList(m)
			m.columns.running = running
			m.say("types are those of all rows now: " + why)
			return m.rows.retyped(toEnd)
		}
	})
}

// Init implements [tea.Model].
func (m *model) Init() tea.Cmd {
	if where := m.rows.first; where != "" {
		m.rows.first = ""
		cmd, err := m.rows.filter(where)
		m.fail(err)
		return tea.Batch(cmd, m.rows.fetch())
	}
	return m.rows.fetch()
}

// result is the outcome of a command: a change of the model, made by its goroutine.
type result func(m *model) tea.Cmd

// run returns a command that does some work, and then applies its result.
func (m *model) run(ctx context.Context, do func(ctx context.Context) result) tea.Cmd {
	return func() tea.Msg {
		if !m.work.begin() {
			return nil
		}
		defer m.work.end()
		return do(ctx)
	}
}

// tick is a message that lets progress be drawn.
type tick struct{}

// animate draws progress as long as something is read.
func (m *model) animate() tea.Cmd {
	if m.ticking || !m.busy() {
		return nil
	}
	m.ticking = true
	return tea.Tick(100*time.Millisecond, func(time.Time) tea.Msg { return tick{} })
}

func (m *model) busy() bool {
	return m.rows.job != nil || m.rows.counts != nil || m.columns.running > 0 || m.tree.loading > 0
}

// Update implements [tea.Model].
func (m *model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	var cmd tea.Cmd
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.width, m.height = msg.Width, msg.Height
		m.rows.layout()
	case tea.ModeReportMsg:
		if msg.Mode == ansi.ModeUnicodeCore && (msg.Value == ansi.ModeReset || msg.Value == ansi.ModeSet || msg.Value == ansi.ModePermanentlySet) {
			m.method = ansi.GraphemeWidth
			clear(m.rows.widths)
		}
	case tea.KeyPressMsg:
		cmd = m.key(msg)
	case tea.PasteMsg:
		if m.prompt != nil {
			m.prompt.insert(msg.Content)
		}
	case result:
		if msg != nil {
			cmd = msg(m)
		}
	case tick:
		m.ticking = false
		if m.rows.job != nil {
			m.rows.job.slow = true
		}
	}
	return m, tea.Batch(cmd, m.retype(), m.rows.fetch(), m.rows.sample(), m.columns.fetch(), m.tree.begin(m), m.animate())
}

// fail shows an error in the status line.
func (m *model) fail(err error) {
	if err == nil || errors.Is(err, context.Canceled) {
		return
	}
	m.message, m.isError = terminal.OneLine(err.Error()), true
	var v *provider.ValueError
	m.misfit = m.table.Retype != nil && errors.As(err, &v) && v.Inferred
}

// say shows a message in the status line.
func (m *model) say(text string) { m.message, m.isError = text, false }

// View implements [tea.Model].
func (m *model) View() tea.View {
	v := tea.NewView("")
	v.AltScreen = true
	v.WindowTitle = terminal.Printable(m.table.Name)
	if m.width < leastWidth || m.height < leastHeight {
		v.Content = "too small"
		return v
	}
	lines := []string{m.title()}
	body := m.height - 2
	if m.prompt != nil {
		body--
	}
	switch {
	case m.overlay != nil:
		lines = append(lines, m.overlay.view(m, body)...)
	case m.tab == columnsTab:
		lines = append(lines, m.columns.view(body)...)
	case m.tab == structureTab:
		lines = append(lines, m.tree.view(m, body)...)
	default:
		lines = append(lines, m.rows.viewLines(body)...)
	}
	for len(lines) < body+1 {
		lines = append(lines, "")
	}
	if m.prompt != nil {
		above, line, at := m.prompt.view(m)
		lines = append(lines, above, line)
		v.Cursor = tea.NewCursor(at, m.height-1)
	} else {
		lines = append(lines, m.status())
	}
	v.Content = strings.Join(lines, "\n")
	return v
}

// The styles of the screen. They suit dark and light terminals, because they use no colours but those of its theme.
const (
	plain   = ""
	bold    = "1"
	dim     = "2"
	under   = "4"
	reverse = "7"
	red     = "31"
)

// paint styles a text that is safe to print.
func paint(style, s string) string {
	if style == plain || s == "" {
		return s
	}
	return "\x1b[" + style + "m" + s + "\x1b[m"
}

// clip shortens a text to a width on this terminal.
func (m *model) clip(s string, width int) string {
	if width <= 0 {
		return ""
	}
	return m.method.Truncate(s, width, "…")
}

// fit clips or pads a text to a width.
func (m *model) fit(s string, width int, right bool) string {
	s = m.clip(s, width)
	space := strings.Repeat(" ", max(width-m.method.StringWidth(s), 0))
	if right {
		return space + s
	}
	return s + space
}

// title is the first line: the name of the table, its size, and the tabs.
func (m *model) title() string {
	tabs := ""
	width := 0
	for i, name := range m.tabNames() {
		text := " " + name + " "
		width += len(text)
		if tab(i) == m.tab {
			text = paint(reverse, text)
		}
		tabs += text
	}
	if width > m.width/2 {
		tabs, width = "", 0
	}
	name, size := terminal.Printable(m.table.Name), m.rows.size()
	if m.method.StringWidth(name)+len(size) > m.width/2 {
		name = terminal.Printable(path.Base(strings.ReplaceAll(m.table.Name, `\`, "/")))
	}
	left := name + "  " + size + " × " + terminal.Plural(len(m.fields), "column")
	return paint(bold, m.fit(left, m.width-width-1, false)) + " " + tabs
}

func (m *model) tabNames() []string {
	names := []string{"rows", "columns"}
	if m.table.Structure != nil {
		names = append(names, "structure")
	}
	return names
}

// status is the last line: a message, or where the cursor is, and what the important keys are.
func (m *model) status() string {
	left, right := m.message, "? help"
	if m.busy() {
		right = "esc stops  " + right
	}
	style := plain
	switch {
	case m.isError:
		style = red
	case left == "" && m.overlay != nil:
		left, right = m.overlay.position(), "esc closes  "+right
	case left == "" && m.tab == rowsTab:
		left = m.rows.position()
	case left == "" && m.tab == columnsTab:
		left = m.columns.position()
	case left == "" && m.tab == structureTab:
		left = m.tree.position()
	}
	if working := m.rows.working(); working != "" && !m.isError {
		left = working
	}
	if m.width < 2*len(right) {
		right = ""
	}
	room := m.width - len(right) - 2
	return paint(style, m.fit(left, room, false)) + "  " + paint(dim, right)
}

const cellWidth = 40 // of a column that is not alone

// field is a column of the table.
type field struct {
	name   string // safe to print
	path   string // for filters and projections
	typ    string
	number bool // aligned to the right
	text   bool // of strings, or with strings in it
}

func newField(f arrow.Field, path string) field {
	t, _ := extension.Unwrap(f.Type)
	id := t.ID()
	return field{
		name: terminal.Printable(f.Name), path: path, typ: terminal.Printable(text.Type(f.Type)),
		number: arrow.IsInteger(id) || arrow.IsFloating(id) || arrow.IsDecimal(id), text: kinds.HasID(t, arrow.STRING, arrow.LARGE_STRING, arrow.STRING_VIEW),
	}
}
