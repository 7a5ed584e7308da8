package write

import (
	"github.com/amudai/amudai-go/dictionary"
	"github.com/amudai/amudai-go/encoding"
	"github.com/amudai/amudai-go/encoding/bytestring"
	"github.com/amudai/amudai-go/encoding/numeric"
	shardpb "github.com/amudai/amudai-go/gen/amudai/shard"
	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
	"github.com/amudai/amudai-go/internal/base/bitmap"
	"github.com/amudai/amudai-go/internal/format/edition"
	"github.com/amudai/amudai-go/shard/internal/stripe"
	"github.com/amudai/amudai-go/shard/internal/stripe/write/internal/buffers"
)

// finishDictionary makes the buffers of codes and of the dictionary (docs/format.md §8).
func finishDictionary(c *buffers.Context, id uint32, dict *dictionary.Builder, ids *dictionary.Codes, field *shardpb.FieldDescriptor) ([]stripe.Buffer, error) {
	perm := dict.Renumber(ids)
	size := uint64(dict.Len())
	field.DictionarySize = &size
	o := c.Encoding
	o.NoPresence = true
	part := buffers.NodePart{ID: id, Codes: true}
	if part.Skewed = o.Profile == encoding.Balanced && o.Features.Has(edition.PrefixBins) && dict.Skewed(); part.Skewed {
		o.Profile = encoding.HighCompression
	}
	codes := buffers.NewNumberBlocks[uint32](c, part, o)
	defer codes.Release(c) // after an error
	left := ids.Len()
	err := ids.Each(func(part []uint32) error {
		if codes.Values == nil {
			codes.Values = buffers.GetStage[uint32](min(left, max(c.Stage.Values, len(part))))
		}
		staged := codes.Grow(c, len(part))
		copy(staged, part)
		if perm != nil {
			for i, id := range part {
				staged[i] = perm[id]
			}
		}
		left -= len(part)
		return codes.Flush(c, nil, left == 0)
	})
	if err != nil {
		return nil, err
	}
	all, err := codes.Pipeline.Finish(c, &shardpb.EncodedBuffer{Kind: shardpb.BufferKind_DATA})
	if err != nil {
		return nil, err
	}
	var raw []byte
	if dict.Packed {
		raw, err = dict.AppendPacked(nil, c.Encoding)
		c.Features.AddDictionary(raw)
	} else {
		raw = dict.Append(nil)
	}
	if err != nil {
		return all, err
	}
	return buffers.AppendWhole(c, all, &shardpb.EncodedBuffer{Kind: shardpb.BufferKind_VALUE_DICTIONARY}, raw)
}

// numberDictionary is the value dictionary of a node of numbers. The first full stage decides whether it is begun: this stage is written as blocks in any
// case, whose size is that of all others without a dictionary, and all values are kept as codes as long as these are likely to be smaller.
type numberDictionary[T numeric.Value] struct {
	ctx  *buffers.Context
	id   uint32
	make func() *dictionary.Builder // nil once it is decided, and where there is never a dictionary

	dict  *dictionary.Builder // nil if there is none
	codes dictionary.Codes
	first int                 // values that are blocks, too
	size  int64               // of these blocks
	log   *buffers.FeatureLog // of these blocks
}

// firstCodes is the number of values that may tell already that codes are too long.
const firstCodes = 8 << 10

// newNumberDictionary makes one for wide numbers in edition 2026, unless stages are short or the form of blocks is given.
func newNumberDictionary[T numeric.Value](c *buffers.Context, id uint32, valueType byte) numberDictionary[T] {
	d := numberDictionary[T]{ctx: c, id: id}
	t, has := numeric.Of[T](), c.Encoding.Features.Has
	if has(edition.NumberDictionaries) && has(edition.PackedDictionaries) && c.Encoding.Profile != encoding.ProfilePlain &&
		t.Size() >= 4 && !c.NullsApart && c.Cut == 0 && c.Stage.Values >= 4*firstCodes {
		d.make = func() *dictionary.Builder {
			b := dictionary.NewBuilder(valueType, t.Size())
			b.Budget, b.Packed, b.Key = c.Stage.Dictionary, true, dictionary.NumberKey(t)
			return b
		}
	}
	return d
}

