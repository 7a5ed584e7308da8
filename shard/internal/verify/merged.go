package verify

import (
	"context"
	"fmt"
	"strings"

	shardpb "github.com/amudai/amudai-go/gen/amudai/shard"
	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/shard/internal/shardfile"
	"github.com/amudai/amudai-go/shard/internal/stats"
)

// merger merges the descriptors of stripes into those of the shard.
type merger struct {
	v      *verifier
	fields map[uint32]*shardpb.FieldDescriptor
}

// descriptors calls f with each descriptor that a stripe has, or with the damage of one, which is reported with the messages.
func (v *verifier) descriptors(ctx context.Context, s *shardfile.Stripe, f func(id uint32, d *shardpb.StripeFieldDescriptor, err error)) error {
	for _, id := range v.ids {
		if err := ctx.Err(); err != nil {
			return err
		}
		d, err := s.Descriptor(ctx, id)
		if err != nil && !isDamage(err) {
			return err
		}
		if d != nil || err != nil {
			f(id, d, err)
		}
	}
	return nil
}

// add adds the descriptors of a stripe, and checks the raw size of the stripe.
func (m *merger) add(ctx context.Context, s *shardfile.Stripe) error {
	raw, known, broken := uint64(0), false, false
	err := m.v.descriptors(ctx, s, func(id uint32, d *shardpb.StripeFieldDescriptor, err error) {
		switch {
		case err != nil:
			broken = true
			return
		case d.Field.RawDataSize != nil:
			raw, known = raw+*d.Field.RawDataSize, true
		}
		m.fields[id] = stats.Merge(m.fields[id], d.Field)
	})
	if err != nil {
		return err
	}
	if d := s.Directory(); known && !broken && d.RawDataSize != nil && *d.RawDataSize != raw {
		return m.v.found(fault.InStripe(fault.Corruptf("raw_data_size is %d, but its fields have %d", *d.RawDataSize, raw), s.Index()))
	}
	return nil
}

// compare compares the descriptors of the shard.
func (m *merger) compare(ctx context.Context) error {
	absolute := 0
	for _, id := range m.v.ids {
		if err := ctx.Err(); err != nil {
			return err
		}
		got, err := m.v.file.FieldDescriptor(ctx, id)
		if err != nil {
			if err := m.v.found(err); err != nil {
				return err
			}
			continue
		}
		url, err := m.v.file.FieldURL(ctx, id)
		if err := m.v.found(err); err != nil {
			return err
		}
		if strings.Contains(url, "://") {
			absolute++
		}
		if got == nil {
			continue
		}
		want := m.fields[id]
		if want == nil {
			want = &shardpb.FieldDescriptor{}
		}
		c := comparison{got: got, want: want, what: "the stripes"}
		c.all()
		if err := m.v.differences(c, func(err error) error { return fault.InColumn(err, m.v.paths[id]) }); err != nil {
			return err
		}
	}
	if absolute > 0 {
		m.v.Note(fault.In(fmt.Errorf("%d absolute urls: the reference wrote the location of the shard, and cannot find these descriptors after a move", absolute), "field list", -1))
	}
	return nil
}
