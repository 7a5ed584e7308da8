package browse

import (
	"strconv"

	tea "charm.land/bubbletea/v2"
)

// key handles a key.
func (m *model) key(k tea.KeyPressMsg) tea.Cmd {
	name := k.String()
	if name == "ctrl+c" {
		return tea.Interrupt
	}
	m.rows.broken = false
	if m.prompt != nil {
		return m.prompt.key(m, k)
	}
	m.say("")
	if name == "ctrl+l" {
		return tea.ClearScreen
	}
	if m.overlay != nil {
		return m.overlay.key(m, name)
	}
	switch name {
	case "q":
		return tea.Quit
	case "?", "f1":
		m.overlay = newHelp()
		return nil
	case "tab":
		m.show((m.tab + 1) % tab(len(m.tabNames())))
		return nil
	case "shift+tab":
		m.show((m.tab + tab(len(m.tabNames())) - 1) % tab(len(m.tabNames())))
		return nil
	case "1", "2", "3":
		m.show(tab(name[0] - '1'))
		return nil
	case ":":
		m.ask(commandPrompt, "")
		return nil
	case "/", "f":
		m.show(rowsTab)
		m.ask(wherePrompt, m.rows.where)
		return nil
	}
	switch m.tab {
	case columnsTab:
		return m.columns.key(name)
	case structureTab:
		return m.tree.key(m, name)
	}
	return m.rows.key(name)
}

// show changes the tab.
func (m *model) show(t tab) {
	if int(t) < len(m.tabNames()) {
		m.tab = t
	}
}

// key handles a key among the rows.
func (g *grid) key(name string) tea.Cmd {
	h := g.height()
	if len(g.m.fields) == 0 {
		return nil
	}
	if g.job != nil && g.job.last < 0 { // a search, or reading up to the end, ends with the next key
		g.stop()
		if name == "esc" {
			g.m.say("stopped")
			return nil
		}
	}
	switch name {
	case "ctrl+d":
		g.top, g.row = g.top+h/2, g.row+h/2
	case "ctrl+u":
		g.top, g.row = g.top-h/2, g.row-h/2
	case "ctrl+home":
		g.row = 0
	case "end", "G", "ctrl+end":
		return g.end()
	case "right", "l":
		g.col = min(g.col+1, len(g.m.fields)-1)
	case "left", "h":
		g.col = max(g.col-1, 0)
	case "shift+right", "L":
		g.col = min(max(g.shown[len(g.shown)-1].column, g.col+1), len(g.m.fields)-1)
		g.left = g.col
	case "shift+left", "H":
		g.col = max(min(g.left-1, g.col-1), 0)
	case "^", "0":
		g.col, g.left = 0, 1
	case "$":
		g.col = len(g.m.fields) - 1
	case "g":
		g.m.ask(rowPrompt, "")
	default:
		g.row, g.top = moved(name, g.row, g.top, h, 0)
		return g.act(name)
	}
	g.col = max(g.col, 0)
	return nil
}

// act handles the other keys among the rows.
func (g *grid) act(name string) tea.Cmd {
	switch name {
	case "enter":
		g.m.showCell()
	case "v":
		return g.m.showRow()
	case "s":
		g.m.ask(searchPrompt, "")
	case "n":
		return g.search(true)
	case "N":
		return g.search(false)
	case "y":
		return g.m.copyCell()
	case "Y":
		return g.m.copyRow()
	case "r":
		g.m.say("read anew")
		cmd, err := g.filter(g.where)
		g.m.fail(err)
		return cmd
	case "esc":
		if g.atEnd {
			g.atEnd = false
			return nil
		}
		if g.where != "" {
			cmd, err := g.filter("")
			g.m.fail(err)
			return cmd
		}
		g.stop()
	}
	return nil
}

// goTo moves the cursor to a row, which people count from 1.
func (g *grid) goTo(text string) bool {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 1 {
		return false
	}
	g.row = n - 1
	g.top = max(g.row-g.height()/2, 0)
	return true
}

// help lists the keys.
var help = []struct{ keys, meaning string }{
	{"", "Rows"},
	{"↑ ↓ ← →  k j h l", "move the cursor; the first column stays in sight"},
	{"PgDn Space  PgUp b", "a page down, up"},
	{"Ctrl+d  Ctrl+u", "half a page down, up"},
	{"Home t  End G", "first row, last row"},
	{"g N Enter  :N Enter", "row N, counted from 1"},
	{"Shift+→ L  Shift+← H", "the columns to the right, to the left"},
	{"0  $", "first column, last column"},
	{"Enter", "the whole value, nested ones with lines and indents"},
	{"v", "the whole row"},
	{"y  Y", "copy the value, the row as JSON (through the terminal, OSC 52)"},
	{"r", "read anew, for a file that has changed"},
	{"", "Filter and search"},
	{"/  f", "only rows that meet a condition, as --where; Tab completes"},
	{"Esc", "all rows again; stops what is being read"},
	{"s", "the next row with a text in one of its columns of text"},
	{"n  N", "the next such row, the one before"},
	{":w FILE Enter", "write the rows of the filter to a file, in the format of its name"},
	{"", "Tabs"},
	{"Tab  1 2 3", "rows; columns with their statistics; the structure of the file"},
	{"Enter →  ←", "structure: open a part, close it"},
	{"Enter", "columns: go to the column among the rows"},
	{"", "Everywhere"},
	{"?  Ctrl+l", "this help; draw the screen anew"},
	{"q  Ctrl+c", "leave"},
}

// moved is the line of the cursor in a list, and its first line on the screen, after a key, which may move it. h is the height of the
// screen. The caller keeps both within the list.
func moved[T int | int64](key string, row, top, h, last T) (newRow, newTop T) {
	switch key {
	case "down", "j":
		row++
	case "up", "k":
		row--
	case "pgdown", "space", "ctrl+f":
		row, top = row+h, top+h
	case "pgup", "b", "ctrl+b":
		row, top = row-h, top-h
	case "home", "t", "g":
		row = 0
	case "end", "G":
		row = last
	}
	return row, top
}
