package verify

import (
	"bytes"
	"context"

	"github.com/amudai/amudai-go/blockpack/internal/column"
	"github.com/amudai/amudai-go/blockpack/internal/summary"
	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/storage"
)

const summaries = "summary of traces"

// addSummaries collects what summaries say of the traces of the block, by their numbers in the trace index.
func (b *blockCheck) addSummaries() error {
	if len(b.sections) == 0 {
		return nil
	}
	ids := b.rowIDs()
	numbers := make([]uint32, len(ids))
	for row, id := range ids {
		n := b.meta.Traces.Find(id[:])
		if n < 0 {
			return nil // reported with the trace index
		}
		numbers[row] = uint32(n)
	}
	b.lock.Lock()
	defer b.lock.Unlock()
	b.summary.Block(numbers, func(name string, t column.Type) *column.Column { return b.values[column.Key{Name: name, Type: t}] })
	return nil
}

// compareSummaries makes the summaries anew, and compares them with those of the file.
func (c *checker) compareSummaries(ctx context.Context) error {
	if !c.Complete() || len(c.sections) == 0 {
		return nil
	}
	order := make([]uint32, c.meta.Traces.Len())
	for i := range order {
		order[i] = uint32(i)
	}
	made, err := c.summary.Sections(order)
	if err == nil && len(made) != len(c.sections) {
		err = fault.In(fault.Corruptf("%d sections, where %d are expected", len(c.sections), len(made)), summaries, -1)
	}
	if err != nil {
		return c.contradiction(err)
	}
	for k, at := range c.sections {
		data, err := storage.ReadRange(ctx, c.reader, at.Offset, at.Length)
		if err == nil && !bytes.Equal(data, made[k]) {
			err = differing(data, made[k], at.Offset)
		}
		if err := c.contradiction(err); err != nil {
			return err
		}
	}
	return nil
}

// differing is the error of the first trace of a section that is not as it was made anew.
func differing(data, made []byte, offset int64) error {
	want, err := summary.Parse(made, 0)
	if err != nil {
		return err
	}
	have, err := summary.Parse(data, offset)
	if err != nil {
		return err
	}
	if have.Len() != want.Len() {
		return fault.In(fault.Corruptf("%d traces, where %d are expected", have.Len(), want.Len()), summaries, offset)
	}
	for i := range have.Len() {
		if have.Trace(i) != want.Trace(i) {
			return fault.In(fault.Corruptf("trace %d has %+v, but its spans %+v", i, have.Trace(i), want.Trace(i)), summaries, offset)
		}
	}
	return nil // other bytes that say the same
}
