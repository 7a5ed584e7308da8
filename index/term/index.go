package term

import (
	"bytes"
	"context"
	"encoding/binary"
	"iter"
	"math"
	"slices"
	"sort"

	"github.com/amudai/amudai-go/index/term/internal/packed"
	"github.com/amudai/amudai-go/index/term/internal/runs"
	"github.com/amudai/amudai-go/internal/base/decompress"
	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/base/lru"
	"github.com/amudai/amudai-go/internal/base/parallel"
	"github.com/amudai/amudai-go/internal/format/container"
	"github.com/amudai/amudai-go/internal/format/postings"
	"github.com/amudai/amudai-go/internal/text/analysis"
	"github.com/amudai/amudai-go/storage"
)

// Index is an open index. Its methods may be called concurrently.
type Index struct {
	Options
	Terms    uint64 // terms, of each field those that it has
	Postings uint64 // rows in all lists
	Hash     uint64 // of all bytes

	file   storage.ByteRange
	ahead  storage.Prefetched // bytes that a run or a question has read; nil in an index that is open
	total  int
	blocks []blockEntry
	pages  []int64 // offsets of the pages of grams, of the list of cut blocks, and of the directory; nil if there are none
	cache  *lru.Cache[int, *block]

	dictionary *parallel.Once[*dictionary]
}

// blockEntry is a block in the directory.
type blockEntry struct {
	first []byte
	field int
	lists int64 // offset of its long lists
	block int64 // offset of the block, behind them
	end   int64
}

// tailLen is how many bytes are read first: the footer, and the directory of about a million terms. The end of a single-file shard, which
// was read to open it, mostly has them.
const tailLen = 48 << 10

// cacheBytes is the memory for blocks that were read: of about a million terms.
const cacheBytes = 16 << 20

// Open opens the index in a range of bytes, of a table with so many rows. It reads the footer and the directory, mostly at once.
func Open(ctx context.Context, file storage.ByteRange, rows int64) (*Index, error) {
	x := &Index{file: file, cache: lru.New[int, *block](cacheBytes), dictionary: new(parallel.Once[*dictionary])}
	if file.Size < footerLen {
		return nil, fault.Corruptf("term index of %d bytes", file.Size)
	}
	tail, err := x.read(ctx, max(file.Size-tailLen, 0), file.Size)
	if err != nil {
		return nil, err
	}
	f := tail[len(tail)-footerLen:]
	u32 := func(at int) int64 { return int64(binary.LittleEndian.Uint32(f[at:])) }
	blocks, stored, size, pages, coarse := u32(32), u32(36), u32(40), u32(44), u32(8)
	x.Options = Options{Rows: int64(binary.LittleEndian.Uint64(f)), Coarse: int(coarse),
		Fields: int(binary.LittleEndian.Uint16(f[12:])), Scored: int(f[15]), Collation: Collation(f[14])}
	x.Terms, x.Postings = binary.LittleEndian.Uint64(f[16:]), binary.LittleEndian.Uint64(f[24:])
	switch {
	case string(f[64:70]) != magic:
		return nil, fault.Corruptf("the end of the file is not that of a term index")
	case binary.LittleEndian.Uint16(f[70:])-1 > 1:
		return nil, fault.Unsupportedf("term index of version %d", binary.LittleEndian.Uint16(f[70:]))
	case x.Rows != rows:
		return nil, fault.Corruptf("term index of %d rows, for a table of %d", x.Rows, rows)
	case coarse == 0 || coarse > maxCoarse || x.Fields == 0 || f[14] > byte(analysis.CasePreserving) || binary.LittleEndian.Uint16(f[70:]) != x.version():
		return nil, fault.Corruptf("footer of the term index")
	case pages&(pages-1) != 0 || pages > gramNumbers:
		return nil, fault.Corruptf("%d pages of grams", pages)
	case stored > file.Size-footerLen || blocks > file.Size/blockHeader || size > blocks*maxDirectoryEntry+(pages+1)*binary.MaxVarintLen64 || size > math.MaxInt32:
		return nil, fault.Corruptf("directory of %d blocks, %d bytes, %d unpacked, in %d", blocks, stored, size, file.Size)
	}
	if err := x.check(); err != nil {
		return nil, err
	}
	x.total = int(x.Options.total())
	from := file.Size - footerLen - stored
	if at := int64(len(tail)) - footerLen - stored; at >= 0 {
		tail = tail[at : at+stored]
	} else if tail, err = x.read(ctx, from, from+stored); err != nil {
		return nil, err
	}
	if x.Hash = binary.LittleEndian.Uint64(f[56:]); footerHash(tail, f[:56]) != x.Hash {
		return nil, fault.Checksumf("checksum of the term index's directory")
	}
	if tail, err = packed.Unpack(new(decompress.Zstd), nil, tail, int(size)); err != nil {
		return nil, err
	}
	return x, x.readDirectory(tail, int(blocks), int(pages), from)
}

