package write

import (
	"io"

	"github.com/zeebo/xxh3"

	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
	"github.com/amudai/amudai-go/internal/base/bitmap"
	"github.com/amudai/amudai-go/rntuple/internal/column"
	"github.com/amudai/amudai-go/rntuple/internal/compress"
	"github.com/amudai/amudai-go/storage"
)

// A col takes the elements of a column. They are staged until there is a page of them, then encoded and
// spooled until the cluster ends. One goroutine at a time uses it.
type col struct {
	id     uint32
	typ    column.Type
	bits   uint16
	kind   column.Kind // of staged elements; 0 for switches, which are staged as they are stored
	codec  column.Codec
	unit   int // bytes of a staged element, 0 for bits
	first  int64
	length int // elements of a page, a multiple of 64

	buf    []byte // staged elements
	n      int
	pages  []page
	spool  *storage.Spool
	count  int64 // elements of the cluster, staged ones included
	raw    int64 // bytes of the cluster's pages, unpacked
	packed int64
	packer packer       // of the next pages
	packs  int          // pages that were packed, of all clusters
	digest *xxh3.Hasher // of the cluster's elements, if a projection shows them; a projection has this and no pages
	shadow bool
}

// A page is encoded.
type page struct {
	checksum uint64 // of its stored bytes
	offset   int64  // in the spool
	size     int
	raw      int
	elements int
}

// An encoder has the memory to encode pages. One goroutine at a time uses it.
type encoder struct {
	page          []byte
	packed, other []byte
	z             *compress.Encoder
	fast          *compress.Encoder // of the same algorithm, or nil
}

// fastZstd is the fastest level of Zstandard. Numbers whose bytes of equal place lie together often become no
// larger by it, because they have few repeats to search for.
const fastZstd compress.Settings = 501

func newEncoder(s compress.Settings) (e *encoder, err error) {
	e = &encoder{}
	if e.z, err = compress.NewEncoder(s); err == nil && s.Algorithm() == compress.Zstd && s > fastZstd {
		e.fast, err = compress.NewEncoder(fastZstd)
	}
	return e, err
}

// trialPages is the number of pages of a column after which all packers are tried again.
const trialPages = 16

// A packer is a way to pack pages.
type packer uint8

const (
	byLevel  packer = iota // that the settings ask for
	byFast                 // the fastest level
	byPlanes               // bytes of equal place on their own
)

// pack packs a page. From time to time all packers do, and that of the best page packs those that follow. The fastest level
// may make pages a hundredth larger, those of planes must be a sixteenth smaller: others have repeats, which are found
// faster than codes are made.
func (c *col) pack(e *encoder, content []byte) (packed []byte, err error) {
	c.packs++
	if c.packs%trialPages != 1 {
		e.packed, err = c.packBy(e, c.packer, e.packed[:0], content)
		return e.packed, err
	}
	c.packer = byLevel
	if e.packed, err = c.packBy(e, byLevel, e.packed[:0], content); err != nil {
		return nil, err
	}
	try := func(p packer, most int) {
		if err != nil {
			return
		}
		if e.other, err = c.packBy(e, p, e.other[:0], content); err == nil && len(e.other) <= most {
			c.packer, e.packed, e.other = p, e.other, e.packed
		}
	}
	if e.fast != nil {
		try(byFast, len(e.packed)+len(e.packed)/100)
	}
	if c.kind != 0 && c.codec.Split() && e.z.Algorithm() == compress.Zstd {
		try(byPlanes, len(e.packed)-len(e.packed)/16)
	}
	return e.packed, err
}

func (c *col) packBy(e *encoder, p packer, dst, content []byte) ([]byte, error) {
	switch p {
	case byFast:
		return e.fast.Append(dst, content)
	case byPlanes:
		return e.z.AppendPlanes(dst, content, int(c.bits)/8)
	}
	return e.z.Append(dst, content)
}

func (c *col) size(n int) int {
	if c.unit == 0 {
		return (n + 7) / 8
	}
	return n * c.unit
}

// room encodes a full page, and gives the number of elements that can be staged. There is memory for them.
func (c *col) room(e *encoder, n int) (int, error) {
	if c.n == c.length {
		if err := c.flush(e); err != nil {
			return 0, err
		}
	}
	n = min(n, c.length-c.n)
	if need := c.size(c.n + n); need > len(c.buf) {
		grown := arrowutil.Bytes(make([]uint64, (min(max(need, 2*len(c.buf)), c.size(c.length))+7)/8))
		copy(grown, c.buf)
		c.buf = grown
	}
	return n, nil
}

