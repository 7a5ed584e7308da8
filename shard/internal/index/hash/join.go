package hash

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/format/postings"
	"github.com/amudai/amudai-go/storage"
)

// Part is an index of some of the rows of a joined one.
type Part struct {
	*Index
	First int64 // row of the joined index that is the first of this one
}

// ErrCannotJoin is the error for indexes that may be sound, but have too few bits of each hash, or lack the rows of one that is not so common in all rows.
var ErrCannotJoin = errors.New("hash indexes cannot be joined")

// maxUnlisted bounds the hashes of all parts that have no list: each is in more than one of so many rows.
const maxUnlisted = 1 << 20

// Join writes the index of so many rows that some indexes have the hashes of, in the order of their rows. Of hashes it has as many bits as the part with the fewest, so that
// it finds a few other rows more than one that is built. It takes about so many bytes of memory, and then temporary files, which it closes.
func Join(ctx context.Context, out io.Writer, rows, memory int64, spool func() *storage.Spool, parts ...Part) (err error) {
	if rows > postings.MaxRow+1 {
		return fault.Limitf("hash index of more than %d rows", postings.MaxRow+1)
	}
	known := uint(maxBits + markBits)
	for i, p := range parts {
		if p.First < 0 || p.First > rows-p.Rows {
			return fault.Unsupportedf("part %d of a hash index of %d rows has %d from %d on", i, rows, p.Rows, p.First)
		}
		if p.Postings > 0 {
			known = min(known, p.hashBits())
		}
	}
	b := NewBuilder(memory, spool)
	defer func() { err = cmp.Or(err, b.Close()) }()
	unlisted := map[uint64]int64{}
	for _, p := range parts {
		if err := b.addPart(ctx, p, known, unlisted); err != nil {
			return fault.Of(err, p.file.Reader.Name())
		}
	}
	w := newWriter(out, rows, blockBits(b.n))
	w.unlisted = unlisted
	if visible := w.bits + markBits; visible > known {
		w.unknown = visible - known
	}
	if w.unknown > maxUnknown {
		return fmt.Errorf("%d bits of each hash, for %d rows of hashes: %w", known, b.n, ErrCannotJoin)
	}
	if err := Each(ctx, []*Builder{b}, w.add); err != nil {
		return err
	}
	return w.finish()
}

// addPart adds what an index has, with so many bits of each hash. Hashes without a list are added once, and their rows to unlisted.
func (b *Builder) addPart(ctx context.Context, p Part, bits uint, unlisted map[uint64]int64) error {
	hashes, rows := int64(0), int64(0)
	for one, err := range p.items(ctx) {
		if err != nil {
			return err
		}
		hash := one.hash >> (64 - bits) << (64 - bits)
		hashes, rows = hashes+1, rows+one.n
		if !one.listed {
			one.rows = append(one.rows, 0)
			if unlisted[hash] += one.n; len(unlisted) > maxUnlisted {
				return fault.Limitf("more than %d hashes without lists", maxUnlisted)
			}
		}
		for _, row := range one.rows {
			if err := b.Add(hash, uint32(p.First)+row); err != nil {
				return err
			}
		}
	}
	if hashes != p.Hashes || rows != p.Postings {
		return fault.Corruptf("hash index of %d hashes in %d rows is said to have %d, %d", hashes, rows, p.Hashes, p.Postings)
	}
	return nil
}