// An entry of the directory has at most its term with its length, three bytes of the field, and ten of each size.
const maxDirectoryEntry = 1 + maxTermBytes + 3 + 2*binary.MaxVarintLen64

// maxCoarse is the most rows for which lists have one.
const maxCoarse = 1 << 20

// read reads bytes of the index.
func (x *Index) read(ctx context.Context, from, to int64) ([]byte, error) {
	return x.ahead.Read(ctx, x.file.Reader, x.file.Offset+from, to-from)
}

// readDirectory reads the entries of blocks and the sizes of pages, which end where the directory begins.
func (x *Index) readDirectory(d []byte, blocks, pages int, size int64) error {
	if blocks+pages > len(d) {
		return fault.Corruptf("directory of %d blocks and %d pages in %d bytes", blocks, pages, len(d))
	}
	x.blocks = make([]blockEntry, blocks)
	at := int64(0)
	for i := range x.blocks {
		e := &x.blocks[i]
		if len(d) == 0 || len(d) <= int(d[0]) {
			return fault.Corruptf("directory ends at block %d of %d", i, blocks)
		}
		e.first, d = d[1:1+d[0]], d[1+d[0]:]
		field, lists, block, ok := uint64(0), uint64(0), uint64(0), true
		if x.Fields > 1 {
			if field, d, ok = uvarint(d, uint64(x.Fields-1)); !ok {
				return fault.Corruptf("field of block %d", i)
			}
		}
		if lists, d, ok = uvarint(d, uint64(size-at)); ok {
			block, d, ok = uvarint(d, uint64(size-at)-lists)
		}
		if !ok || lists > 1<<32-1 {
			return fault.Corruptf("size of block %d", i)
		}
		e.field, e.lists, e.block = int(field), at, at+int64(lists)
		at = e.block + int64(block)
		e.end = at
		if i > 0 && runs.Compare(x.Collation, x.blocks[i-1].first, x.blocks[i-1].field, e.first, e.field) >= 0 {
			return fault.Corruptf("block %d begins before the one before", i)
		}
	}
	if pages > 0 {
		x.pages = append(make([]int64, 0, pages+2), at)
		for range pages + 1 {
			n, ok := uint64(0), false
			if n, d, ok = uvarint(d, uint64(size-at)); !ok {
				return fault.Corruptf("a page of the list of trigrams has an impossible size")
			}
			at += int64(n)
			x.pages = append(x.pages, at)
		}
	}
	if len(d) > 0 || at != size {
		return fault.Corruptf("directory of %d bytes of blocks, which have %d", at, size)
	}
	return nil
}

// Blocks is the number of blocks of terms.
func (x *Index) Blocks() int { return len(x.blocks) }

// block returns a block.
func (x *Index) block(ctx context.Context, i int) (*block, error) {
	if b, ok := x.cache.Get(i); ok {
		return b, nil
	}
	e := x.blocks[i]
	data, err := x.read(ctx, e.block, e.end)
	if err != nil {
		return nil, err
	}
	b := new(block)
	if err := x.parse(b, i, data); err != nil {
		return nil, err
	}
	x.cache.Put(i, b, b.memory())
	return b, nil
}

// parse parses the bytes of a block into the memory of b.
func (x *Index) parse(b *block, i int, data []byte) error {
	e := x.blocks[i]
	p := parsers.Get().(*parser)
	defer parsers.Put(p)
	return fault.InBlock(p.parse(b, data, &x.Options, x.total, uint64(e.block-e.lists)), i, e.block)
}

// Entry is a term of a field.
type Entry struct {
	Term  []byte // in upper case if the index is case-insensitive; not to be changed
	Field int
	Rows  int64 // in its list

	block *block
	i, of int // number in the block, and number of the block
}

