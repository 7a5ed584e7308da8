package write

import (
	"fmt"
	"maps"
	"slices"

	"github.com/amudai/amudai-go/internal/format/arrowmap"
	"github.com/amudai/amudai-go/internal/format/schema"
	"github.com/amudai/amudai-go/shard/internal/stripe"
	"github.com/amudai/amudai-go/shard/internal/stripe/blocks"
	"github.com/amudai/amudai-go/shard/internal/stripe/write/internal/buffers"
)

// packedGroup is some columns, or the children of a struct, whose blocks become super-blocks (docs/format.md §6.5).
type packedGroup struct {
	ctx     *buffers.Context // of the members
	columns []int            // that the members are, or are in
	parent  *arrowmap.Column // the struct that the members are in, if they are
	members []*arrowmap.Column
}

// newGroups makes the groups of columns, and puts the contexts of their members into contexts. Columns that cannot be members are left out.
func newGroups(c *buffers.Context, columns []arrowmap.Column, wanted [][]int, contexts []*buffers.Context) (all []packedGroup) {
	for _, group := range wanted {
		if col := &columns[group[0]]; len(group) == 1 && col.Stored.Type == schema.Struct {
			g := packedGroup{columns: group, parent: col}
			for i := range min(len(col.Children), blocks.MostMembers) {
				if buffers.Packs(&col.Children[i]) {
					g.members = append(g.members, &col.Children[i])
				}
			}
			all = append(all, g)
			continue
		}
		group = slices.DeleteFunc(slices.Clone(group), func(i int) bool { return !buffers.Packs(&columns[i]) })
		for part := range slices.Chunk(group, blocks.MostMembers) {
			g := packedGroup{columns: part}
			for _, i := range part {
				g.members = append(g.members, &columns[i])
			}
			all = append(all, g)
		}
	}
	for i := range all {
		g := &all[i]
		g.ctx = c.Packed(g.members)
		for _, i := range g.columns {
			contexts[i] = g.ctx
		}
	}
	return all
}

// pack moves the blocks of the members to super-blocks, which become those of the struct, or of the first member. results are the nodes of each column.
func (g *packedGroup) pack(rows uint64, results [][]stripe.Node) error {
	var nodes []*stripe.Node
	var data []*stripe.Buffer
	for k, m := range g.members {
		of := results[g.columns[min(k, len(g.columns)-1)]] // the nodes of the member's column
		i := slices.IndexFunc(of, func(n stripe.Node) bool { return n.ID == m.ID })
		if len(of[i].Buffers) > 0 { // DATA is the first buffer
			nodes, data = append(nodes, &of[i]), append(data, &of[i].Buffers[0])
		}
	}
	group, err := buffers.Pack(g.ctx, rows, data)
	if err != nil || group.Data == nil {
		return err
	}
	first := slices.IndexFunc(data, func(b *stripe.Buffer) bool { return stripe.IsMember(b.Desc) })
	if owner := nodes[first]; g.parent == nil {
		owner.Group = []stripe.Buffer{group}
		for _, b := range data {
			if stripe.IsMember(b.Desc) {
				b.Desc.BufferId = &owner.ID
			}
		}
		return nil
	}
	nodesOf := results[g.columns[0]]
	owner := &nodesOf[len(nodesOf)-1] // children come before their parent
	owner.Group, owner.Buffers = append([]stripe.Buffer{group}, owner.Buffers...), nil
	return nil
}

// Groups are the numbers of the columns of packed groups.
func Groups(columns []arrowmap.Column, packed [][]string) ([][]int, error) {
	if len(packed) == 0 {
		return nil, nil
	}
	groups := make([][]int, len(packed))
	left := map[string]int{} // columns in no group
	for i := range columns {
		left[columns[i].Stored.Name] = i
	}
	rest := -1 // the group of these
	for g, names := range packed {
		for _, name := range names {
			if name == "*" {
				rest = g
				continue
			}
			i, ok := left[name]
			if !ok {
				return nil, fmt.Errorf("WriterOptions.Packed: there is no column %q, or it is in two groups", name)
			}
			delete(left, name)
			groups[g] = append(groups[g], i)
		}
	}
	if rest >= 0 {
		groups[rest] = append(groups[rest], slices.Sorted(maps.Values(left))...)
	}
	return slices.DeleteFunc(groups, func(g []int) bool { return len(g) == 0 }), nil
}
