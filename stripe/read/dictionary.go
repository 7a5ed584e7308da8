package read

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/amudai/amudai-go/dictionary"
	"github.com/amudai/amudai-go/encoding/bytestring"
	"github.com/amudai/amudai-go/encoding/numeric"
	shardpb "github.com/amudai/amudai-go/gen/amudai/shard"
	"github.com/amudai/amudai-go/internal/base/bitmap"
	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/base/scratch"
	"github.com/amudai/amudai-go/internal/engine/rowset"
	"github.com/amudai/amudai-go/storage"
	"github.com/amudai/amudai-go/stripe"
	"github.com/amudai/amudai-go/stripe/blocks"
)

// valueDictionary is the value dictionary of a node, read when it is first
// needed. It is safe for concurrent use.
type valueDictionary struct {
	r          storage.Reader
	start, end int64
	valueType  byte
	fixed      int

	mu    sync.Mutex
	raw   []byte // its bytes until it is parsed, nil if they have to be read
	dict  *dictionary.Dictionary
	table *bytestring.Table
}

// dictionary finds the VALUE_DICTIONARY buffer; it reads nothing of it.
func (n *openNode) dictionary(ctx context.Context) (*valueDictionary, error) {
	b := n.find(shardpb.BufferKind_VALUE_DICTIONARY)
	if b == nil {
		return nil, fault.Corruptf("a dictionary size, but no value dictionary")
	}
	r, err := n.src.Artifact(ctx, n.col.ID, b.GetBuffer())
	if err != nil {
		return nil, err
	}
	size, err := r.Size(ctx)
	if err != nil {
		return nil, err
	}
	d := &valueDictionary{r: r, valueType: byte(n.col.Stored.Type), fixed: int(n.col.Stored.FixedSize)}
	if d.start, d.end, err = blocks.RangeOf(b.GetBuffer(), size); err != nil {
		return nil, fault.Of(fault.InBuffer(err, "VALUE_DICTIONARY", -1), r.Name())
	}
	if d.end-d.start > n.options.MaxDictionaryBytes {
		return nil, fault.Limitf("value dictionary of %d bytes", d.end-d.start)
	}
	d.raw = slices.Clone(n.options.Prefetched.Bytes(r, d.start, d.end-d.start))
	n.size += 4 * (d.end - d.start) // its values, and a table of them
	return d, nil
}

// load reads and checks the dictionary once; a failure is tried again next time.
func (d *valueDictionary) load(ctx context.Context) (*dictionary.Dictionary, *bytestring.Table, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.dict != nil {
		return d.dict, d.table, nil
	}
	raw, err := d.raw, error(nil)
	if raw == nil {
		raw = make([]byte, d.end-d.start)
		err = d.r.ReadAt(ctx, raw, d.start)
	}
	var dict *dictionary.Dictionary
	if err == nil {
		dict, err = dictionary.Parse(raw, d.valueType, uint32(d.fixed))
	}
	if err != nil {
		return nil, nil, fault.Of(fault.InBuffer(err, "VALUE_DICTIONARY", d.start), d.r.Name())
	}
	v := bytestring.Values{Data: dict.Data(), Fixed: d.fixed, N: dict.Len()}
	if d.fixed == 0 {
		v.Offsets = make([]int64, dict.Len()+1)
		for i, o := range dict.Offsets() {
			v.Offsets[i] = int64(o)
		}
	}
	d.dict, d.table, d.raw = dict, bytestring.NewTable(v), nil
	return d.dict, d.table, nil
}

// codesReader reads a node stored as codes of a value dictionary.
type codesReader[O int32 | int64] struct {
	*bytesReader[O]
	dict *valueDictionary
	// Of the entries, once they were needed.
	entryArray atomic.Pointer[arrow.Array]
	viewTable  atomic.Pointer[bytestring.Table]
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
	var c *bytesColumn[O]
	if length := table.Same(); r.fixed == 0 && length >= 0 && length <= mostShared {
		c, err = r.newEqualColumn(w, int(n), length, hasNull)
	} else {
		c, err = r.newColumn(w, int(n), int64(r.expected(table))*n, hasNull)
	}
	if err != nil {
		return nil, err
	}
	err = each(func(at int, codes []uint32) error {
		if hasNull {
			c.nulls += putCodes(c.valid.Bytes(), at, codes, null)
		}
		return r.gather(table, codes, c, at)
	})
	if err == nil {
		err = r.data.Wrap(checkNulls(c.nulls, r.nulls))
	}
	if err != nil {
		releaseAll(c.offsets, c.data, c.valid)
		return nil, err
	}
	return c.array(r.dt, int(n)), nil
}

// expected is what to reserve for a value: as much as the longest takes, if that
// is not much more than they have on average, for then nothing need be summed up.
func (r *codesReader[O]) expected(table *bytestring.Table) int {
	if longest := table.Longest(); longest <= 2*r.mean+8 {
		return longest
	}
	return r.mean
}

// gather appends the values of codes.
func (r *codesReader[O]) gather(table *bytestring.Table, codes []uint32, c *bytesColumn[O], at int) error {
	dst := c.free(table.Bound(len(codes)))
	if dst == nil {
		size, err := table.Size(codes)
		if err != nil {
			return err
		}
		if size > uint64(c.limit) {
			return stripe.ErrBatchTooLarge
		}
		if dst, err = c.room(int(size)); err != nil {
			return err
		}
	}
	var ends []O
	if c.ends != nil {
		ends = c.ends[at : at+len(codes)]
	}
	n, err := bytestring.Gather(table, dst, ends, O(c.size), codes)
	c.size += n
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
