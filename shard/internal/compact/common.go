package compact

import (
	"context"
	"slices"

	"google.golang.org/protobuf/proto"

	commonpb "github.com/amudai/amudai-go/gen/amudai/common"
	"github.com/amudai/amudai-go/shard/internal/root"
	"github.com/amudai/amudai-go/shard/internal/shardfile"
	"github.com/amudai/amudai-go/shard/internal/shardwriter"
	"github.com/amudai/amudai-go/shard/internal/stripe"
)

// common are the properties that several stripes, or a field of them, have in common.
type common struct {
	custom, standard []*commonpb.NameValuePair
	fields           map[uint32]common // by schema id
}

// commonOf are the properties that stored stripes of a root have in common.
func commonOf(ctx context.Context, r root.Root, stripes []int) (c common, err error) {
	c.fields = map[uint32]common{}
	for k, i := range stripes {
		s := r.Stripes[i].Of
		p, err := s.Properties(ctx)
		if err != nil {
			return c, err
		}
		c = c.and(k == 0, p.CustomProperties, p.StandardProperties)
		for id := range r.Schema.IDCount() {
			if _, ok := c.fields[id]; !ok && k > 0 {
				continue
			}
			d, err := s.Descriptor(ctx, id)
			if err != nil {
				return c, err
			}
			f := c.fields[id].and(k == 0, d.GetField().GetCustomProperties(), d.GetField().GetStandardProperties())
			if delete(c.fields, id); len(f.custom)+len(f.standard) > 0 {
				c.fields[id] = f
			}
		}
	}
	return c, nil
}

// and are the properties that more have, too.
func (c common) and(first bool, custom, standard []*commonpb.NameValuePair) common {
	if first {
		c.custom, c.standard = custom, standard
		return c
	}
	c.custom, c.standard = inBoth(c.custom, custom), inBoth(c.standard, standard)
	return c
}

func inBoth(a, b []*commonpb.NameValuePair) []*commonpb.NameValuePair {
	return slices.DeleteFunc(slices.Clone(a), func(p *commonpb.NameValuePair) bool {
		return !slices.ContainsFunc(b, func(q *commonpb.NameValuePair) bool { return proto.Equal(p, q) })
	})
}

// of gives the properties to a stripe.
func (c common) of(f *stripe.Finished) shardwriter.StripeOptions {
	for i := range f.Nodes {
		if p, ok := c.fields[f.Nodes[i].ID]; ok {
			f.Nodes[i].Field.CustomProperties, f.Nodes[i].Field.StandardProperties = p.custom, p.standard
		}
	}
	return shardwriter.StripeOptions{
		Properties: shardfile.PropertiesFromProto(c.custom), Standard: shardfile.PropertiesFromProto(c.standard), Features: f.Features,
	}
}