// Find yields the entries of a term, or of all terms with a prefix, in their order: of each field, and of each spelling in an
// index that preserves case. In what is searched case does not matter.
func (x *Index) Find(ctx context.Context, term []byte, prefix bool) iter.Seq2[Entry, error] {
	key := analysis.AppendUpper(nil, term)
	return func(yield func(Entry, error) bool) {
		for e, err := range x.from(ctx, key) {
			if err != nil {
				yield(Entry{}, err)
				return
			}
			have := e.Term
			if x.Collation == analysis.CasePreserving {
				have = analysis.AppendUpper(nil, have)
			}
			if !bytes.HasPrefix(have, key) || !prefix && len(have) > len(key) || !yield(e, nil) {
				return
			}
		}
	}
}

// All yields all entries in their order.
func (x *Index) All(ctx context.Context) iter.Seq2[Entry, error] { return x.from(ctx, nil) }

// before reports whether a term comes before a key in upper case. Terms that are equal to the key but for case come before or behind it. So the comparison
// is without case.
func (x *Index) before(term, key []byte) bool {
	if x.Collation == analysis.CasePreserving {
		return analysis.CaseInsensitive.Compare(term, key) < 0
	}
	return bytes.Compare(term, key) < 0
}

// blockOf is the first block that does not begin before a key in upper case.
func (x *Index) blockOf(key []byte) int {
	return sort.Search(len(x.blocks), func(i int) bool { return !x.before(x.blocks[i].first, key) })
}

// from yields the entries from the first on whose term in upper case is not before a key in upper case.
func (x *Index) from(ctx context.Context, key []byte) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		first := x.blockOf(key)
		for of := max(first-1, 0); of < len(x.blocks); of++ {
			b, err := x.block(ctx, of)
			if err != nil {
				yield(Entry{}, err)
				return
			}
			i := 0
			if of < first {
				i = sort.Search(b.len(), func(i int) bool { return !x.before(b.term(i), key) })
			}
			for ; i < b.len(); i++ {
				if !yield(b.entry(of, i), nil) {
					return
				}
			}
		}
	}
}

// EachPart calls yield with the rows of an entry from from up to (not including) to, up to 65,536 at a time in their order. A row
// in an index that is not exact stands for Coarse rows of the table. The slice is valid until the next call. Parts of long lists for which
// wanted is false are left out; nil wants all.
func (x *Index) EachPart(ctx context.Context, e Entry, from, to uint32, wanted func(from, to uint32) bool, yield func(rows []uint32) error) error {
	return x.each(ctx, e, from, to, wanted, lists{yield: func(rows, _ []uint32) error { return yield(rows) }})
}

// Mark returns the rows of some entries as a bitmap, the least significant bit of a byte first, and the row of its first bit: all that are from from up to (not
// including) to and in parts for which wanted is true, and perhaps others. The bitmap is in the memory of bits if that is large enough.
func (x *Index) Mark(ctx context.Context, bits []byte, entries []Entry, from, to uint32, wanted func(from, to uint32) bool) (_ []byte, first uint32, err error) {
	first = from &^ (partRows - 1)
	end := min((int64(to)+partRows-1)&^(partRows-1), int64(x.total))
	size := int(max(end-int64(first), 0)+63) / 64 * 8
	bits = slices.Grow(bits[:0], size)[:size]
	clear(bits)
	for _, e := range entries {
		err = x.each(ctx, e, first, uint32(end), wanted, lists{bits: bits, yield: func(rows, _ []uint32) error {
			postings.Mark(bits, rows, first)
			return nil
		}})
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return nil, 0, err
		}
	}
	return bits, first, nil
}

// lists says what becomes of the rows of lists. Those of long lists are set in bits, from the first row that is wanted on, unless it is nil.
type lists struct {
	bits   []byte
	counts bool // frequencies are wanted, too
	yield  func(rows, frequencies []uint32) error
}

// EachFrequency is [Index.EachPart] of all rows of an entry of a field with frequencies, with how often each has the term less 1.
func (x *Index) EachFrequency(ctx context.Context, e Entry, yield func(rows, frequencies []uint32) error) error {
	if e.Field >= x.Scored {
		return fault.Corruptf("field %d of a term index has no frequencies", e.Field)
	}
	return x.each(ctx, e, 0, uint32(x.total), nil, lists{counts: true, yield: yield})
}

