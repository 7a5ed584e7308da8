package write

import (
	"github.com/amudai/amudai-go/dictionary"
	"github.com/amudai/amudai-go/encoding"
	"github.com/amudai/amudai-go/encoding/bytestring"
	"github.com/amudai/amudai-go/encoding/numeric"
	shardpb "github.com/amudai/amudai-go/gen/amudai/shard"
	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
	"github.com/amudai/amudai-go/internal/base/bitmap"
	"github.com/amudai/amudai-go/internal/format/arrowmap"
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
	codes.Brief = left <= dictionary.BriefRows
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

// numberDictionary is the value dictionary of a node of numbers or decimals. The first full stage decides whether it is begun: this stage is written as
// blocks in any case, whose size is that of all others without a dictionary, and all values are kept as codes as long as these are likely to be smaller.
type numberDictionary struct {
	ctx    *buffers.Context
	id     uint32
	blocks stagedBlocks
	make   func() *dictionary.Builder // nil once it is decided, and where there is never a dictionary

	dict  *dictionary.Builder // nil if there is none
	codes dictionary.Codes
	first int                 // values that are blocks, too
	size  int64               // of these blocks
	log   *buffers.FeatureLog // of these blocks
}

// stagedBlocks are the values of a node that are staged, and become blocks when the stage is full.
type stagedBlocks interface {
	// staged views the values that wait.
	staged() (bytestring.Values, bitmap.Bits)
	// flush writes those of a full stage as blocks.
	flush(c *buffers.Context) error
	// flushAtOnce is flush now, and tells the size of the values in blocks. The view of the stage is valid until drop.
	flushAtOnce(c *buffers.Context) (size int64, drop func(), err error)
	// restart forgets values behind the first stage, which were not added.
	restart()
	// add stages values, and flushes full stages.
	add(c *buffers.Context, v bytestring.Values, valid bitmap.Bits) error
}

// firstCodes is the number of values that may tell already that codes are too long.
const firstCodes = 8 << 10

// newNumberDictionary makes one for wide values in edition 2026, unless stages are short or the form of blocks is given. key is that of numbers.
func newNumberDictionary(c *buffers.Context, col *arrowmap.Column, blocks stagedBlocks, width int, key func(value []byte) uint64) numberDictionary {
	d := numberDictionary{ctx: c, id: col.ID, blocks: blocks}
	has := c.Encoding.Features.Has
	if has(edition.NumberDictionaries) && has(edition.PackedDictionaries) && c.Encoding.Profile != encoding.ProfilePlain &&
		width >= 4 && !c.NullsApart && c.Cut == 0 && c.Stage.Values >= 4*firstCodes {
		d.make = func() *dictionary.Builder {
			b := dictionary.NewBuilder(byte(col.Stored.Type), width)
			b.Budget, b.Packed, b.Key = c.Stage.Dictionary, true, key
			return b
		}
	}
	return d
}

// begin writes the first full stage of blocks, and begins the dictionary if that is likely to pay.
func (d *numberDictionary) begin() error {
	b := d.make()
	d.make = nil
	v, valid := d.blocks.staged()
	repeat, expected := dictionary.Repeats(v, valid)
	if !repeat {
		return d.blocks.flush(d.ctx)
	}
	d.log = &buffers.FeatureLog{Allowed: d.ctx.Features.Allowed}
	apart := *d.ctx
	apart.Features = d.log
	size, drop, err := d.blocks.flushAtOnce(&apart)
	defer drop()
	if err != nil {
		return err
	}
	b.Expect(expected)
	d.dict, d.first, d.size = b, v.N, size
	for from, to := 0, firstCodes; from < v.N; from, to = to, min(2*to, v.N) {
		d.add(v.Slice(from, to), valid.Slice(from, to))
		if b.CodesSize(int64(d.first)) > saving(size) {
			d.drop()
			return nil
		}
	}
	return nil
}

// add adds values to the codes.
func (d *numberDictionary) add(v bytestring.Values, valid bitmap.Bits) {
	mem := getScratch()
	defer mem.put()
	mem.ids = d.dict.AddAll(mem.ids[:0], v.Bytes(), nil, valid)
	d.codes.Append(mem.ids)
}

// stays reports whether the dictionary is still likely to pay.
func (d *numberDictionary) stays() bool {
	rows := d.codes.Len()
	return !d.dict.Full() && !d.dict.Unequal(int64(rows)) && (rows < 4*d.first || d.pays())
}

// pays reports whether the codes so far and their dictionary are smaller than blocks.
func (d *numberDictionary) pays() bool {
	rows := int64(d.codes.Len())
	return !d.dict.Full() && d.dict.KeepAgainst(rows, saving(d.size*rows/int64(d.first)))
}

// saving is the size that codes must not exceed to be worth their time, where blocks have some size.
func saving(size int64) int64 { return size * 7 / 8 }

// drop forgets the dictionary.
func (d *numberDictionary) drop() {
	d.ctx.Features.Merge(d.log)
	d.dict.Release()
	d.dict, d.codes = nil, dictionary.Codes{}
}

// giveUp writes the values of all codes but those of the first stage as blocks.
func (d *numberDictionary) giveUp() error {
	skip := d.first
	d.blocks.restart()
	err := d.codes.Each(func(ids []uint32) error {
		n := min(skip, len(ids))
		skip, ids = skip-n, ids[n:]
		return eachOf(d.dict, ids, func(v bytestring.Values, valid bitmap.Bits) error { return d.blocks.add(d.ctx, v, valid) })
	})
	d.drop()
	return err
}

// eachOf calls f with the values behind ids.
func eachOf(dict *dictionary.Builder, ids []uint32, f func(v bytestring.Values, valid bitmap.Bits) error) error {
	null, hasNull := dict.NullID()
	mem := getScratch()
	defer mem.put()
	v := bytestring.Values{Fixed: dict.Fixed(), Data: mem.data[:0], Offsets: append(mem.offsets[:0], 0), N: len(ids)}
	valid := bitmap.All(len(ids))
	if hasNull {
		valid.Data = make([]byte, (len(ids)+7)/8)
	}
	for i, id := range ids {
		if hasNull && id != null {
			bitmap.SetRange(valid.Data, i, 1)
		}
		v.Data = append(v.Data, dict.Value(id)...)
		v.Offsets = append(v.Offsets, int64(len(v.Data)))
	}
	mem.data, mem.offsets = v.Data, v.Offsets
	return f(v, valid)
}

// review gives up the dictionary behind a full stage if it is not likely to pay any more.
func (d *numberDictionary) review() error {
	if d.stays() {
		return nil
	}
	return d.giveUp()
}

// finish makes the buffers of codes and of the dictionary. Without one that pays, there are none, and all values are in blocks.
func (d *numberDictionary) finish(f *shardpb.FieldDescriptor, release func()) ([]stripe.Buffer, error) {
	if d.dict == nil {
		return nil, nil
	}
	if !d.pays() {
		return nil, d.giveUp()
	}
	release()
	d.ctx.Features.Add(edition.NumberDictionaries)
	defer d.dict.Release()
	return finishDictionary(d.ctx, d.id, d.dict, &d.codes, f)
}

// stagedNumbers are the stagedBlocks of numbers.
type stagedNumbers[T numeric.Value] struct {
	blocks *buffers.NumberBlocks[T]
	valid  *buffers.BitStage
}

func (s stagedNumbers[T]) staged() (bytestring.Values, bitmap.Bits) {
	return bytesOf(s.blocks.Values), s.valid.View()
}

func (s stagedNumbers[T]) flush(c *buffers.Context) error { return s.blocks.Flush(c, s.valid, false) }

func (s stagedNumbers[T]) flushAtOnce(c *buffers.Context) (int64, func(), error) {
	values, size, err := s.blocks.FlushAtOnce(c, s.valid)
	return size, func() { buffers.PutStage(values) }, err
}

func (s stagedNumbers[T]) restart() {} // they leave no trace

func (s stagedNumbers[T]) add(c *buffers.Context, v bytestring.Values, valid bitmap.Bits) error {
	for v.N > 0 {
		n := min(v.N, s.blocks.Room(c))
		copy(arrowutil.Bytes(s.blocks.Grow(c, n)), v.Bytes())
		s.valid.Append(valid.Slice(0, n))
		if err := s.flush(c); err != nil {
			return err
		}
		v, valid = v.Slice(n, v.N), valid.Slice(n, v.N)
	}
	return nil
}

// bytesOf views numbers as byte strings.
func bytesOf[T numeric.Value](values []T) bytestring.Values {
	return bytestring.Values{Data: arrowutil.Bytes(values), Fixed: numeric.Of[T]().Size(), N: len(values)}
}
