package chunk

import (
	"context"
	"sync"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
	"github.com/amudai/amudai-go/internal/base/bitmap"
	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/base/parallel"
)

// dictionary has the distinct values of a chunk.
type dictionary struct {
	n    int
	data []byte  // of Arrow values; byte strings are followed by padding
	ends []int32 // of byte strings, behind a zero

	mu     sync.Mutex
	arrays map[entriesKey]arrow.Array
}

// entriesKey identifies an array of the entries.
type entriesKey struct {
	t     string
	nulls int
}

// held is the dictionary of a chunk, as long as somebody reads it.
type held = parallel.Once[*dictionary]

// dict reads the dictionary of the chunk, once. It is nil if there is none.
func (c *Chunk) dict(ctx context.Context, s *Scalar, in input) (*dictionary, error) {
	return in.held.Get(ctx, func() (*dictionary, error) {
		key := chunkKey{c.Group, c.Leaf}
		if d, known := c.Source.dictionaries.Get(key); known {
			return d, nil
		}
		d, err := c.readDictionary(ctx, s, in)
		if err != nil {
			return nil, fault.In(err, "dictionary", c.From)
		}
		if in.keep {
			c.Source.dictionaries.Put(key, d, d.size())
		}
		return d, nil
	})
}

// size is the memory that a dictionary takes, in bytes, with an array of its entries.
func (d *dictionary) size() int64 {
	if d == nil {
		return pageOverhead
	}
	return int64(2*cap(d.data)+8*cap(d.ends)) + pageOverhead
}

func (c *Chunk) readDictionary(ctx context.Context, s *Scalar, in input) (*dictionary, error) {
	if c.Rows == 0 || s.isBool() {
		return nil, nil
	}
	h, err := c.Source.pageHeaderAt(ctx, in.have, c.From, c.End)
	if err != nil || h.kind != pageDictionary {
		return nil, err
	}
	b, err := c.Source.BytesAt(ctx, in.have, c.From+int64(h.size), h.encoded)
	if err != nil {
		return nil, err
	}
	if h.encoding != plain && h.encoding != plainDictionary {
		return nil, fault.Corruptf("a dictionary of encoding %d", h.encoding)
	}
	in.counters.AddBlock(pageKey{c.Group, c.Leaf, -1}, h.encoded)
	data, err := c.decompress(&h, b)
	if err != nil {
		return nil, err
	}
	d, err := s.dictionary(data[:len(data)-padding], int(h.values))
	if err == nil && s.Storage.ID() == arrow.STRING && !arrowutil.ValidUTF8(d.data, d.ends) {
		return nil, errText
	}
	return d, err
}

// dictionary makes the dictionary of n plain values, which are followed by padding, and whose memory it takes over.
func (s *Scalar) dictionary(plain []byte, n int) (*dictionary, error) {
	d := &dictionary{n: n}
	least := s.width
	if s.isBytes() {
		least = 4 // of the length
	}
	if int64(n)*int64(least) > int64(len(plain)) {
		return nil, fault.Corruptf("%d values in %d bytes", n, len(plain))
	}
	if int64(n)*int64(s.bytes) > maxPageBytes {
		return nil, fault.Limitf("a dictionary of %d values exceeds configured limit %d of bytes", n, maxPageBytes)
	}
	if !s.isBytes() {
		d.data = plain[:n*s.width]
		if s.converts() {
			d.data = make([]byte, n*s.bytes)
			s.toArrow(d.data, plain)
		}
		return d, nil
	}
	d.ends = make([]int32, n+1)
	size, _, err := textEnds(d.ends[1:], 0, plain, 0)
	if err != nil {
		return nil, err
	}
	d.data = make([]byte, size+padding)[:size]
	copyPlain(d.data[:size+padding], 0, d.ends[1:], plain, 0)
	return d, nil
}

// entries are the values as an array, with some nulls at the end. The caller releases it.
func (d *dictionary) entries(mem memory.Allocator, s *Scalar, nulls int) arrow.Array {
	n := d.n + nulls
	var buffers []*memory.Buffer
	if nulls > 0 {
		buffers = append(buffers, arrowutil.NewZeroBuffer(mem, (n+7)/8))
		bitmap.SetRange(buffers[0].Bytes(), 0, d.n)
	} else {
		buffers = append(buffers, nil)
	}
	size := n * s.bytes
	if s.isBytes() {
		ends := arrowutil.NewBuffer(mem, 4*(n+1))
		to := arrowutil.As[int32](ends.Bytes())
		for i := copy(to, d.ends); i <= n; i++ {
			to[i] = to[d.n]
		}
		buffers, size = append(buffers, ends), len(d.data)
	}
	values := arrowutil.NewZeroBuffer(mem, size)
	copy(values.Bytes(), d.data)
	return s.extended(arrowutil.Make(s.Storage, n, append(buffers, values), nil, nulls))
}
