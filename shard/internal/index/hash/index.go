package hash

import (
	"context"
	"encoding/binary"
	"slices"

	"github.com/zeebo/xxh3"

	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/format/container"
	"github.com/amudai/amudai-go/internal/format/postings"
	"github.com/amudai/amudai-go/storage"
)

// Index is an open index. Its methods may be called concurrently.
type Index struct {
	Rows     int64 // of the table
	Hashes   int64
	Postings int64  // rows of all hashes
	Sum      uint64 // of all bytes

	file      storage.ByteRange
	bits      uint  // b
	unknown   uint  // u
	directory int64 // its offset
	tail      []byte
}

// tailLen is how many bytes are read first: the footer, and the directory of two million rows.
const tailLen = 128 << 10

// Open opens the index in a range of bytes, of a table with so many rows. It reads the end of it.
func Open(ctx context.Context, file storage.ByteRange, rows int64) (*Index, error) {
	if file.Size < footerLen {
		return nil, fault.Corruptf("hash index of %d bytes", file.Size)
	}
	x := &Index{file: file}
	tail, err := x.read(ctx, max(file.Size-tailLen, 0), file.Size)
	if err != nil {
		return nil, err
	}
	x.tail = tail
	f := tail[len(tail)-footerLen:]
	u64 := func(at int) int64 { return int64(binary.LittleEndian.Uint64(f[at:])) }
	x.Rows, x.Hashes, x.Postings, x.bits, x.unknown = u64(0), u64(8), u64(16), uint(f[24]), uint(f[25])
	version := binary.LittleEndian.Uint16(f[versionAt:])
	x.Sum = uint64(u64(48))
	switch {
	case string(f[56:62]) != magic[:6]:
		return nil, fault.Corruptf("the end of the file is not that of a hash index")
	case version != 1 && version != 2:
		return nil, fault.Unsupportedf("hash index of version %d", version)
	case xxh3.Hash(f[:48]) != x.Sum:
		return nil, fault.Checksumf("checksum of the hash index's footer")
	case x.Rows != rows || rows > postings.MaxRow+1:
		return nil, fault.Corruptf("hash index of %d rows, for a table of %d", x.Rows, rows)
	case x.unknown > maxUnknown || (x.unknown > 0) != (version == 2):
		return nil, fault.Corruptf("hash index of version %d, whose marks have %d bits less", version, x.unknown)
	case x.bits > maxBits || directoryLen(x.bits) > file.Size-footerLen:
		return nil, fault.Corruptf("hash index of 2^%d blocks in %d bytes", x.bits, file.Size)
	}
	x.directory = file.Size - footerLen - directoryLen(x.bits)
	return x, nil
}

// read reads bytes of the index.
func (x *Index) read(ctx context.Context, from, to int64) ([]byte, error) {
	if at := from - (x.file.Size - int64(len(x.tail))); at >= 0 && to <= x.file.Size {
		return x.tail[at : at+to-from], nil
	}
	return storage.ReadRange(ctx, x.file.Reader, x.file.Offset+from, to-from)
}

// reader reads blocks one after the other.
type reader struct {
	*Index
	page    int64 // number of the page of the directory
	entries []byte
	block   int64
	end     int64 // offset behind the block
	decoded block

	have   storage.Prefetched
	ahead  int64 // bytes to read at a time, for all blocks one after the other
	window []byte
	from   int64 // of the window
}

// read reads bytes before the directory, or of it.
func (r *reader) read(ctx context.Context, from, to int64) ([]byte, error) {
	if b := r.have.Bytes(r.file.Reader, r.file.Offset+from, to-from); b != nil {
		return b, nil
	}
	if r.ahead == 0 || to > r.directory {
		return r.Index.read(ctx, from, to)
	}
	if from < r.from || to > r.from+int64(len(r.window)) {
		b, err := r.Index.read(ctx, from, min(max(to, from+r.ahead), r.directory))
		if err != nil {
			return nil, err
		}
		r.window, r.from = b, from
	}
	return r.window[from-r.from : to-r.from], nil
}

func (x *Index) reader() *reader { return &reader{Index: x, page: -1, block: -1} }

