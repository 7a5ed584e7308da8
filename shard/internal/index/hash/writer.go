package hash

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"slices"

	"github.com/zeebo/xxh3"

	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/format/container"
	"github.com/amudai/amudai-go/internal/format/postings"
)

// Write writes the index of a table of so many rows, by builders that have the rows one after the other. Equal hashes and rows make equal bytes, in
// however many builders they are. The builders are to be closed afterwards.
func Write(ctx context.Context, out io.Writer, rows int64, builders ...*Builder) error {
	if rows > postings.MaxRow+1 {
		return fault.Limitf("hash index of more than %d rows", postings.MaxRow+1)
	}
	all := int64(0)
	for _, b := range builders {
		all += b.n
	}
	w := newWriter(out, rows, blockBits(all))
	if err := Each(ctx, builders, w.add); err != nil {
		return err
	}
	return w.finish()
}

func newWriter(out io.Writer, rows int64, bits uint) *writer {
	return &writer{out: out, rows: rows, bits: bits, room: int(max(commonRows, rows/commonShare))}
}

// writer writes hashes that come in ascending order, with their rows.
type writer struct {
	out       io.Writer
	rows      int64
	bits      uint // b
	unknown   uint // u
	at        int64
	sum       xxh3.Hasher // of all bytes
	directory []byte
	entries   int // of the page of the directory

	hash uint64
	list []uint32 // rows of hash; no more than 2*room
	n    int64    // their number
	last uint32   // of them
	room int      // the most rows of a list
	// unsorted is set if rows are not ascending, those of several keys with the same hash.
	unsorted bool
	// unlisted has the rows of hashes of which parts of a joined index have no list.
	unlisted map[uint64]int64

	block                      int64
	mark                       uint32 // of the last hash of the block
	marks, counts, sizes, flat []uint32
	lists                      postings.Writer

	hashes, postings int64
}

func (w *writer) add(hash uint64, row uint32) error {
	if w.n > 0 && hash == w.hash {
		if row == w.last {
			return nil
		}
		w.unsorted = w.unsorted || row < w.last
	} else {
		if err := w.endHash(); err != nil {
			return err
		}
		w.hash = hash
	}
	if len(w.list) == 2*w.room && w.rows <= int64(w.room) {
		w.compact()
	}
	w.n++
	w.last = row
	if len(w.list) < 2*w.room {
		w.list = append(w.list, row)
	}
	return nil
}

// compact sorts the rows of the hash, of which several keys may have the same.
func (w *writer) compact() {
	slices.Sort(w.list)
	w.list = slices.Compact(w.list)
	w.n = int64(len(w.list))
}

// endHash adds the hash with all of its rows to its block.
func (w *writer) endHash() error {
	if w.n == 0 {
		return nil
	}
	if w.unsorted && w.n == int64(len(w.list)) {
		w.compact()
	}
	w.unsorted = false
	if n := w.unlisted[w.hash]; n > 0 {
		if w.n = n; !isCommon(n, w.rows) {
			return fmt.Errorf("a hash of %d rows of %d, of which parts have no list: %w", n, w.rows, ErrCannotJoin)
		}
	}
	w.n = min(w.n, w.rows)
	block, mark := split(w.hash, w.bits)
	mark >>= w.unknown
	for w.block < block {
		if err := w.endBlock(); err != nil {
			return err
		}
	}
	w.marks, w.mark = append(w.marks, mark-w.mark), mark
	w.counts = append(w.counts, uint32(w.n-1))
	switch {
	case w.n <= shortRows:
		w.flat = append(w.flat, w.list...)
	case isCommon(w.n, w.rows):
		w.sizes = append(w.sizes, 0)
	default:
		w.lists.Bytes = w.lists.Bytes[:0]
		w.lists.Append(w.list, int(w.rows))
		w.lists.Align()
		w.lists.Bytes = container.AppendChecksum(w.lists.Bytes, 0)
		w.sizes = append(w.sizes, uint32(len(w.lists.Bytes)))
		if err := w.write(w.lists.Bytes); err != nil {
			return err
		}
	}
	w.hashes++
	w.postings += w.n
	w.list, w.n = w.list[:0], 0
	return nil
}

func (w *writer) write(b []byte) error {
	_, _ = w.sum.Write(b)
	n, err := w.out.Write(b)
	w.at += int64(n)
	return err
}

func (w *writer) endBlock() error {
	p := &w.lists
	p.Bytes = binary.LittleEndian.AppendUint32(p.Bytes[:0], uint32(len(w.marks)))
	p.AppendNumbers(w.marks)
	p.AppendNumbers(w.counts)
	p.AppendNumbers(w.sizes)
	flat := w.flat
	for _, less1 := range w.counts {
		if n := int(less1) + 1; n <= shortRows {
			p.Append(flat[:n], int(w.rows))
			flat = flat[n:]
		}
	}
	p.Align()
	p.Bytes = container.AppendChecksum(p.Bytes, 0)
	if len(p.Bytes) > maxBlockLen {
		return fault.Limitf("%d hashes with the same %d bits", len(w.marks), w.bits)
	}
	w.directory = binary.LittleEndian.AppendUint64(w.directory, uint64(w.at))
	w.directory = binary.LittleEndian.AppendUint32(w.directory, uint32(len(p.Bytes)))
	if w.entries++; w.entries == pageEntries {
		w.endPage()
	}
	w.marks, w.counts, w.sizes, w.flat, w.mark = w.marks[:0], w.counts[:0], w.sizes[:0], w.flat[:0], 0
	w.block++
	return w.write(p.Bytes)
}

func (w *writer) endPage() {
	w.directory = container.AppendChecksum(w.directory, len(w.directory)-w.entries*entryLen)
	w.entries = 0
}

// finish writes the other blocks, the directory and the footer.
func (w *writer) finish() error {
	if err := w.endHash(); err != nil {
		return err
	}
	for w.block < 1<<w.bits {
		if err := w.endBlock(); err != nil {
			return err
		}
	}
	if w.entries > 0 {
		w.endPage()
	}
	if err := w.write(w.directory); err != nil {
		return err
	}
	var f [footerLen]byte
	binary.LittleEndian.PutUint64(f[0:], uint64(w.rows))
	binary.LittleEndian.PutUint64(f[8:], uint64(w.hashes))
	binary.LittleEndian.PutUint64(f[16:], uint64(w.postings))
	f[24], f[25] = byte(w.bits), byte(w.unknown)
	binary.LittleEndian.PutUint64(f[40:], w.sum.Sum64())
	binary.LittleEndian.PutUint64(f[48:], xxh3.Hash(f[:48]))
	copy(f[56:], magic)
	if w.unknown > 0 {
		f[versionAt] = 2
	}
	return w.write(f[:])
}
