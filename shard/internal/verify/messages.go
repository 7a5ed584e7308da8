package verify

import (
	"context"
	"errors"

	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/shard/internal/shardfile"
	"github.com/amudai/amudai-go/storage"
)

// messages checks the frames of all reachable messages.
func (v *verifier) messages(ctx context.Context) error {
	spent := newBudget(v.file)
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