// block is a block that was read.
type block struct {
	at            int64 // of its first long list
	marks, counts []uint32
	sizes         []uint32
	lists         postings.Reader // of short lists
	scratch       []uint32
}

// open reads a block.
func (r *reader) open(ctx context.Context, number int64) error {
	if r.block == number {
		return nil
	}
	r.block = -1
	at, size, err := r.find(ctx, number)
	if err != nil {
		return fault.In(err, "directory", r.directory)
	}
	b, err := r.read(ctx, at, at+size)
	if err != nil {
		return err
	}
	if b, err = container.CutChecksum(b); err == nil {
		err = r.decoded.parse(b, at, r.Rows, markBits-r.unknown)
	}
	if err != nil {
		return fault.InBlock(err, int(number), at)
	}
	r.block, r.end = number, at+size
	return nil
}

// find finds a block in the directory.
func (r *reader) find(ctx context.Context, number int64) (at, size int64, err error) {
	if page := number / pageEntries; page != r.page {
		r.page = -1
		from, to := r.pageOf(page)
		b, err := r.read(ctx, from, to)
		if err != nil {
			return 0, 0, err
		}
		if r.entries, err = container.CutChecksum(b); err != nil {
			return 0, 0, err
		}
		r.page = page
	}
	e := r.entries[number%pageEntries*entryLen:]
	from, n := binary.LittleEndian.Uint64(e), int64(binary.LittleEndian.Uint32(e[8:]))
	if from > uint64(r.directory) || n > r.directory-int64(from) || n < blockHeader+container.ChecksumLen || n > maxBlockLen {
		return 0, 0, fault.Corruptf("block %d of %d bytes at %d", number, n, from)
	}
	return int64(from), n, nil
}

// parse reads a block without its checksum, which begins at an offset and has marks of so many bits.
func (b *block) parse(data []byte, at, rows int64, bits uint) (err error) {
	hashes := int(binary.LittleEndian.Uint32(data))
	data = data[blockHeader:]
	if 2*hashes > 8*len(data) || hashes > 0 && rows == 0 {
		return fault.Corruptf("%d hashes in %d bytes", hashes, len(data))
	}
	b.lists = postings.NewReader(data)
	b.marks = slices.Grow(b.marks[:0], hashes)
	b.counts = slices.Grow(b.counts[:0], hashes)
	if b.marks, err = b.lists.AppendNumbers(b.marks, hashes); err != nil {
		return err
	}
	if b.counts, err = b.lists.AppendNumbers(b.counts, hashes); err != nil {
		return err
	}
	long, mark := 0, uint64(0)
	for i, gap := range b.marks {
		if mark += uint64(gap); mark >= 1<<bits || int64(b.counts[i]) >= rows {
			return fault.Corruptf("mark %d of %d rows of %d", mark, int64(b.counts[i])+1, rows)
		}
		b.marks[i] = uint32(mark)
		if b.counts[i] >= shortRows {
			long++
		}
	}
	if b.sizes, err = b.lists.AppendNumbers(b.sizes[:0], long); err != nil {
		return err
	}
	b.at = at
	for _, size := range b.sizes {
		if b.at -= int64(size); b.at < 0 {
			return fault.Corruptf("long lists of more than the %d bytes before", at)
		}
	}
	return nil
}

// togetherBytes bounds the blocks that are read together. The others are read alone.
const togetherBytes = 16 << 20

// prefetch reads the blocks of ascending hashes together if requests are slow, behind the pages of the directory that are not in memory.
func (r *reader) prefetch(ctx context.Context, hashes []uint64) error {
	o := storage.DefaultCoalesce(r.file.Reader.Capabilities().Latency)
	if o.Requests < 2 || len(hashes) < 2 {
		return nil
	}
	pages := func(number int64) (at, size int64, err error) {
		at, end := r.pageOf(number / pageEntries)
		return at, end - at, nil
	}
	for _, find := range []func(number int64) (at, size int64, err error){pages, func(number int64) (int64, int64, error) { return r.find(ctx, number) }} {
		var ranges []storage.ByteRange
		total, last := int64(0), int64(-1)
		for _, hash := range hashes {
			number, _ := split(hash, r.bits)
			at, size, err := find(number)
			if err != nil {
				return fault.In(err, "directory", r.directory)
			}
			if at == last || at >= r.file.Size-int64(len(r.tail)) {
				continue
			}
			if last, total = at, total+size; total > togetherBytes {
				break
			}
			ranges = append(ranges, storage.ByteRange{Reader: r.file.Reader, Offset: r.file.Offset + at, Size: size})
		}
		more, err := storage.Prefetch(ctx, ranges, o)
		if err != nil {
			return err
		}
		r.have = append(r.have, more...)
	}
	return nil
}