// each is [Index.EachPart] with how often each row has the term less 1, nil in a field without frequencies.
func (x *Index) each(ctx context.Context, e Entry, from, to uint32, wanted func(from, to uint32) bool, l lists) (err error) {
	var rows, frequencies []uint32
	switch n := int(e.Rows); {
	case n <= shortRows:
		rows, frequencies, err = e.block.shortList(nil, nil, e.i, x.total)
	case e.Field < x.Scored:
		return x.scoredParts(ctx, e, from, to, wanted, l.counts, l.yield)
	case n <= longRows:
		rows, err = x.list(ctx, e, n)
	default:
		err = x.parts(ctx, e, from, to, wanted, l)
		return fault.InBlock(err, e.of, -1)
	}
	if err != nil {
		return fault.InBlock(err, e.of, -1)
	}
	first, last := clip(rows, from, to)
	if frequencies != nil {
		frequencies = frequencies[first:last]
	}
	return l.yield(rows[first:last], frequencies)
}

// clip is the part of rows that is from from up to (not including) to.
func clip(rows []uint32, from, to uint32) (first, last int) {
	first = sort.Search(len(rows), func(i int) bool { return rows[i] >= from })
	last = sort.Search(len(rows), func(i int) bool { return rows[i] >= to })
	return first, max(first, last)
}

// list is a long list that is not divided.
func (x *Index) list(ctx context.Context, e Entry, n int) ([]uint32, error) {
	data, err := x.longList(ctx, e)
	if err == nil {
		data, err = container.CutChecksum(data)
	}
	if err != nil {
		return nil, err
	}
	r := postings.NewReader(data)
	return r.Append(make([]uint32, 0, n), n, x.total)
}

// longList reads the bytes of a long list.
func (x *Index) longList(ctx context.Context, e Entry) ([]byte, error) {
	at := x.blocks[e.of].lists + int64(e.block.offset[e.i])
	return x.read(ctx, at, at+int64(e.block.sizes[e.i]))
}

// parts reads the parts of a divided list.
func (x *Index) parts(ctx context.Context, e Entry, from, to uint32, wanted func(from, to uint32) bool, l lists) error {
	data, err := x.longList(ctx, e)
	if err != nil {
		return err
	}
	table, err := readTable(data, (x.total+partRows-1)/partRows, int(e.block.counts[e.i]))
	if err != nil {
		return err
	}
	var rows []uint32
	for i, p := range table {
		base := uint32(i * partRows)
		if p.rows == 0 || base >= to || uint64(base)+partRows <= uint64(from) {
			continue
		}
		if wanted != nil && !wanted(max(base, from), min(base+partRows, to)) {
			continue
		}
		list, err := container.CutChecksum(data[p.from:p.to])
		if err != nil {
			return err
		}
		r, total := postings.NewReader(list), min(partRows, x.total-int(base))
		if l.bits != nil {
			if err := r.Mark(l.bits[(base-from)/8:], p.rows, total); err != nil {
				return err
			}
			continue
		}
		if rows, err = r.Append(rows[:0], p.rows, total); err != nil {
			return err
		}
		for k := range rows {
			rows[k] += base
		}
		first, last := clip(rows, from, to)
		if err := l.yield(rows[first:last], nil); err != nil {
			return err
		}
	}
	return nil
}

type tablePart struct{ rows, from, to int }

// readTable reads the table of a divided list with n rows.
func readTable(data []byte, parts, n int) ([]tablePart, error) {
	if parts > len(data) {
		return nil, fault.Corruptf("list of %d bytes in %d parts", len(data), parts)
	}
	table := make([]tablePart, parts)
	rest, at, sum := data, 0, 0
	for i := range table {
		var rows, size uint64
		ok := false
		if rows, rest, ok = uvarint(rest, partRows); ok && rows > 0 {
			size, rest, ok = uvarint(rest, uint64(len(data)))
		}
		if !ok {
			return nil, fault.Corruptf("part %d in the table of a list", i)
		}
		table[i] = tablePart{int(rows), at, at + int(size)}
		at += int(size)
		sum += int(rows)
	}
	begin := len(data) - len(rest) + container.ChecksumLen
	if begin+at != len(data) || sum != n {
		return nil, fault.Corruptf("list of %d rows in %d bytes, its parts have %d in %d", n, len(data), sum, begin+at)
	}
	if _, err := container.CutChecksum(data[:begin]); err != nil {
		return nil, err
	}
	for i := range table {
		table[i].from += begin
		table[i].to += begin
	}
	return table, nil
}
