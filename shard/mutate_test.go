package shard_test

import (
	"bytes"
	"encoding/binary"
	"math"
	"slices"

	"google.golang.org/protobuf/proto"

	"github.com/amudai/amudai-go/encoding"
	commonpb "github.com/amudai/amudai-go/gen/amudai/common"
	shardpb "github.com/amudai/amudai-go/gen/amudai/shard"
)

// choices turns bytes, of a fuzzer or random ones, into decisions. After the last byte all
// decisions are 0.
type choices []byte

func (c *choices) byte() byte {
	if len(*c) == 0 {
		return 0
	}
	b := (*c)[0]
	*c = (*c)[1:]
	return b
}

// below returns a number from 0 up to, but not including, n. It returns 0 if n is 0.
func (c *choices) below(n int) int {
	if n <= 1 {
		return 0
	}
	v := int(c.byte())
	if n > 256 {
		v |= int(c.byte())<<8 | int(c.byte())<<16
	}
	return v % n
}

func (c *choices) take(n int) []byte {
	n = min(n, len(*c))
	b := (*c)[:n:n]
	*c = (*c)[n:]
	return slices.Clone(b)
}

// number is a number near v, or an extreme one.
func (c *choices) number(v uint64) uint64 {
	switch k := c.byte(); k % 8 {
	case 0:
		return v + uint64(k>>3)%4
	case 1:
		return v - uint64(k>>3)%4
	case 2:
		return []uint64{0, 1, 255, 256, 65535, 65536, 1 << 20, math.MaxInt32, math.MaxUint32, 1 << 32, 1 << 40, 1 << 62, math.MaxInt64, 1 << 63, math.MaxUint64}[c.below(15)]
	case 3:
		return v * 2
	case 4:
		return v / 2
	case 5:
		return uint64(c.byte())
	case 6:
		return v ^ 1<<(c.byte()%64)
	}
	return v + 1<<(c.byte()%64)
}

// mutate changes parts of a shard by choices. other returns another shard, whose parts may be moved into this one.
func mutate(c *choices, p *Parts, other func(i int) *Parts) {
	for range 8 {
		if len(*c) == 0 {
			return
		}
		m := mutation{c, p, other}
		switch k := c.byte(); {
		case k < 170:
			m.buffer()
		case k < 220:
			m.field()
		case k < 235:
			m.root()
		default:
			m.move()
		}
	}
}

type mutation struct {
	c     *choices
	p     *Parts
	other func(i int) *Parts
}

func pick[T any](c *choices, list []T) (v T, ok bool) {
	if len(list) == 0 {
		return v, false
	}
	return list[c.below(len(list))], true
}

func (m mutation) pickField(p *Parts) *Field {
	s, ok := pick(m.c, p.Stripes)
	if !ok {
		return nil
	}
	f, _ := pick(m.c, s.Fields)
	return f
}

func (m mutation) pickBuffer(p *Parts) *Buffer {
	f := m.pickField(p)
	if f == nil {
		return nil
	}
	b, _ := pick(m.c, f.Buffers)
	return b
}

// edit changes bytes: their values, more often those at the start.
func (m mutation) edit(b []byte) []byte {
	if len(b) == 0 {
		return m.c.take(8)
	}
	at := m.c.below(len(b))
	if k := m.c.byte(); k < 160 {
		at = m.c.below(min(len(b), 48))
	} else if k > 250 {
		return b[:at]
	}
	switch k := m.c.byte() % 8; k {
	case 0, 1:
		b[at] ^= 1 << (m.c.byte() % 8)
	case 2, 3:
		b[at] = m.c.byte()
	case 4:
		copy(b[at:], binary.LittleEndian.AppendUint32(nil, uint32(m.c.number(0))))
	case 5:
		copy(b[at:], binary.LittleEndian.AppendUint64(nil, m.c.number(0)))
	case 6:
		b = slices.Insert(b, at, m.c.take(int(m.c.byte()%16))...)
	case 7:
		b = slices.Delete(b, at, min(len(b), at+int(m.c.byte()%16)))
	}
	return b
}

