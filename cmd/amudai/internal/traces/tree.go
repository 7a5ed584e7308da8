// Package traces prints traces for people: a tree of spans with times, services and errors.
package traces

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/amudai/amudai-go/cmd/amudai/internal/terminal"
)

// Span is a span as the tree shows it.
type Span struct {
	ID, Parent    string // hexadecimal; Parent is empty for a root
	Service, Name string
	Start, End    int64 // nanoseconds since 1970
	Failed        bool
	Message       string // of the status
}

// node is a span and its place in the tree.
type node struct {
	*Span
	children []*node
	remark   string // why the span is at the top although it has a parent
	isPlaced bool
}

// forest arranges spans as trees, in the order of their start times. A span whose parent is missing is a root with a
// remark. So is one span of each cycle of parents, which no sound trace has.
func forest(spans []Span) []*node {
	nodes := make([]*node, len(spans))
	byID := make(map[string]*node, len(spans))
	for i := range spans {
		nodes[i] = &node{Span: &spans[i]}
	}
	slices.SortStableFunc(nodes, func(a, b *node) int {
		return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(b.End, a.End), cmp.Compare(a.ID, b.ID))
	})
	for _, n := range nodes {
		if byID[n.ID] == nil {
			byID[n.ID] = n
		}
	}
	var roots []*node
	for _, n := range nodes {
		switch parent := byID[n.Parent]; {
		case n.Parent == "":
			roots = append(roots, n)
		case parent == nil:
			n.remark = "its parent " + n.Parent + " is missing"
			roots = append(roots, n)
		default:
			parent.children = append(parent.children, n)
		}
	}
	for _, root := range roots {
		place(root)
	}
	for _, n := range nodes {
		if !n.isPlaced {
			n.remark = "it is among its own ancestors"
			parent := byID[n.Parent]
			parent.children = slices.DeleteFunc(parent.children, func(c *node) bool { return c == n })
			roots = append(roots, n)
			place(n)
		}
	}
	return roots
}

// place marks a span and all below it.
func place(n *node) {
	for stack := []*node{n}; len(stack) > 0; {
		last := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		last.isPlaced = true
		stack = append(stack, last.children...)
	}
}

// line is a line of the printed tree.
type line struct {
	*node
	branch string // the lines of the tree before the name
}

// maxDepth is the depth below which the tree is drawn no deeper.
const maxDepth = 40

// lines lists a forest from top to bottom.
func lines(roots []*node) []line {
	type task struct {
		*node
		before string // what is drawn before the children's own branches
		depth  int
		isLast bool
	}
	var stack []task
	push := func(children []*node, before string, depth int) {
		for i, n := range slices.Backward(children) {
			stack = append(stack, task{n, before, depth, i == len(children)-1})
		}
	}
	push(roots, "", 0)
	var out []line
	for len(stack) > 0 {
		t := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		branch, below := t.before+"├─ ", t.before+"│  "
		switch {
		case t.depth == 0:
			branch, below = "", ""
		case t.isLast:
			branch, below = t.before+"└─ ", t.before+"   "
		}
		if t.depth >= maxDepth {
			below = t.before
		}
		out = append(out, line{t.node, branch})
		push(t.children, below, t.depth+1)
	}
	return out
}

// barWidth is the width of the bars of time.
const barWidth = 24

// Print prints the spans of a trace as a tree, one in a line, with a summary above.
func Print(s terminal.Screen, id string, spans []Span) error {
	first, last, failed := int64(0), int64(0), 0
	services := map[string]bool{}
	for i, span := range spans {
		if i == 0 || span.Start < first {
			first = span.Start
		}
		last = max(last, span.Start, span.End)
		services[span.Service] = true
		if span.Failed {
			failed++
		}
	}
	summary := terminal.Format("trace %s: %s of %s, %s, began %s", id, terminal.Plural(len(spans), "span"), terminal.Plural(len(services), "service"),
		terminal.Duration(time.Duration(last-first)), time.Unix(0, first).UTC().Format("2006-01-02T15:04:05.000Z"))
	if failed > 0 {
		summary = terminal.Format("%s, %s", summary, s.Paint(terminal.Red, terminal.Plural(failed, "error")))
	}
	s.Printf("%s\n", summary)
	t := terminal.NewTable().Text("span").Text("service").Numbers("after", "took").Text("time").Optional("time")
	t.Narrowest = 12
	var remarks []terminal.Styled
	for _, l := range lines(forest(spans)) {
		t.Row(terminal.Format("%s%s", l.branch, label(s, l.Span)), l.Service, terminal.Duration(time.Duration(l.Start-first)),
			terminal.Duration(time.Duration(l.End-l.Start)), bar(l.Start-first, l.End-first, last-first))
		if l.remark != "" {
			remarks = append(remarks, terminal.Format("%s (%s) is at the top: %s", l.Name, l.ID, l.remark))
		}
	}
	s.Table(t, "")
	for _, r := range remarks {
		s.Printf("%s\n", s.Paint(terminal.Dim, r))
	}
	return nil
}

// label is the name of a span, with the message of one that failed.
func label(s terminal.Screen, span *Span) terminal.Styled {
	switch {
	case !span.Failed:
		return terminal.Format("%s", span.Name)
	case span.Message == "":
		return s.Paint(terminal.Red, "✗ "+span.Name)
	}
	return s.Paint(terminal.Red, "✗ "+span.Name+": "+span.Message)
}

// bar draws a part of the time of a trace: where the span began and ended.
func bar(from, to, whole int64) string {
	if whole <= 0 {
		return strings.Repeat("━", barWidth)
	}
	at := func(t int64) int { return int(float64(t) / float64(whole) * barWidth) }
	begin := min(max(at(from), 0), barWidth-1)
	end := min(max(at(to), begin+1), barWidth)
	return strings.Repeat("·", begin) + strings.Repeat("━", end-begin) + strings.Repeat("·", barWidth-end)
}
