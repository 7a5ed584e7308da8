package read

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/amudai/amudai-go/dictionary"
	"github.com/amudai/amudai-go/encoding/bytestring/vector"
	"github.com/amudai/amudai-go/encoding/numeric"
	shardpb "github.com/amudai/amudai-go/gen/amudai/shard"
	"github.com/amudai/amudai-go/internal/base/bitmap"
	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/base/scratch"
	"github.com/amudai/amudai-go/internal/engine/rowset"
	"github.com/amudai/amudai-go/storage"
	"github.com/amudai/amudai-go/stripe"
	"github.com/amudai/amudai-go/stripe/blocks"
	"github.com/amudai/amudai-go/stripe/read/internal/build"
)

// StoredDictionary is a VALUE_DICTIONARY buffer that is not read yet.
type StoredDictionary struct {
	reader      storage.Reader
	start, size int64 // in bytes
	node        Node
	positions   uint64 // of the node: there are no more entries, but for one of null
}

// OpenDictionary finds a VALUE_DICTIONARY buffer of a node of so many positions; it reads
// nothing of it. One of more than Options.MaxDictionaryBytes is an error.
func OpenDictionary(ctx context.Context, src stripe.Source, node Node, b *shardpb.EncodedBuffer, positions uint64, o Options) (*StoredDictionary, error) {
	o.setDefaults()
	r, err := src.Artifact(ctx, node.ID, b.GetBuffer())
	if err != nil {
		return nil, err
	}
	size, err := r.Size(ctx)
	if err != nil {
		return nil, err
	}
	s := &StoredDictionary{reader: r, node: node, positions: positions}
	start, end, err := blocks.RangeOf(b.GetBuffer(), size)
	if err != nil {
		return nil, s.wrap(err)
	}
	if s.start, s.size = start, end-start; s.size > o.MaxDictionaryBytes {
		return nil, s.wrap(fault.Limitf("value dictionary of %d bytes", s.size))
	}
	return s, nil
}

// wrap adds the buffer and its artifact to an error.
func (s *StoredDictionary) wrap(err error) error {
	return fault.Of(fault.InBuffer(err, shardpb.BufferKind_VALUE_DICTIONARY.String(), s.start), s.reader.Name())
}

// Read reads and checks the dictionary. Its start is looked at before the rest is read, and
// memory grows with the bytes that arrive. raw are the bytes that were read, also with an
// error of what they are.
func (s *StoredDictionary) Read(ctx context.Context) (raw []byte, d *dictionary.Dictionary, err error) {
	raw, err = storage.ReadRange(ctx, s.reader, s.start, min(s.size, dictionary.StartLen))
	if err != nil {
		return nil, nil, s.wrap(err)
	}
	needed, err := s.checkStart(raw)
	if err != nil {
		return raw, nil, s.wrap(err)
	}
	if raw, err = storage.ReadRange(ctx, s.reader, s.start, needed); err != nil {
		return nil, nil, s.wrap(err)
	}
	d, err = dictionary.Parse(raw, byte(s.node.Type), s.node.FixedSize)
	return raw, d, s.wrap(err)
}

// parse is Read of bytes that were read before, all of the buffer.
func (s *StoredDictionary) parse(raw []byte) (*dictionary.Dictionary, error) {
	if _, err := s.checkStart(raw[:min(len(raw), dictionary.StartLen)]); err != nil {
		return nil, s.wrap(err)
	}
	d, err := dictionary.Parse(raw, byte(s.node.Type), s.node.FixedSize)
	return d, s.wrap(err)
}

// checkStart checks the first bytes, and says how many the dictionary needs.
func (s *StoredDictionary) checkStart(b []byte) (size int64, err error) {
	start, err := dictionary.ParseStart(b, s.size, byte(s.node.Type), s.node.FixedSize)
	if err == nil && uint64(start.Entries) > s.positions+1 {
		err = fault.Corruptf("value dictionary of %d entries for %d positions", start.Entries, s.positions)
	}
	return start.Size, err
}

// valueDictionary is the value dictionary of a node, read when it is first
// needed. It is safe for concurrent use.
type valueDictionary struct {
	at *StoredDictionary

	mu    sync.Mutex
	raw   []byte // its bytes until it is parsed, nil if they have to be read
	dict  *dictionary.Dictionary
	table *vector.Table
}

// dictionary finds the VALUE_DICTIONARY buffer; it reads nothing of it.
func (n *openNode) dictionary(ctx context.Context) (*valueDictionary, error) {
	b := n.find(shardpb.BufferKind_VALUE_DICTIONARY)
	if b == nil {
		return nil, fault.Corruptf("a dictionary size, but no value dictionary")
	}
	node := Node{n.col.ID, n.col.Stored.Type, n.col.Stored.FixedSize}
	at, err := OpenDictionary(ctx, n.src, node, b, n.field.GetPositionCount(), n.options)
	if err != nil {
		return nil, err
	}
	n.size += 4 * at.size // its values, and a table of them
	return &valueDictionary{at: at, raw: slices.Clone(n.options.Prefetched.Bytes(at.reader, at.start, at.size))}, nil
}

