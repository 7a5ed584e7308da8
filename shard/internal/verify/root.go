package verify

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	shardpb "github.com/amudai/amudai-go/gen/amudai/shard"
	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/format/container"
	"github.com/amudai/amudai-go/internal/format/edition"
	"github.com/amudai/amudai-go/shard/internal/readahead"
	"github.com/amudai/amudai-go/shard/internal/shardfile"
	"github.com/amudai/amudai-go/shard/internal/stripe"
	"github.com/amudai/amudai-go/storage"
)

// root checks the parts of the whole shard: header, url list, properties, totals.
func (v *verifier) root(ctx context.Context) error {
	head := make([]byte, container.MarkSize)
	if err := v.file.Root().ReadAt(ctx, head, 0); err != nil {
		return err
	}
	_, err := container.CheckMark(head, "header")
	if err := v.found(fault.Of(fault.In(err, "header", 0), v.file.Root().Name())); err != nil {
		return err
	}
	if err := v.properties(ctx); err != nil {
		return err
	}
	if err := v.found(v.file.CheckCopies(ctx)); err != nil {
		return err
	}
	if err := v.urls(ctx); err != nil {
		return err
	}
	return v.found(v.rawSize())
}

func (v *verifier) rawSize() error {
	sum, known := uint64(0), v.file.NumStripes() > 0
	for i := range v.file.NumStripes() {
		d := v.file.Stripe(i).Directory()
		sum, known = sum+d.GetRawDataSize(), known && d.RawDataSize != nil
	}
	if d := v.file.Directory(); known && d.RawDataSize != nil && *d.RawDataSize != sum {
		return fault.In(fault.Corruptf("raw_data_size is %d, but the stripes have %d", *d.RawDataSize, sum), "directory", -1)
	}
	return nil
}

// declares reports whether a shard declares an edition and features that this version knows all of.
func declares(p *shardpb.ShardProperties) bool {
	standard := shardfile.PropertiesFromProto(p.StandardProperties)
	return shardfile.Find(standard, shardfile.PropertyEdition) != nil && len(shardfile.UnknownFeatures(standard)) == 0
}

// properties notes an unknown edition or unknown features.
func (v *verifier) properties(ctx context.Context) error {
	p, err := v.file.Properties(ctx)
	if err != nil {
		return v.found(err)
	}
	for _, q := range shardfile.PropertiesFromProto(p.StandardProperties) {
		text, _ := q.Value.(string)
		switch q.Name {
		case shardfile.PropertyEdition:
			e, err := edition.Parse(text)
			if err != nil {
				v.Note(err)
			}
			v.ours = err != nil || e != edition.Reference
		case shardfile.PropertyFeatures:
			_, others := edition.ParseSet(text)
			for _, name := range others {
				v.Note(fmt.Errorf("feature %q is not known", name))
			}
		}
	}
	if _, err := v.file.Shards(ctx); err != nil {
		return v.found(err)
	}
	if p.CreationMin.GetTicks() > p.CreationMax.GetTicks() {
		return v.found(fault.In(fault.Corruptf("creation_min is after creation_max"), "properties", -1))
	}
	return nil
}

// marks notes an invalid header or footer of another artifact. Readers do not check them.
func (v *verifier) marks(ctx context.Context, url string) error {
	r, err := v.file.Artifact(ctx, url)
	if err != nil {
		return v.found(err)
	}
	size, err := r.Size(ctx)
	if err != nil {
		return v.found(err)
	}
	for _, at := range []int64{0, max(size-container.MarkSize, 0)} {
		b := make([]byte, min(size, container.MarkSize))
		if err := r.ReadAt(ctx, b, at); err != nil {
			return v.found(err)
		}
		if _, err := container.CheckMark(b, "header or footer"); err != nil {
			v.Note(fault.Of(fault.In(err, "header or footer", at), r.Name()))
		}
	}
	return nil
}

// urls checks that the url list names all artifacts with buffers. Missing artifacts are found with the buffers.
func (v *verifier) urls(ctx context.Context) error {
	list, err := v.file.URLs(ctx)
	if err != nil {
		return v.found(err)
	}
	listed := map[string]bool{}
	for _, u := range list {
		listed[u] = true
		if err := v.marks(ctx, u); err != nil {
			return err
		}
	}
	missing := map[string]bool{}
	for i := range v.file.NumStripes() {
		if err := v.descriptors(ctx, v.file.Stripe(i), func(_ uint32, d *shardpb.StripeFieldDescriptor, _ error) {
			for _, b := range stripe.Buffers(d) {
				if u := b.GetBuffer().GetUrl(); u != "" && !listed[u] && !missing[u] {
					missing[u] = true
					v.Note(fmt.Errorf("the url list lacks %q", u))
				}
			}
		}); err != nil {
			return err
		}
	}
	return nil
}

// messages checks the frames of all reachable messages.
func (v *verifier) messages(ctx context.Context) error {
	const most = 1 << 16 // that are read together, over a network
	spent, ranges := newBudget(v.file), []storage.ByteRange(nil)
	var err error
	if v.file.Root().Capabilities().Latency == storage.LatencyHigh {
		err = v.file.Messages(ctx, func(m shardfile.MessageRef, err error) error { // an error comes again below
			if err == nil && len(ranges) < most {
				ranges = append(ranges, storage.ByteRange{Reader: m.Artifact, Offset: m.Range.Start, Size: m.Range.End - m.Range.Start})
			}
			return ctx.Err()
		})
	}
	defer v.file.Hold(nil)
	if err = cmp.Or(err, readahead.Read(ctx, v.file, ranges)); err != nil {
		return err
	}
	return v.file.Messages(ctx, func(m shardfile.MessageRef, err error) error {
		if err != nil {
			return v.foundAt(ctx, err)
		}
		if err := spent.spend(ctx, m.Artifact, m.Range.End-m.Range.Start); err != nil {
			return v.enough(m.In(err))
		}
		frame, err := storage.ReadRange(ctx, m.Artifact, m.Range.Start, m.Range.End-m.Range.Start)
		if err != nil {
			return v.found(m.In(err))
		}
		v.Count("message", 1)
		if _, err = m.Parse(frame); err == nil {
			return nil
		}
		damage := m.In(err)
		if at, bit, ok := v.flips.Frame(ctx, frame); ok {
			damage = &FlippedBit{m.Artifact.Name(), m.Range.Start + int64(at), bit, damage}
		}
		return v.problem(damage)
	})
}

// foundAt is found for an error that may come from a message that is checked or explained elsewhere.
func (v *verifier) foundAt(ctx context.Context, err error) error {
	var e *fault.Error
	if errors.Is(err, fault.ErrChecksum) && errors.As(err, &e) && e.Offset >= 0 && e.Artifact == v.file.Root().Name() {
		return v.problem(v.explainFrame(ctx, v.file.Root(), e.Offset, err))
	}
	return v.found(err)
}
