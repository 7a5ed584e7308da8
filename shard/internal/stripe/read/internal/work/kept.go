package work

import (
	"cmp"
	"math/bits"
	"reflect"
	"slices"
	"sync/atomic"

	"github.com/amudai/amudai-go/encoding/bytestring"
	"github.com/amudai/amudai-go/internal/base/lru"
	"github.com/amudai/amudai-go/shard/internal/stripe/blocks"
)

// Kept are blocks of byte strings that were parsed to read few rows of them or to search them, for the next such read: parsing a block of log lines takes a
// hundred times as long as making a line, and ten times as long as deciding about its patterns. A block is kept when it is asked for the second time, so that
// reads here and there keep nothing. Many goroutines may use it, of which one at a time has a block. A nil Kept keeps nothing.
type Kept struct {
	cache   *lru.Cache[any, any] // of *keptBlock by keptKey, nil for a block that was asked for once
	most    int64                // bytes of a block
	last    atomic.Uint64        // number of a buffer
	largest atomic.Int64         // bytes of a block so far
	refused atomic.Int64
}

type keptKey struct{ buffer, first uint64 }

// keptBlock is a block with all memory that it refers to.
type keptBlock struct {
	block  *bytestring.Block
	memory bytestring.Scratch
	raw    []byte
	uses   uint
	size   int64
}

// NewKept keeps blocks of up to most bytes in a cache, which may have other things, too.
func NewKept(cache *lru.Cache[any, any], most int64) *Kept { return &Kept{cache: cache, most: most} }

// Buffer is a number for the blocks of one more buffer.
func (k *Kept) Buffer() uint64 {
	if k == nil {
		return 0
	}
	return k.last.Add(1)
}

// Parsed is a read of a buffer that keeps the blocks it parses, in a Kept that may be nil.
type Parsed struct {
	Kept   *Kept
	Buffer uint64 // its number in Kept

	key   keptKey
	block *keptBlock // taken out of Kept
	asked bool       // it was asked for before
}

// Known reports whether the block of a part is kept, and takes it out.
func (f *Parsed) Known(p *blocks.Part) bool {
	if f.Kept != nil {
		f.key = keptKey{f.Buffer, p.First}
		var v any
		v, f.asked = f.Kept.cache.Remove(f.key)
		f.block, _ = v.(*keptBlock)
	}
	return f.block != nil
}

// Use calls use with the block of the part that Known was asked about, and keeps it. If it was not kept, parse parses its bytes, in the caller's own memory
// unless it will be kept.
func (f *Parsed) Use(raw []byte, own *bytestring.Scratch, parse func([]byte, *bytestring.Scratch) (*bytestring.Block, error), use func(*bytestring.Block) error) (err error) {
	k := f.block
	if k == nil {
		k = &keptBlock{}
		if f.asked && f.Kept.admits() {
			k.raw = slices.Clone(raw)
			raw, own = k.raw, &k.memory
		}
		if k.block, err = parse(raw, own); err != nil {
			return err
		}
	}
	if err = use(k.block); err != nil || f.Kept == nil {
		return err
	}
	if k.raw == nil { // its memory is the caller's
		k = nil
	}
	f.Kept.put(f.key, k)
	return nil
}

// admits reports whether one more block is to be kept: if others are to go for it, seldom, as more blocks than there is room for are better not kept in turn.
func (k *Kept) admits() bool {
	const every = 32
	return k.cache.Room() > k.largest.Load() || k.refused.Add(1)%every == 0
}

// put keeps a block, or that it was asked for if b is nil.
func (k *Kept) put(key keptKey, b *keptBlock) {
	const mark = 128
	size := int64(mark)
	if b != nil {
		if b.uses++; bits.OnesCount(b.uses) == 1 { // its memory grows with the values that were asked for
			b.size = mark + sizeOf(b)
			k.largest.Store(max(k.largest.Load(), b.size))
		}
		if size = b.size; size > k.most {
			b, size = nil, mark
		}
	}
	k.cache.Put(key, b, size)
}

// span is memory from an address up to another.
type span struct{ from, to uintptr }

// sizeOf is the bytes of memory that a value refers to. Parts of an array that several slices share count once.
func sizeOf(v any) (n int64) {
	all := spansOf(nil, reflect.ValueOf(v), map[span]bool{})
	slices.SortFunc(all, func(a, b span) int { return cmp.Compare(a.from, b.from) })
	end := uintptr(0)
	for _, s := range all {
		if s.to > end {
			n += int64(s.to - max(s.from, end))
			end = s.to
		}
	}
	return n
}

func spansOf(dst []span, v reflect.Value, seen map[span]bool) []span {
	add := func(size uintptr) bool {
		s := span{v.Pointer(), v.Pointer() + size}
		if size == 0 || seen[s] {
			return false
		}
		seen[s], dst = true, append(dst, s)
		return true
	}
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() && add(v.Type().Elem().Size()) {
			return spansOf(dst, v.Elem(), seen)
		}
	case reflect.Interface:
		return spansOf(dst, v.Elem(), seen)
	case reflect.Struct:
		for i := range v.NumField() {
			dst = spansOf(dst, v.Field(i), seen)
		}
	case reflect.Slice, reflect.Array:
		elem := v.Type().Elem()
		if v.Kind() == reflect.Slice && !add(uintptr(v.Cap())*elem.Size()) || elem.Kind() <= reflect.Complex128 {
			return dst
		}
		for i := range min(v.Len(), 1024) { // more are of small values
			dst = spansOf(dst, v.Index(i), seen)
		}
	}
	return dst
}