// load reads and checks the dictionary once; a failure is tried again next time.
func (d *valueDictionary) load(ctx context.Context) (*dictionary.Dictionary, *vector.Table, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.dict != nil {
		return d.dict, d.table, nil
	}
	var dict *dictionary.Dictionary
	var err error
	if d.raw != nil {
		dict, err = d.at.parse(d.raw)
	} else {
		_, dict, err = d.at.Read(ctx)
	}
	if err != nil {
		return nil, nil, err
	}
	v := vector.Values{Data: dict.Data(), Fixed: dict.Fixed(), N: dict.Len()}
	if dict.Fixed() == 0 {
		v.Offsets = make([]int64, dict.Len()+1)
		for i, o := range dict.Offsets() {
			v.Offsets[i] = int64(o)
		}
	}
	d.dict, d.table, d.raw = dict, vector.NewTable(v), nil
	return d.dict, d.table, nil
}

// codesReader reads a node stored as codes of a value dictionary.
type codesReader[O int32 | int64] struct {
	*bytesReader[O]
	dict *valueDictionary
	// Of the entries, once they were needed.
	entryArray atomic.Pointer[arrow.Array]
	viewTable  atomic.Pointer[vector.Table]
}

// codes gives the codes of the rows of a block that are needed; they are valid until
// others are asked for.
func (r *codesReader[O]) codes(w *worker, p *blocks.Part, block []byte) ([]uint32, error) {
	if p.Sparse() {
		codes := scratch.Slice(&w.codes, p.Count)
		_, err := numeric.DecodeRows(codes, nil, 0, block, p.N, p.Rows, r.data.Options, &w.numeric)
		return codes, err
	}
	codes := scratch.Slice(&w.codes, p.N)
	if _, err := numeric.DecodeBlock(codes, nil, 0, block, r.data.Options, &w.numeric); err != nil {
		return nil, err
	}
	if p.Whole() {
		return codes, nil
	}
	rowset.Pick(codes, codes, p.Rows) // they move to the front
	return codes[:p.Count], nil
}

func (r *codesReader[O]) read(ctx context.Context, w *worker, rows rowset.Set) (arrow.Array, error) {
	return r.build(ctx, w, rows.Len(), func(put func(at int, codes []uint32) error) error {
		return r.data.Each(ctx, &w.Scratch, rows, func(p *blocks.Part, block []byte) error {
			codes, err := r.codes(w, p, block)
			if err != nil {
				return err
			}
			return put(p.At, codes)
		})
	})
}

// repeat makes an array of n times the value of a code.
func (r *codesReader[O]) repeat(ctx context.Context, w *worker, code uint32, n int64) (arrow.Array, error) {
	return r.build(ctx, w, n, func(put func(at int, codes []uint32) error) error {
		codes := scratch.Slice(&w.codes, 1024)
		for i := range codes {
			codes[i] = code
		}
		for at := 0; at < int(n); at += len(codes) {
			if err := put(at, codes[:min(len(codes), int(n)-at)]); err != nil {
				return err
			}
		}
		return nil
	})
}

// build makes an array of the values of n codes, which each puts in order.
func (r *codesReader[O]) build(ctx context.Context, w *worker, n int64, each func(put func(at int, codes []uint32) error) error) (arrow.Array, error) {
	dict, table, err := r.dict.load(ctx)
	if err != nil {
		return nil, err
	}
	null, hasNull := dict.NullID()
	var c *build.Bytes[O]
	if length := table.Same(); r.fixed == 0 && length >= 0 && length <= build.MaxEqual {
		c, err = build.NewEqual[O](w.limit(), int(n), length, hasNull)
	} else {
		c, err = build.NewBytes[O](w.limit(), int(n), r.fixed, int64(r.expected(table))*n, hasNull)
	}
	if err != nil {
		return nil, err
	}
	err = each(func(at int, codes []uint32) error {
		if hasNull {
			c.Nulls += putCodes(c.Bits(), at, codes, null)
		}
		return r.gather(w, table, codes, c, at)
	})
	if err == nil {
		err = r.data.Wrap(checkNulls(c.Nulls, r.nulls))
	}
	if err != nil {
		c.Release()
		return nil, err
	}
	return c.Array(r.dt, int(n)), nil
}

// expected is what to reserve for a value: as much as the longest takes, if that
// is not much more than they have on average, for then nothing need be summed up.
func (r *codesReader[O]) expected(table *vector.Table) int {
	if longest := table.Longest(); longest <= 2*r.mean+8 {
		return longest
	}
	return r.mean
}

// gather appends the values of codes.
func (r *codesReader[O]) gather(w *worker, table *vector.Table, codes []uint32, c *build.Bytes[O], at int) error {
	dst := c.Free(table.Bound(len(codes)))
	if dst == nil {
		size, err := table.Size(codes)
		if err != nil {
			return err
		}
		if size > uint64(w.options.MaxArrayBytes) {
			return fault.ErrBatchTooLarge
		}
		if dst, err = c.Room(int(size)); err != nil {
			return err
		}
	}
	n, err := vector.Gather(table, dst, c.Ends(at, len(codes)), c.Size(), codes)
	c.Grow(n)
	return err
}

// putCodes writes a validity bit a code, clear for the null code, and counts
// the nulls.
func putCodes(bits []byte, at int, codes []uint32, null uint32) (nulls int) {
	for i := 0; i < len(codes); i += 64 {
		part := codes[i:min(i+64, len(codes))]
		word := uint64(0)
		for k, code := range part {
			if code != null {
				word |= 1 << k
			} else {
				nulls++
			}
		}
		bitmap.PutWord(bits, at+i, word, len(part))
	}
	return nulls
}