// buffer changes blocks, block maps, dictionaries and the descriptor of a buffer.
func (m mutation) buffer() {
	b := m.pickBuffer(m.p)
	if b == nil {
		return
	}
	k := m.c.byte() % 16
	switch {
	case k < 8 && len(b.Blocks) > 0:
		i := m.c.below(len(b.Blocks))
		b.Blocks[i].Bytes = m.edit(b.Blocks[i].Bytes)
	case k < 8:
		b.Raw = m.edit(b.Raw)
	case k == 8 && len(b.Blocks) > 0:
		i := m.c.below(len(b.Blocks))
		b.Blocks[i].N = int(min(m.c.number(uint64(b.Blocks[i].N)), math.MaxInt32))
	case k == 9 && len(b.Blocks) > 0:
		i := m.c.below(len(b.Blocks))
		b.Blocks = slices.Insert(b.Blocks, i, b.Blocks[i])
	case k == 10 && len(b.Blocks) > 0:
		i := m.c.below(len(b.Blocks))
		b.Blocks = slices.Delete(b.Blocks, i, i+1)
	case k == 11 && len(b.Blocks) > 0:
		b.Map = m.edit(mapOf(b))
	case k == 12:
		b.Desc.BlockChecksums = !b.Desc.BlockChecksums
	case k == 13:
		b.Desc.EmbeddedPresence = !b.Desc.EmbeddedPresence
	case k == 14:
		b.Desc.Kind = shardpb.BufferKind(m.c.below(8))
	default:
		m.ranges(b)
	}
}

// mapOf returns the block map that Join would make.
func mapOf(b *Buffer) []byte {
	var m encoding.BlockMapBuilder
	for _, p := range b.Blocks {
		if p.N > 0 && len(p.Bytes) > 0 {
			m.Add(p.N, len(p.Bytes))
		}
	}
	return m.Append(nil)
}

func (m mutation) ranges(b *Buffer) {
	c := *m.c
	m.c.take(4)
	b.Edit = func(d *shardpb.EncodedBuffer) {
		c := c
		r := d.Buffer.Range
		if d.BlockMap != nil && c.byte()%2 == 0 {
			r = d.BlockMap.Range
		}
		if c.byte()%2 == 0 {
			r.Start = c.number(r.Start)
		} else {
			r.End = c.number(r.End)
		}
	}
}

// field changes the descriptor of a schema node in a stripe.
func (m mutation) field() {
	f := m.pickField(m.p)
	if f == nil || f.Raw != nil {
		return
	}
	d := f.Desc.Field
	set := func(v **uint64) {
		if *v != nil && m.c.byte()%8 == 0 {
			*v = nil
			return
		}
		var old uint64
		if *v != nil {
			old = **v
		}
		n := m.c.number(old)
		*v = &n
	}
	switch m.c.byte() % 12 {
	case 0, 1:
		d.PositionCount = m.c.number(d.PositionCount)
	case 2, 3:
		set(&d.NullCount)
	case 4:
		set(&d.DictionarySize)
	case 5:
		set(&d.RawDataSize)
	case 6:
		d.ConstantValue = m.value()
	case 7:
		d.RangeStats = &shardpb.RangeStats{MinValue: m.value(), MaxValue: m.value()}
	case 8:
		if h := d.GetCardinality().GetHllSketch(); h != nil {
			h.BitsPerIndex = uint32(m.c.number(uint64(h.BitsPerIndex)))
			h.Counters = m.edit(h.Counters)
		}
		if s := d.GetMembershipFilters().GetSbbf(); s != nil {
			s.NumBlocks = m.c.number(s.NumBlocks)
			s.Data = m.edit(s.Data)
		}
	case 9:
		f.Buffers = nil
	default:
		if raw, err := proto.Marshal(f.Desc); err == nil {
			f.Raw = m.edit(raw)
		}
	}
}