// pageOf is where a page of the directory lies.
func (r *reader) pageOf(page int64) (from, to int64) {
	from = r.directory + page*pageLen
	return from, min(from+pageLen, r.file.Size-footerLen)
}

// Find returns the rows of hashes, each once and in ascending order, and a few others. all is set if one is too common to have a list: it may be
// in any row.
func (x *Index) Find(ctx context.Context, hashes []uint64) (rows []uint32, all bool, err error) {
	r := x.reader()
	hashes = slices.Compact(slices.Sorted(slices.Values(hashes)))
	if err := r.prefetch(ctx, hashes); err != nil {
		return nil, false, err
	}
	for i, hash := range hashes {
		if i&255 == 0 && ctx.Err() != nil {
			return nil, false, ctx.Err()
		}
		number, mark := split(hash, x.bits)
		if err := r.open(ctx, number); err != nil {
			return nil, false, err
		}
		if rows, all, err = r.rowsOf(ctx, rows, mark>>x.unknown); all || err != nil {
			return nil, all, err
		}
	}
	if !slices.IsSorted(rows) {
		slices.Sort(rows)
	}
	return slices.Compact(rows), false, nil
}

// rowsOf appends the rows of the hashes with a mark in the block.
func (r *reader) rowsOf(ctx context.Context, rows []uint32, mark uint32) (_ []uint32, all bool, err error) {
	first, found := slices.BinarySearch(r.decoded.marks, mark)
	if !found {
		return rows, false, nil
	}
	err = r.each(ctx, first, func(i int, list func([]uint32) ([]uint32, error)) (bool, error) {
		if r.decoded.marks[i] != mark {
			return false, nil
		}
		if list == nil {
			all = true
			return false, nil
		}
		rows, err = list(rows)
		return true, err
	})
	return rows, all, fault.InBlock(err, int(r.block), r.decoded.at)
}

// each calls yield with the hashes of the block from one on, until it returns false: their number, and what appends their rows. This is nil for a hash that is
// too common to have a list.
func (r *reader) each(ctx context.Context, first int, yield func(i int, list func([]uint32) ([]uint32, error)) (bool, error)) (err error) {
	b := &r.decoded
	lists, at, sizes := b.lists, b.at, b.sizes
	for i, less1 := range b.counts {
		n := int64(less1) + 1
		long, size := n > shortRows, int64(0)
		if long {
			size, sizes = int64(sizes[0]), sizes[1:]
		}
		switch {
		case i < first && !long:
			if b.scratch, err = lists.SkipList(b.scratch, int(n), int(r.Rows)); err != nil {
				return err
			}
		case i < first:
		default:
			list := func(dst []uint32) ([]uint32, error) { return lists.Append(dst, int(n), int(r.Rows)) }
			if from := at; long {
				list = func(dst []uint32) ([]uint32, error) { return r.longList(ctx, dst, from, size, n) }
			}
			if long && size == 0 {
				if list = nil; !isCommon(n, r.Rows) {
					return fault.Corruptf("no list of %d rows", n)
				}
			}
			if more, err := yield(i, list); !more || err != nil {
				return err
			}
		}
		at += size
	}
	return nil
}

// longList appends the n rows of a long list.
func (r *reader) longList(ctx context.Context, dst []uint32, at, size, n int64) ([]uint32, error) {
	if isCommon(n, r.Rows) {
		return dst, fault.Corruptf("a list of %d rows", n)
	}
	b, err := r.read(ctx, at, at+size)
	if err != nil {
		return dst, err
	}
	if b, err = container.CutChecksum(b); err != nil {
		return dst, err
	}
	lists := postings.NewReader(b)
	return lists.Append(dst, int(n), int(r.Rows))
}
