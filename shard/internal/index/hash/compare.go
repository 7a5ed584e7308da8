package hash

import (
	"cmp"
	"context"
	"iter"
	"slices"

	"github.com/amudai/amudai-go/internal/base/fault"
)

// item is what an index has of a hash, or of all hashes that it does not tell apart.
type item struct {
	hash   uint64 // as far as the index has it, zeros behind
	hashes int64  // number of hashes
	n      int64  // rows of them
	listed bool   // otherwise they may be in any row
	rows   []uint32
	block  int64
}

// hashBits is how many bits of each hash the index has.
func (x *Index) hashBits() uint { return x.bits + markBits - x.unknown }

// readAhead is how many bytes are read at a time of an index that is read completely.
const readAhead = 256 << 10

// items yields all items in ascending order, of which the rows are valid until the next. A block that cannot be read is an error, behind which the next
// blocks follow.
func (x *Index) items(ctx context.Context) iter.Seq2[item, error] {
	return func(yield func(item, error) bool) {
		r := x.reader()
		r.ahead = readAhead
		more := true
		for number := int64(0); more && number < 1<<x.bits; number++ {
			end := r.end
			err := cmp.Or(ctx.Err(), r.open(ctx, number))
			if err == nil && r.decoded.at < end {
				err = fault.InBlock(fault.Corruptf("its lists begin before the end of the block before"), int(number), r.decoded.at)
			}
			if err == nil {
				more, err = r.items(ctx, yield)
			}
			if err != nil {
				more = yield(item{}, err) && ctx.Err() == nil
			}
		}
	}
}

// items yields those of the block. It returns false if no more are wanted.
func (r *reader) items(ctx context.Context, yield func(item, error) bool) (more bool, err error) {
	more = true
	var rows []uint32
	err = r.each(ctx, 0, func(i int, list func([]uint32) ([]uint32, error)) (bool, error) {
		of := uint64(r.block)<<(markBits-r.unknown) | uint64(r.decoded.marks[i])
		one := item{hash: of << (64 - r.hashBits()), hashes: 1, n: int64(r.decoded.counts[i]) + 1, listed: list != nil, block: r.block}
		if one.listed {
			if rows, err = list(rows[:0]); err != nil {
				return false, err
			}
			one.rows = rows
		}
		more = yield(one, nil)
		return more, nil
	})
	return more, fault.InBlock(err, int(r.block), r.decoded.at)
}

// groups are the items as an index has them that has only some bits of each hash.
func groups(items iter.Seq2[item, error], bits uint) iter.Seq2[item, error] {
	return func(yield func(item, error) bool) {
		var group item // of no hash at the beginning
		end := func() bool {
			if group.hashes > 1 {
				slices.Sort(group.rows)
				group.rows = slices.Compact(group.rows)
			}
			return group.hashes == 0 || yield(group, nil)
		}
		for one, err := range items {
			if err != nil {
				if !end() || !yield(item{}, err) {
					return
				}
				group.hashes = 0
				continue
			}
			one.hash = one.hash >> (64 - bits) << (64 - bits)
			if group.hashes > 0 && group.hash == one.hash {
				group.hashes, group.n, group.listed = group.hashes+1, group.n+one.n, group.listed && one.listed
				group.rows = append(group.rows, one.rows...)
				continue
			}
			if !end() {
				return
			}
			one.rows = append(group.rows[:0], one.rows...)
			group = one
		}
		end()
	}
}

// Compare calls found with each difference to an index that was built of the same rows. Behind a damaged block, hashes that are missing are not told.
func (x *Index) Compare(ctx context.Context, built *Index, found func(error) error) error {
	bits := min(x.hashBits(), built.hashBits())
	next, stop := iter.Pull2(groups(built.items(ctx), bits))
	defer stop()
	want, err, more := next()
	damaged, hashes, rows := false, int64(0), int64(0)
	// missing goes over hashes that only the other index has.
	missing := func(until func() bool) error {
		for ; more && err == nil && !until(); want, err, more = next() {
			if damaged {
				continue
			}
			if err := found(fault.InBlock(fault.Corruptf("the hash %016x of the data is missing", want.hash), int(want.hash>>(63-x.bits)>>1), -1)); err != nil {
				return err
			}
		}
		damaged = false
		return err
	}
	sound := true
	for have, failed := range groups(x.items(ctx), bits) {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if failed != nil {
			if err := found(failed); err != nil {
				return err
			}
			damaged, sound = true, false
			continue
		}
		hashes, rows = hashes+have.hashes, rows+have.n
		if err := missing(func() bool { return want.hash >= have.hash }); err != nil {
			return err
		}
		if !more || want.hash != have.hash {
			want := item{hash: have.hash, listed: true}
			failed = have.compare(&want, x.Rows)
		} else {
			failed = have.compare(&want, x.Rows)
			want, err, more = next()
		}
		if failed != nil {
			if err := found(fault.InBlock(failed, int(have.block), -1)); err != nil {
				return err
			}
		}
		if err != nil {
			return err
		}
	}
	if err := missing(func() bool { return false }); err != nil {
		return err
	}
	if sound && (hashes != x.Hashes || rows != x.Postings) {
		return found(fault.Corruptf("hash index of %d hashes in %d rows is said to have %d, %d", hashes, rows, x.Hashes, x.Postings))
	}
	return nil
}

// compare compares with what the data have, of so many rows in all. Lists of several hashes together may be so long that they are left out.
func (g *item) compare(want *item, total int64) error {
	if !g.listed && isCommon(want.n, total) || g.listed && want.listed && slices.Equal(g.rows, want.rows) {
		return nil
	}
	return fault.Corruptf("the hash %016x has other rows than the %d in the data", g.hash, want.n)
}
