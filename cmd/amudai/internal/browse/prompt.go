package browse

import (
	"errors"
	"slices"
	"strings"
	"unicode"

	tea "charm.land/bubbletea/v2"

	"github.com/amudai/amudai-go/cmd/amudai/internal/terminal"
	"github.com/amudai/amudai-go/filter"
)

// promptKind is what a prompt asks for.
type promptKind int

const (
	wherePrompt promptKind = iota
	searchPrompt
	rowPrompt
	commandPrompt
)

var promptTitles = [...]string{"where ", "search ", "row ", ":"}

// prompt is a line that is being edited.
type prompt struct {
	kind    promptKind
	text    []rune
	at      int // of the cursor, in text
	err     string
	past    int      // lines of the history that were gone back
	offered []string // completions of the word before the cursor
	from    int      // of this word, in text
	choice  int      // completion that was inserted, or -1
}

// ask opens a prompt.
func (m *model) ask(kind promptKind, text string) {
	m.prompt = &prompt{kind: kind, text: []rune(text), at: len([]rune(text)), choice: -1}
	if kind == wherePrompt {
		m.prompt.offer(m)
	}
}

// insert adds a text at the cursor. Line ends become spaces; other characters that cannot be printed are left out.
func (p *prompt) insert(s string) {
	if len(s) > filter.MaxText {
		s = s[:filter.MaxText]
	}
	s = strings.Map(func(r rune) rune {
		if r == '\n' || r == '\t' {
			return ' '
		}
		if !unicode.IsPrint(r) && r != '\u200d' && r != '\u200c' {
			return -1
		}
		return r
	}, s)
	p.text = slices.Insert(p.text, p.at, []rune(s)...)
	p.at += len([]rune(s))
}

// key handles a key.
func (p *prompt) key(m *model, k tea.KeyPressMsg) tea.Cmd {
	name := k.String()
	if name != "tab" && name != "shift+tab" {
		p.choice = -1
	}
	p.err = ""
	switch name {
	case "esc", "ctrl+g":
		m.prompt = nil
		return nil
	case "enter":
		return p.accept(m)
	case "tab", "shift+tab":
		p.complete(m, name == "tab")
		return nil
	case "up", "ctrl+p":
		p.recall(m, 1)
	case "down", "ctrl+n":
		p.recall(m, -1)
	default:
		p.edit(name, k.Text)
	}
	if p.kind == wherePrompt {
		p.offer(m)
	}
	return nil
}

// edit changes the text.
func (p *prompt) edit(name, text string) {
	switch name {
	case "left", "ctrl+b":
		p.at = max(p.at-1, 0)
	case "right", "ctrl+f":
		p.at = min(p.at+1, len(p.text))
	case "home", "ctrl+a":
		p.at = 0
	case "end", "ctrl+e":
		p.at = len(p.text)
	case "backspace", "ctrl+h":
		if p.at > 0 {
			p.at--
			p.text = slices.Delete(p.text, p.at, p.at+1)
		}
	case "delete", "ctrl+d":
		if p.at < len(p.text) {
			p.text = slices.Delete(p.text, p.at, p.at+1)
		}
	case "ctrl+u":
		p.text, p.at = slices.Delete(p.text, 0, p.at), 0
	case "ctrl+k":
		p.text = p.text[:p.at]
	case "ctrl+w", "alt+backspace":
		from := p.at
		for from > 0 && p.text[from-1] == ' ' {
			from--
		}
		for from > 0 && p.text[from-1] != ' ' {
			from--
		}
		p.text, p.at = slices.Delete(p.text, from, p.at), from
	default:
		p.insert(text)
	}
}

// recall shows a line of the history.
func (p *prompt) recall(m *model, step int) {
	lines := m.history[p.kind]
	past := p.past + step
	if past < 0 || past > len(lines) {
		return
	}
	p.past, p.text = past, nil
	if past > 0 {
		p.text = []rune(lines[len(lines)-past])
	}
	p.at = len(p.text)
}

// accept does what the line says. The prompt stays open after a mistake.
func (p *prompt) accept(m *model) tea.Cmd {
	line := strings.TrimSpace(string(p.text))
	cmd, err := m.do(p.kind, line)
	if err != nil {
		p.err = terminal.OneLine(err.Error())
		var e *filter.Error
		if errors.As(err, &e) && e.Pos >= 0 && e.Pos <= len(line) && p.kind == wherePrompt {
			begin := len(p.text) - len([]rune(strings.TrimLeft(string(p.text), " ")))
			p.at = min(begin+len([]rune(line[:e.Pos])), len(p.text))
		}
		return nil
	}
	if line != "" {
		m.history[p.kind] = append(slices.DeleteFunc(m.history[p.kind], func(s string) bool { return s == line }), line)
	}
	m.prompt = nil
	return cmd
}

// do does what a line says that was entered.
func (m *model) do(kind promptKind, line string) (tea.Cmd, error) {
	switch kind {
	case wherePrompt:
		return m.rows.filter(line)
	case searchPrompt:
		m.rows.wanted = line
		return m.rows.searchFrom(m.rows.row, true), nil
	case rowPrompt:
		if line != "" && !m.rows.goTo(line) {
			return nil, errors.New("a row is a number from 1")
		}
		return nil, nil
	}
	word, rest, _ := strings.Cut(line, " ")
	switch rest = strings.TrimSpace(rest); {
	case word == "":
		return nil, nil
	case m.rows.goTo(line):
		m.show(rowsTab)
		return nil, nil
	case word == "q" && rest == "":
		return tea.Quit, nil
	case word == "w" && rest != "":
		return m.export(rest)
	}
	return nil, errors.New("use :NUMBER for a row, :w FILE to write the rows, :q to leave")
}

// view draws the line above the prompt and the prompt itself, and returns the place of the cursor.
func (p *prompt) view(m *model) (above, line string, cursor int) {
	title := promptTitles[p.kind]
	room := m.width - len(title) - 1
	before, after := terminal.Printable(string(p.text[:p.at])), terminal.Printable(string(p.text[p.at:]))
	for before != "" && m.method.StringWidth(before) > room-4 { // the beginning moves out of sight
		before = m.method.TruncateLeft(before, 8, "")
	}
	cursor = len(title) + m.method.StringWidth(before)
	line = paint(bold, title) + before + m.clip(after, m.width-cursor)
	if p.err != "" {
		return paint(red, m.clip(p.err, m.width)), line, cursor
	}
	return p.offers(m), line, cursor
}
