package verify

import (
	"errors"
	"fmt"

	"google.golang.org/protobuf/proto"

	shardpb "github.com/amudai/amudai-go/gen/amudai/shard"
	"github.com/amudai/amudai-go/internal/format/schema"
	"github.com/amudai/amudai-go/shard/internal/stats"
)

// finish compares the values of the node with its descriptor, and continues with the nodes below.
func (n *nodeCheck) finish() error {
	if n.stored != nil {
		want := n.want()
		n.c.v.Count("descriptor", 1)
		if n.stored.ConstantValue != nil {
			n.c.v.Count("constant", 1)
		}
		if n.stored.GetCardinality().GetHllSketch() != nil {
			n.c.v.Count("sketch", 1)
		}
		c := comparison{got: n.stored, want: want, what: "the values"}
		c.all()
		if err := n.c.v.differences(c, func(err error) error { return n.c.in(err, n.path) }); err != nil {
			return err
		}
	}
	for _, child := range n.children {
		if short := child.short(n); short != "" {
			n.c.v.Note(n.c.in(errors.New(short), child.path))
			continue
		}
		if err := child.finish(); err != nil {
			return err
		}
	}
	return nil
}

// want is the descriptor that fits the values of the node.
func (n *nodeCheck) want() *shardpb.FieldDescriptor {
	d := &shardpb.FieldDescriptor{}
	n.stats.Fill(d)
	if n.repeated != nil {
		d = stats.Merge(proto.CloneOf(n.repeated), d)
		d.MembershipFilters = n.filters
	}
	return d
}

// short reports whether the items of a fixed-size list end early, as they do where the reference fills columns with
// nulls (docs/format.md §5.4).
func (n *nodeCheck) short(parent *nodeCheck) string {
	if parent.col.Stored.Type != schema.FixedSizeList || n.stored == nil || int64(n.stored.PositionCount) >= n.count {
		return ""
	}
	return fmt.Sprintf("%d items for lists that need %d: the reference does so for lists that it adds itself", n.stored.PositionCount, n.count)
}