// staged counts n elements that were put behind the others.
func (c *col) staged(n int) {
	c.n += n
	c.count += int64(n)
}

// values appends n elements out of a buffer, from one on.
func (c *col) values(e *encoder, src []byte, from, n int) error {
	for n > 0 {
		if c.n == 0 && n >= c.length && c.unit != 0 { // whole pages need not be staged
			b := src[from*c.unit : (from+c.length)*c.unit]
			c.count += int64(c.length)
			if err := c.encode(e, b, c.length); err != nil {
				return err
			}
			from, n = from+c.length, n-c.length
			continue
		}
		k, err := c.room(e, n)
		if err != nil {
			return err
		}
		if c.unit == 0 {
			bitmap.Bits{Data: src, Off: from, Len: k}.CopyTo(c.buf, c.n)
		} else {
			copy(c.buf[c.n*c.unit:], src[from*c.unit:(from+k)*c.unit])
		}
		c.staged(k)
		from, n = from+k, n-k
	}
	return nil
}

// ends appends the ends of n collections to an index column: next gives that of each.
func (c *col) ends(e *encoder, n int, next func(i int) int64) error {
	for from := 0; from < n; {
		k, err := c.room(e, n-from)
		if err != nil {
			return err
		}
		out := arrowutil.As[int64](c.buf)[c.n : c.n+k]
		for i := range out {
			out[i] = next(from + i)
		}
		c.staged(k)
		from += k
	}
	return nil
}

// offsets appends the ends of collections between Arrow offsets; the first begins at item base.
func offsets[O int32 | int64](c *col, e *encoder, off []O, base int64) error {
	shift := base - int64(off[0])
	for off = off[1:]; len(off) > 0; {
		k, err := c.room(e, len(off))
		if err != nil {
			return err
		}
		out := arrowutil.As[int64](c.buf)[c.n : c.n+k]
		for i, o := range off[:k] {
			out[i] = int64(o) + shift
		}
		c.staged(k)
		off = off[k:]
	}
	return nil
}

// flush encodes the staged elements as a page.
func (c *col) flush(e *encoder) error {
	if c.n == 0 {
		return nil
	}
	n := c.n
	c.n = 0
	return c.encode(e, c.buf[:c.size(n)], n)
}

func (c *col) encode(e *encoder, values []byte, n int) (err error) {
	if c.digest != nil {
		if c.unit == 0 && n%8 != 0 { // bits behind the last are arbitrary
			values[len(values)-1] &= 1<<(n%8) - 1
		}
		_, _ = c.digest.Write(values)
	}
	if c.shadow {
		return nil
	}
	content := values
	if c.kind != 0 {
		if e.page, err = c.codec.Append(e.page[:0], values, 0, n); err != nil {
			return err
		}
		content = e.page
	}
	packed, err := c.pack(e, content)
	if err != nil {
		return err
	}
	p := page{checksum: xxh3.Hash(packed), offset: c.spool.Size(), size: len(packed), raw: len(content), elements: n}
	c.raw += int64(p.raw)
	c.packed += int64(p.size)
	c.pages = append(c.pages, p)
	_, err = c.spool.Write(packed)
	return err
}

// read reads the bytes of a page back into dst.
func (c *col) read(p page, dst []byte) ([]byte, error) {
	if cap(dst) < p.size {
		dst = make([]byte, p.size)
	}
	dst = dst[:p.size]
	if n, err := c.spool.ReadAt(dst, p.offset); n < p.size {
		if err == io.EOF {
			err = io.ErrUnexpectedEOF
		}
		return nil, err
	}
	return dst, nil
}

// watch keeps a digest of the elements.
func (c *col) watch() {
	if c.digest == nil {
		c.digest = xxh3.New()
	}
}

// open makes the spool of a cluster.
func (c *col) open(budget *storage.Budget, dir string) { c.spool = storage.NewSpool(budget, dir) }

// next begins another cluster.
func (c *col) next(budget *storage.Budget, dir string) error {
	err := c.spool.Close()
	c.open(budget, dir)
	c.first += c.count
	c.pages, c.count, c.raw, c.packed = c.pages[:0], 0, 0, 0
	if c.digest != nil {
		c.digest.Reset()
	}
	return err
}
