package stats

import (
	"math/bits"

	commonpb "github.com/amudai/amudai-go/gen/amudai/common"
	shardpb "github.com/amudai/amudai-go/gen/amudai/shard"
	"github.com/amudai/amudai-go/internal/base/bitmap"
)

// Bool counts the values of a Boolean column. The zero value is ready.
type Bool struct {
	counts
	trues int64
}

// Add adds values, one bit each. valid marks the values that are not null; it has the
// same length.
func (c *Bool) Add(values, valid bitmap.Bits) {
	if c.add(valid) == 0 {
		return
	}
	for i := 0; i < valid.Len; i += 64 {
		c.trues += int64(bits.OnesCount64(values.Word(i) & valid.Word(i)))
	}
}

// Fill implements [Collector]. A column without positions is the constant null.
func (c *Bool) Fill(f *shardpb.FieldDescriptor) {
	raw := (c.rows + 7) / 8
	if c.values() == 0 {
		raw = 0
	}
	c.fill(f, raw)
	falses := c.values() - c.trues
	f.TypeSpecific = &shardpb.FieldDescriptor_BooleanStats{
		BooleanStats: &shardpb.BooleanStats{TrueCount: uint64(c.trues), FalseCount: uint64(falses)},
	}
	f.ConstantValue = c.constant(c.trues == 0 || falses == 0, func() *commonpb.AnyValue {
		return &commonpb.AnyValue{Kind: &commonpb.AnyValue_BoolValue{BoolValue: c.trues > 0}}
	})
	if c.rows == 0 {
		f.ConstantValue = nullValue()
	}
}

// lengths is the range of the lengths of lists, strings or byte strings.
type lengths struct {
	lo, hi     uint64 // if n > 0
	loNonEmpty uint64 // least length but 0; 0 if there is none
	n          int64
}

func (l *lengths) add(length uint64) {
	if l.n == 0 {
		l.lo, l.hi = length, length
	}
	l.n++
	l.lo, l.hi = min(l.lo, length), max(l.hi, length)
	if length-1 < l.loNonEmpty-1 { // with 0 as the greatest
		l.loNonEmpty = length
	}
}

func (l *lengths) nonEmpty() *uint64 {
	if l.loNonEmpty == 0 {
		return nil
	}
	return &l.loNonEmpty
}

// List collects the lengths of lists or maps. The zero value is ready.
type List struct {
	counts
	lengths lengths
}

// Add adds len(offsets)-1 lists: list i has the items from offsets[i] up to
// offsets[i+1]. valid marks the values that are not null; items of null lists do not count.
func (c *List) Add(offsets []uint64, valid bitmap.Bits) {
	if c.add(valid) == 0 {
		return
	}
	for i := range valid.Len {
		if valid.At(i) {
			c.lengths.add(offsets[i+1] - offsets[i])
		}
	}
}

// Fill implements [Collector].
func (c *List) Fill(f *shardpb.FieldDescriptor) {
	raw := 8 * c.rows
	if c.values() == 0 {
		raw = 0
	}
	c.fill(f, raw)
	if c.rows == 0 {
		return
	}
	f.TypeSpecific = &shardpb.FieldDescriptor_ListStats{ListStats: &shardpb.ListStats{
		MinLength: c.lengths.lo, MinNonEmptyLength: c.lengths.nonEmpty(), MaxLength: c.lengths.hi,
	}}
}

// Presence counts the nulls of a column that has no other statistics: a struct
// or a fixed-size list. The zero value is ready.
type Presence struct{ counts }

// Add adds positions; valid marks the values that are not null.
func (c *Presence) Add(valid bitmap.Bits) { c.add(valid) }

// Fill implements [Collector].
func (c *Presence) Fill(f *shardpb.FieldDescriptor) { c.fill(f, 0) }
