package eval

import (
	"slices"
	"sort"

	"github.com/amudai/amudai-go/traceql/internal/lang"
	"github.com/amudai/amudai-go/traceql/internal/spans"
)

func (s *Span) place() *spans.Place { return &s.Batch.Places[s.Row] }

// relatedByPlace is [tree.related] for some spans of a trace, by their places in its tree.
func relatedByPlace(r lang.Relation, list []Span, from []bool) []bool {
	number := func(p *spans.Place) uint32 { return p.Left } // of what the others are compared with
	if r == lang.Parent || r == lang.Sibling {
		number = func(p *spans.Place) uint32 { return p.Parent }
	}
	var numbers, ends []uint32 // in order; the greatest number below any of those up to it
	for i, yes := range from {
		if yes {
			numbers = append(numbers, number(list[i].place()))
		}
	}
	slices.Sort(numbers)
	if r == lang.Descendant {
		ends = greatestBelow(list, from, numbers)
	}
	// upTo is the number of those that are at most n.
	upTo := func(n uint32) int { return sort.Search(len(numbers), func(k int) bool { return numbers[k] > n }) }
	out := make([]bool, len(list))
	for i := range list {
		switch p := list[i].place(); r {
		case lang.Descendant:
			above := upTo(p.Left - 1)
			out[i] = above > 0 && ends[above-1] >= p.Left
		case lang.Ancestor:
			out[i] = upTo(p.Right) > upTo(p.Left)
		case lang.Child:
			out[i] = upTo(p.Parent) > upTo(p.Parent-1) && p.Parent > 0
		case lang.Parent:
			out[i] = upTo(p.Left) > upTo(p.Left-1)
		case lang.Sibling:
			others := upTo(p.Parent) - upTo(p.Parent-1)
			if from[i] {
				others--
			}
			out[i] = others > 0 && p.Parent > 0
		}
	}
	return out
}

// greatestBelow are, for spans by their numbers, the greatest numbers below any of those up to each.
func greatestBelow(list []Span, from []bool, numbers []uint32) []uint32 {
	ends := make([]uint32, len(numbers))
	for i, yes := range from {
		if yes {
			p := list[i].place()
			k, _ := slices.BinarySearch(numbers, p.Left)
			ends[k] = p.Right
		}
	}
	for k := 1; k < len(ends); k++ {
		ends[k] = max(ends[k], ends[k-1])
	}
	return ends
}
