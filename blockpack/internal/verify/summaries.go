package verify

import (
	"bytes"
	"context"
	"slices"

	"github.com/amudai/amudai-go/blockpack/internal/column"
	"github.com/amudai/amudai-go/blockpack/internal/ranges"
	"github.com/amudai/amudai-go/blockpack/internal/summary"
	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/storage"
)

func (c *checker) summarized() bool {
	return slices.ContainsFunc(ranges.SectionNames, func(kind ranges.SectionName) bool { return len(c.sections[kind.Column]) > 0 })
}

// addSummaries collects what summaries say of the traces of the block, by their numbers in the trace index.
func (b *blockCheck) addSummaries() error {
	if !b.summarized() {
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
	b.summary.Block(b.firstRows[b.index], numbers, func(name string, t column.Type) *column.Column { return b.values[column.Key{Name: name, Type: t}] })
	return nil
}

// compareSummaries makes the summaries anew, and compares them with those of the file.
func (c *checker) compareSummaries(ctx context.Context) error {
	if !c.Complete() || !c.summarized() {
		return nil
	}
	order := make([]uint32, c.meta.Traces.Len())
	for i := range order {
		order[i] = uint32(i)
	}
	made, err := c.summary.Sections(order)
	if err != nil {
		return c.contradiction(err)
	}
	for _, kind := range ranges.SectionNames {
		list, want := c.sections[kind.Column], made[kind.Column]
		if len(list) == 0 {
			continue
		}
		if len(want) != len(list) {
			err := fault.Corruptf("%d sections, where %d are expected", len(list), len(want))
			if err := c.contradiction(fault.In(err, kind.Name, -1)); err != nil {
				return err
			}
			continue
		}
		for k, at := range list {
			data, err := storage.ReadRange(ctx, c.reader, at.Offset, at.Length)
			if err == nil && !bytes.Equal(data, want[k]) {
				err = fault.In(differing[kind.Column](data, want[k], at.Offset), kind.Name, at.Offset)
			}
			if err := c.contradiction(err); err != nil {
				return err
			}
		}
	}
	return nil
}

// differing has the error of the first entry of a section that is not as it was made anew, by the kind of the section. Other bytes may say the same.
var differing = map[string]func(data, made []byte, offset int64) error{
	ranges.TracesColumn: differingIn("trace", summary.Parse, (*summary.Section).Len, (*summary.Section).Trace),
	ranges.TreesColumn:  differingIn("span", summary.ParsePlaces, summary.Places.Len, summary.Places.At),
}

func differingIn[S any, T comparable](what string, parse func([]byte, int64) (S, error), length func(S) int, at func(S, int) T) func(data, made []byte, offset int64) error {
	return func(data, made []byte, offset int64) error {
		have, err := parse(data, offset)
		if err != nil {
			return err
		}
		want, err := parse(made, 0)
		if err != nil {
			return err
		}
		if n, expected := length(have), length(want); n != expected {
			return fault.Corruptf("%d entries, where %d are expected", n, expected)
		}
		for i := range length(have) {
			if at(have, i) != at(want, i) {
				return fault.Corruptf("%s %d has %+v, but its spans %+v", what, i, at(have, i), at(want, i))
			}
		}
		return nil
	}
}