// value is a value of any kind.
func (m mutation) value() *commonpb.AnyValue {
	switch m.c.byte() % 9 {
	case 0:
		return nil
	case 1:
		return &commonpb.AnyValue{Kind: &commonpb.AnyValue_NullValue{NullValue: &commonpb.UnitValue{}}}
	case 2:
		return &commonpb.AnyValue{Kind: &commonpb.AnyValue_BoolValue{BoolValue: true}}
	case 3:
		return &commonpb.AnyValue{Kind: &commonpb.AnyValue_I64Value{I64Value: int64(m.c.number(0))}}
	case 4:
		return &commonpb.AnyValue{Kind: &commonpb.AnyValue_U64Value{U64Value: m.c.number(0)}}
	case 5:
		return &commonpb.AnyValue{Kind: &commonpb.AnyValue_DoubleValue{DoubleValue: math.Float64frombits(m.c.number(0))}}
	case 6:
		return &commonpb.AnyValue{Kind: &commonpb.AnyValue_StringValue{StringValue: "text"}}
	case 7:
		return &commonpb.AnyValue{Kind: &commonpb.AnyValue_BytesValue{BytesValue: m.c.take(m.c.below(20))}}
	}
	return &commonpb.AnyValue{Kind: &commonpb.AnyValue_DecimalValue{DecimalValue: bytes.Repeat(m.c.take(1), 16)}}
}

// root changes schema, counts and the other messages of the shard.
func (m mutation) root() {
	p := m.p
	switch m.c.byte() % 12 {
	case 0, 1, 2:
		p.Schema = m.edit(p.Schema)
	case 3:
		p.Properties = m.edit(p.Properties)
	case 4:
		if len(p.Fields) > 0 {
			i := m.c.below(len(p.Fields))
			p.Fields[i] = m.edit(p.Fields[i])
		}
	case 5:
		p.Fields = slices.Delete(p.Fields, 0, min(1, len(p.Fields)))
	case 6:
		p.Directory.TotalRecordCount = m.c.number(p.Directory.TotalRecordCount)
	case 7:
		p.Directory.StripeCount = m.c.number(p.Directory.StripeCount)
	default:
		if s, ok := pick(m.c, p.Stripes); ok {
			m.stripe(s)
		}
	}
}

func (m mutation) stripe(s *Stripe) {
	switch m.c.byte() % 6 {
	case 0, 1: // rows, everywhere the same
		s.Directory.TotalRecordCount = m.c.number(s.Directory.TotalRecordCount)
		count(m.p)
	case 2:
		s.Directory.ShardPosition = m.c.number(s.Directory.ShardPosition)
	case 3:
		if len(s.Fields) > 0 {
			s.Fields[m.c.below(len(s.Fields))] = nil
		}
	case 4:
		s.Fields = s.Fields[:m.c.below(len(s.Fields)+1)]
	case 5:
		s.Properties = m.edit(s.Properties)
	}
}

// count makes the directories agree on stripes and rows.
func count(p *Parts) {
	p.Directory.TotalRecordCount = 0
	for _, s := range p.Stripes {
		s.Directory.ShardPosition = p.Directory.TotalRecordCount
		p.Directory.TotalRecordCount += s.Directory.TotalRecordCount
	}
	p.Directory.StripeCount = uint64(len(p.Stripes))
}

// move puts parts in wrong places.
func (m mutation) move() {
	from := m.p
	if m.c.byte()%2 == 0 {
		from = m.other(int(m.c.byte()))
	}
	switch m.c.byte() % 5 {
	case 0:
		m.p.Schema = from.Schema
	case 1:
		if f, g := m.pickField(m.p), m.pickField(from); f != nil && g != nil {
			f.Buffers = g.Buffers
		}
	case 2:
		if s, ok := pick(m.c, m.p.Stripes); ok && len(s.Fields) > 0 {
			s.Fields[m.c.below(len(s.Fields))] = m.pickField(from)
		}
	case 3:
		if f, b := m.pickField(m.p), m.pickBuffer(from); f != nil && b != nil {
			f.Buffers = append(f.Buffers, b)
		}
	case 4:
		if s, ok := pick(m.c, from.Stripes); ok {
			s := *s
			s.Directory = proto.CloneOf(s.Directory)
			m.p.Stripes = append(m.p.Stripes, &s)
			count(m.p)
		}
	}
}
