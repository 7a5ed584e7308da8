package browse

import (
	"context"
	"errors"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/amudai/amudai-go/cmd/amudai/internal/inspect"
)

// tree is the tab of the structure: parts that are read when they are opened.
type tree struct {
	lines    []*branch // those that can be scrolled to
	row, top int
	began    bool
	loading  int
	cancel   context.CancelFunc
}

// branch is a part in the tree.
type branch struct {
	inspect.Node
	depth int
	open  bool
	parts []*branch
	read  bool // parts are known
	wait  bool // they are being read
}

// begin reads the first level when it is shown.
func (t *tree) begin(m *model) tea.Cmd {
	if t.began || m.tab != structureTab {
		return nil
	}
	t.began = true
	root := &branch{Node: inspect.Node{Parts: m.table.Structure}, depth: -1}
	return t.expand(m, root)
}

// expand opens a branch, whose parts are read if they are not known.
func (t *tree) expand(m *model, b *branch) tea.Cmd {
	if b.Parts == nil || b.open || b.wait {
		return nil
	}
	if b.read {
		b.open = true
		t.insert(b)
		return nil
	}
	b.wait = true
	t.loading++
	ctx, cancel := context.WithCancel(m.ctx)
	t.cancel = cancel
	return m.run(ctx, func(ctx context.Context) result {
		nodes, err := b.Parts(ctx)
		return func(m *model) tea.Cmd {
			cancel()
			m.tree.loading--
			b.wait = false
			if m.fail(err); err != nil {
				if b.depth < 0 {
					m.tree.began = !errors.Is(err, context.Canceled)
				}
				return nil
			}
			for _, n := range nodes {
				b.parts = append(b.parts, &branch{Node: n, depth: b.depth + 1})
			}
			b.read, b.open = true, true
			m.tree.insert(b)
			return nil
		}
	})
}

// insert adds the lines below a branch that was opened.
func (t *tree) insert(b *branch) {
	at := slices.Index(t.lines, b) + 1
	below := appendOpen(nil, b.parts)
	t.lines = append(t.lines[:at:at], append(below, t.lines[at:]...)...)
	if b.depth >= 0 && t.row >= at {
		t.row += len(below)
	}
}

// appendOpen appends branches with what is open below them.
func appendOpen(list, parts []*branch) []*branch {
	for _, p := range parts {
		list = append(list, p)
		if p.open {
			list = appendOpen(list, p.parts)
		}
	}
	return list
}

// collapse closes the branch at the cursor, or goes to the one that it is in.
func (t *tree) collapse() {
	b := t.lines[t.row]
	if !b.open {
		for i := t.row - 1; i >= 0; i-- {
			if t.lines[i].depth < b.depth {
				t.row = i
				return
			}
		}
		return
	}
	b.open = false
	end := t.row + 1
	for end < len(t.lines) && t.lines[end].depth > b.depth {
		end++
	}
	t.lines = append(t.lines[:t.row+1], t.lines[end:]...)
}

// key handles a key.
func (t *tree) key(m *model, name string) tea.Cmd {
	h := max(m.height-2, 1)
	var cmd tea.Cmd
	switch name {
	case "esc":
		if t.cancel != nil {
			t.cancel()
		}
	case "enter", "right", "l", "left", "h", "y", "v":
		if len(t.lines) == 0 {
			break
		}
		b := t.lines[t.row]
		switch {
		case name == "y":
			cmd = m.copy(b.Name+" "+b.Facts, "the line")
		case name == "v" || name == "enter" && b.Parts == nil:
			m.overlay = &overlay{title: b.Name, text: b.Facts, paras: []string{b.Facts}}
		case name == "left" || name == "h" || name == "enter" && b.open:
			t.collapse()
		default:
			cmd = t.expand(m, b)
		}
	default:
		t.row, t.top = moved(name, t.row, t.top, h, len(t.lines)-1)
	}
	t.clamp(h)
	return cmd
}

func (t *tree) clamp(h int) {
	t.row = max(min(t.row, len(t.lines)-1), 0)
	t.top = max(min(t.top, t.row, len(t.lines)-1), t.row-h+1, 0)
}

// position tells where the cursor is.
func (t *tree) position() string {
	if len(t.lines) == 0 {
		return ""
	}
	var names []string
	depth := t.lines[t.row].depth + 1
	for i := t.row; i >= 0 && depth > 0; i-- {
		if b := t.lines[i]; b.depth < depth {
			names, depth = append(names, b.Name), b.depth
		}
	}
	slices.Reverse(names)
	return strings.Join(names, " › ")
}

// view draws the tree.
func (t *tree) view(m *model, height int) []string {
	if len(t.lines) == 0 && t.loading > 0 {
		return []string{paint(dim, "reading …")}
	}
	t.clamp(height)
	var lines []string
	for i := t.top; i < min(t.top+height, len(t.lines)); i++ {
		b := t.lines[i]
		sign := "  "
		switch {
		case b.wait:
			sign = "… "
		case b.open:
			sign = "▾ "
		case b.Parts != nil:
			sign = "▸ "
		}
		head := strings.Repeat("  ", min(b.depth, m.width/4)) + sign + b.Name
		line := m.clip(head+"  "+b.Facts, m.width)
		if i == t.row {
			line = paint(reverse, line)
		} else if rest := strings.TrimPrefix(line, head); rest != line {
			line = paint(bold, head) + rest
		}
		lines = append(lines, line)
	}
	return lines
}