// begin writes the first full stage of blocks, and begins the dictionary if that is likely to pay.
func (d *numberDictionary[T]) begin(blocks *buffers.NumberBlocks[T], valid *buffers.BitStage) error {
	b := d.make()
	d.make = nil
	if !dictionary.Repeats(bytesOf(blocks.Values), valid.View()) {
		return blocks.Flush(d.ctx, valid, false)
	}
	d.log = &buffers.FeatureLog{Allowed: d.ctx.Features.Allowed}
	apart := *d.ctx
	apart.Features = d.log
	values, bits, size, err := blocks.FlushAtOnce(&apart, valid)
	defer buffers.PutStage(values)
	if err != nil {
		return err
	}
	d.dict, d.first, d.size = b, len(values), size
	for from, to := 0, firstCodes; from < len(values); from, to = to, len(values) {
		d.add(values[from:to], bits.Slice(from, to))
		if b.CodesSize(int64(d.first)) > saving(size) {
			d.drop()
			return nil
		}
	}
	return nil
}

// add adds values to the codes.
func (d *numberDictionary[T]) add(values []T, valid bitmap.Bits) {
	mem := getScratch()
	defer mem.put()
	mem.ids = d.dict.AddAll(mem.ids[:0], arrowutil.Bytes(values), nil, valid)
	d.codes.Append(mem.ids)
}

// stays reports whether the dictionary is still likely to pay.
func (d *numberDictionary[T]) stays() bool {
	rows := d.codes.Len()
	return !d.dict.Full() && !d.dict.Unequal(int64(rows)) && (rows < 4*d.first || d.pays())
}

// pays reports whether the codes so far and their dictionary are smaller than blocks.
func (d *numberDictionary[T]) pays() bool {
	rows := int64(d.codes.Len())
	return !d.dict.Full() && d.dict.KeepAgainst(rows, saving(d.size*rows/int64(d.first)))
}

// saving is the size that codes must not exceed to be worth their time, where blocks have some size.
func saving(size int64) int64 { return size * 7 / 8 }

// drop forgets the dictionary.
func (d *numberDictionary[T]) drop() {
	d.ctx.Features.Merge(d.log)
	d.dict, d.codes = nil, dictionary.Codes{}
}

// giveUp writes the values of all codes but those of the first stage as blocks.
func (d *numberDictionary[T]) giveUp(blocks *buffers.NumberBlocks[T], valid *buffers.BitStage) error {
	null, hasNull := d.dict.NullID()
	skip := d.first
	err := d.codes.Each(func(ids []uint32) error {
		n := min(skip, len(ids))
		skip, ids = skip-n, ids[n:]
		for len(ids) > 0 {
			part := ids[:min(len(ids), blocks.Room(d.ctx))]
			ids = ids[len(part):]
			values, bits := arrowutil.Bytes(blocks.Grow(d.ctx, len(part))), bitmap.All(len(part))
			if hasNull {
				bits.Data = make([]byte, (len(part)+7)/8)
			}
			for i, id := range part {
				if hasNull && id != null {
					bitmap.SetRange(bits.Data, i, 1)
				}
				values = values[copy(values, d.dict.Value(id)):]
			}
			valid.Append(bits)
			if err := blocks.Flush(d.ctx, valid, false); err != nil {
				return err
			}
		}
		return nil
	})
	d.drop()
	return err
}

// flush writes a full stage, as blocks or codes.
func (d *numberDictionary[T]) flush(blocks *buffers.NumberBlocks[T], valid *buffers.BitStage) error {
	switch {
	case len(blocks.Values) < d.ctx.Stage.Values:
		return nil
	case d.make != nil:
		return d.begin(blocks, valid)
	case d.dict == nil:
		return blocks.Flush(d.ctx, valid, false)
	}
	d.take(blocks, valid)
	if d.stays() {
		return nil
	}
	return d.giveUp(blocks, valid)
}

// take makes codes of what is staged.
func (d *numberDictionary[T]) take(blocks *buffers.NumberBlocks[T], valid *buffers.BitStage) {
	values, bits := blocks.Take(valid)
	d.add(values, bits)
	buffers.PutStage(values)
}

// finish makes the buffers of codes and of the dictionary. Without one that pays, there are none, and all values are in blocks.
func (d *numberDictionary[T]) finish(blocks *buffers.NumberBlocks[T], valid *buffers.BitStage, f *shardpb.FieldDescriptor) ([]stripe.Buffer, error) {
	if d.dict == nil {
		return nil, nil
	}
	d.take(blocks, valid)
	if !d.pays() {
		return nil, d.giveUp(blocks, valid)
	}
	blocks.Release(d.ctx)
	d.ctx.Features.Add(edition.NumberDictionaries)
	return finishDictionary(d.ctx, d.id, d.dict, &d.codes, f)
}

// bytesOf views numbers as byte strings.
func bytesOf[T numeric.Value](values []T) bytestring.Values {
	return bytestring.Values{Data: arrowutil.Bytes(values), Fixed: numeric.Of[T]().Size(), N: len(values)}
}
