package verify

import (
	"cmp"
	"slices"

	"github.com/amudai/amudai-go/internal/base/fault"
)

// span is a range of bytes of the file with one use.
type span struct {
	begin, end int64
	name       string
}

// spans are the parts of the file that something refers to.
type spans []span

func (s *spans) add(offset, size int64, name string) {
	if size > 0 {
		*s = append(*s, span{offset, offset + size, name})
	}
}

// overlaps finds bytes that have two uses. Pages and records of the same range are one use: pages of
// equal content share their bytes.
func (c *checker) overlaps() error {
	all := c.spans
	slices.SortStableFunc(all, func(a, b span) int {
		return cmp.Or(cmp.Compare(a.begin, b.begin), cmp.Compare(a.end, b.end))
	})
	var last span
	for _, s := range all {
		if s.begin < last.end && (s.begin != last.begin || s.end != last.end) {
			err := fault.In(fault.Corruptf("%d bytes are those of the %s, too, which ends at %d", min(last.end, s.end)-s.begin, last.name, last.end), s.name, s.begin)
			if err := c.found(fault.Of(err, c.file.Name())); err != nil {
				return err
			}
		}
		if s.end > last.end {
			last = s
		}
	}
	return nil
}
