package hash

import (
	"bytes"
	"context"
	"io"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/format/container"
	"github.com/amudai/amudai-go/internal/format/postings"
	"github.com/amudai/amudai-go/storage"
)

var ctx = context.Background()

// write writes an index of entries in the order of their rows, divided among builders.
func write(t require.TestingT, entries []entry, rows, memory int64, builders int) []byte {
	all := make([]*Builder, builders)
	for i := range all {
		all[i] = NewBuilder(memory, func() *storage.Spool { return storage.NewSpool(nil, "") })
		for _, e := range entries[i*len(entries)/builders : (i+1)*len(entries)/builders] {
			require.NoError(t, all[i].Add(e.hash, e.row))
		}
	}
	var out bytes.Buffer
	require.NoError(t, Write(ctx, &out, rows, all...))
	for _, b := range all {
		require.NoError(t, b.Close())
	}
	return out.Bytes()
}

func open(b []byte, rows int64) (*Index, error) {
	return Open(ctx, storage.ByteRange{Reader: storage.FromBytes("x", b), Size: int64(len(b))}, rows)
}

// draw draws entries: keys that most rows have, and some that few have, or the same marks.
func draw(seed uint64, rows int, keys int64) (entries []entry) {
	rnd := rand.New(rand.NewPCG(seed, 1))
	for row := range rows {
		for range rnd.IntN(3) {
			key := uint64(rnd.Int64N(keys))
			if rnd.IntN(4) == 0 {
				key %= 3
			}
			hash := key * 0x9e3779b97f4a7c15
			if rnd.IntN(8) == 0 {
				hash ^= uint64(rnd.IntN(2)) // the same mark
			}
			entries = append(entries, entry{hash, uint32(row)})
		}
	}
	return entries
}

// truth is the rows of hashes.
type truth map[uint64][]uint32

func naive(entries []entry) truth {
	m := truth{}
	for _, e := range entries {
		m[e.hash] = append(m[e.hash], e.row)
	}
	for hash, rows := range m {
		m[hash] = slices.Compact(rows)
	}
	return m
}

// visible is the part of a hash that an index tells from others.
func (x *Index) visible(hash uint64) uint64 { return hash >> (64 - x.hashBits()) }

// byMark is the rows of all hashes that an index does not tell apart.
func (want truth) byMark(x *Index) truth {
	m := truth{}
	for hash, rows := range want {
		m[x.visible(hash)] = append(m[x.visible(hash)], rows...)
	}
	for hash, rows := range m {
		slices.Sort(rows)
		m[hash] = slices.Compact(rows)
	}
	return m
}

// requireFound checks that the rows of hashes are found, and none but those of hashes with the same marks.
func requireFound(t require.TestingT, x *Index, marks truth, hashes ...uint64) {
	rows, all, err := x.Find(ctx, hashes)
	require.NoError(t, err)
	var may []uint32
	common := false
	for _, hash := range hashes {
		list := marks[x.visible(hash)]
		may = append(may, list...)
		common = common || isCommon(int64(len(list)), x.Rows)
	}
	require.Equal(t, common, all)
	if !common {
		slices.Sort(may)
		require.True(t, slices.Equal(slices.Compact(may), rows))
	}
}

// An index finds all rows of all hashes, with the same bytes whatever the memory and the number of builders.
func TestIndex(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rows, keys := rapid.SampledFrom([]int{1, 30, 3000, 20_000}).Draw(t, "rows"), rapid.SampledFrom([]int64{1, 10, 300, 1 << 40}).Draw(t, "keys")
		entries := draw(rapid.Uint64().Draw(t, "seed"), rows, keys)
		file := write(t, entries, int64(rows), 1<<30, 1)
		require.True(t, bytes.Equal(file, write(t, entries, int64(rows), 1, rapid.IntRange(1, 5).Draw(t, "builders"))))
		want := naive(entries)
		x, err := open(file, int64(rows))
		require.NoError(t, err)
		require.EqualValues(t, len(want), x.Hashes)
		hashes, marks := slices.Sorted(maps.Keys(want)), want.byMark(x)
		for i := 0; i < len(hashes); i += 1 + len(hashes)/50 {
			requireFound(t, x, marks, hashes[i])
			requireFound(t, x, marks, hashes[i]+1<<43)
		}
		requireFound(t, x, marks, hashes...)
		requireFound(t, x, marks)
		require.NoError(t, x.Compare(ctx, x, func(err error) error { return err }))
	})
}

// A hash of very many rows has no list, and is told from one that the index lacks.
func TestCommon(t *testing.T) {
	const rows = 70_000
	var entries []entry
	for row := range uint32(rows) {
		entries = append(entries, entry{1 << 63, row})
		if row%2 == 0 {
			entries = append(entries, entry{1 << 62, row})
		}
	}
	file := write(t, entries, rows, 1<<14, 2)
	require.True(t, bytes.Equal(file, write(t, entries, rows, 1<<30, 1)))
	require.Less(t, len(file), 20_000)
	x, err := open(file, rows)
	require.NoError(t, err)
	marks := naive(entries).byMark(x)
	requireFound(t, x, marks, 1<<63)
	requireFound(t, x, marks, 1<<62)
	requireFound(t, x, marks, 1)
	require.NoError(t, x.Compare(ctx, x, func(err error) error { return err }))
}

// Differences to the data are found.
func TestCompare(t *testing.T) {
	entries := draw(1, 3000, 500)
	x, err := open(write(t, entries, 3000, 1<<30, 1), 3000)
	require.NoError(t, err)
	for _, change := range []func([]entry){
		func(e []entry) { e[700].row++ },
		func(e []entry) { e[700].hash += 1 << 50 },
		func(e []entry) { e[700] = e[701] },
	} {
		other := slices.Clone(entries)
		change(other)
		slices.SortStableFunc(other, func(a, b entry) int { return int(a.row) - int(b.row) })
		y, err := open(write(t, other, 3000, 1<<30, 1), 3000)
		require.NoError(t, err)
		n := 0
		require.NoError(t, x.Compare(ctx, y, func(err error) error {
			require.True(t, fault.Is(err), "%v", err)
			n++
			return nil
		}))
		require.Positive(t, n)
	}
}

func TestLimits(t *testing.T) {
	require.ErrorIs(t, Write(ctx, nil, postings.MaxRow+2), fault.ErrLimit)
	_, err := open(write(t, nil, 0, 1, 1), 1)
	require.Error(t, err)
	x, err := open(write(t, nil, 0, 1, 1), 0)
	require.NoError(t, err)
	requireFound(t, x, nil, 5)
}

// small is a small index with all that an index may have, and what it is of.
func small(t require.TestingT) (file []byte, entries []entry) {
	for row := range uint32(300) {
		entries = append(entries, entry{uint64(row%7) << 60, row}, entry{uint64(row) * 0x9e3779b97f4a7c15, row})
		if row%3 > 0 {
			entries = append(entries, entry{5 << 50, row})
		}
	}
	return write(t, entries, 300, 1<<20, 1), entries
}

// Of each bit that is flipped, the index knows, or has the right answers.
func TestDamage(t *testing.T) {
	file, entries := small(t)
	want := naive(entries)
	for bit := range 8 * len(file) {
		b := bytes.Clone(file)
		b[bit/8] ^= 1 << (bit % 8)
		x, err := open(b, 300)
		if err != nil {
			require.True(t, fault.Is(err), "%v", err)
			continue
		}
		for _, hash := range []uint64{5 << 50, 1 << 60, 0x9e3779b97f4a7c15} {
			rows, _, err := x.Find(ctx, []uint64{hash})
			if err != nil {
				require.True(t, fault.Is(err), "%v", err)
				continue
			}
			require.Equal(t, want[hash], rows, "bit %d", bit)
		}
	}
	for n := range file {
		_, err := open(file[:n], 300)
		require.Error(t, err)
	}
}

// FuzzIndex reads blocks that are damaged, but have the right checksums.
func FuzzIndex(f *testing.F) {
	file, _ := small(f)
	x, err := open(file, 300)
	require.NoError(f, err)
	at, size, err := x.reader().find(ctx, 0)
	require.NoError(f, err)
	f.Add(file[at:at+size-container.ChecksumLen], uint16(300), uint64(5<<50))
	f.Add(file[at:at+size-container.ChecksumLen], uint16(7), uint64(1<<60))
	f.Fuzz(func(t *testing.T, data []byte, rows uint16, hash uint64) {
		if len(data) < blockHeader {
			return
		}
		r := x.reader()
		y := *x
		y.Rows = int64(rows)
		r.Index = &y
		if r.decoded.parse(data, at, y.Rows, markBits) != nil {
			return
		}
		_, mark := split(hash, 0)
		found, _, err := r.rowsOf(ctx, nil, mark)
		if err == nil && len(found) > 0 {
			require.Less(t, int64(slices.Max(found)), y.Rows)
		}
		r.block = 0
		_, _ = r.items(ctx, func(item, error) bool { return true })
	})
}

// A joined index finds the rows of all hashes, and of others only those that it does not tell apart. It knows no difference to one that is built.
func TestJoin(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rows, keys := rapid.SampledFrom([]int{1, 30, 3000, 20_000}).Draw(t, "rows"), rapid.SampledFrom([]int64{1, 10, 300, 1 << 40}).Draw(t, "keys")
		entries := draw(rapid.Uint64().Draw(t, "seed"), rows, keys)
		ends := []int{0, rows}
		for range rapid.IntRange(0, 5).Draw(t, "cuts") {
			ends = append(ends, rapid.IntRange(0, rows).Draw(t, "end"))
		}
		slices.Sort(ends)
		joined, err := join(t, entries, ends, rapid.SampledFrom([]int64{1, 1 << 30}).Draw(t, "memory"))
		if err != nil { // one part of few rows
			require.ErrorIs(t, err, ErrCannotJoin)
			return
		}
		x := requireJoined(t, joined, entries, rows)
		again, err := join(t, entries, []int{0, rows}, 1<<30) // of one part: nothing is lost
		require.NoError(t, err)
		require.Zero(t, requireJoined(t, again, entries, rows).unknown)
		var out bytes.Buffer
		require.NoError(t, Join(ctx, &out, int64(rows), 1<<30, nil, Part{x, 0}))
		requireJoined(t, out.Bytes(), entries, rows)
	})
}

// join joins the indexes of the rows up to each of some ends.
func join(t require.TestingT, entries []entry, ends []int, memory int64) ([]byte, error) {
	var parts []Part
	for i, end := range ends[1:] {
		var own []entry
		for _, e := range entries {
			if int(e.row) >= ends[i] && int(e.row) < end {
				own = append(own, entry{e.hash, e.row - uint32(ends[i])})
			}
		}
		x, err := open(write(t, own, int64(end-ends[i]), 1<<30, 1), int64(end-ends[i]))
		require.NoError(t, err)
		parts = append(parts, Part{x, int64(ends[i])})
	}
	var out bytes.Buffer
	err := Join(ctx, &out, int64(ends[len(ends)-1]), memory, func() *storage.Spool { return storage.NewSpool(nil, "") }, parts...)
	return out.Bytes(), err
}

// requireJoined requires that an index has the rows of all hashes, and no others but those of the same bits.
func requireJoined(t require.TestingT, file []byte, entries []entry, rows int) *Index {
	x, err := open(file, int64(rows))
	require.NoError(t, err)
	want := naive(entries)
	hashes, marks := slices.Sorted(maps.Keys(want)), want.byMark(x)
	for i := 0; i < len(hashes); i += 1 + len(hashes)/50 {
		requireFound(t, x, marks, hashes[i])
		requireFound(t, x, marks, hashes[i]+1<<43)
	}
	requireFound(t, x, marks, hashes...)
	built, err := open(write(t, entries, int64(rows), 1<<30, 1), int64(rows))
	require.NoError(t, err)
	require.NoError(t, x.Compare(ctx, built, func(err error) error { return err }))
	require.NoError(t, x.Compare(ctx, x, func(err error) error { return err }))
	return x
}

// A thousand parts leave enough bits of each hash: few lookups find a row of another one.
func TestJoinMany(t *testing.T) {
	const parts, each = 1000, 300
	var entries []entry
	ends := []int{0}
	for row := range uint32(parts * each) {
		entries = append(entries, entry{uint64(row) * 0x9e3779b97f4a7c15, row})
	}
	var all []Part
	for i := range parts {
		own := slices.Clone(entries[i*each : (i+1)*each])
		for k := range own {
			own[k].row = uint32(k)
		}
		x, err := open(write(t, own, each, 1<<30, 1), each)
		require.NoError(t, err)
		all = append(all, Part{x, int64(i) * each})
		ends = append(ends, (i+1)*each)
	}
	var out bytes.Buffer
	require.NoError(t, Join(ctx, &out, parts*each, 1<<20, func() *storage.Spool { return storage.NewSpool(nil, "") }, all...))
	x := requireJoined(t, out.Bytes(), entries, parts*each)
	require.EqualValues(t, 10, x.unknown)
	found := 0
	for _, e := range entries[:1000] {
		rows, _, err := x.Find(ctx, []uint64{e.hash})
		require.NoError(t, err)
		found += len(rows)
	}
	require.Less(t, found, 2000)
	require.Less(t, len(out.Bytes()), len(entries)*5)
	small := Part{all[0].Index, 0}
	small.Index, _ = open(write(t, entries[:1], 1, 1, 1), 1)
	_, err := join(t, entries, []int{0, 1, parts * each}, 1<<30)
	require.ErrorIs(t, err, ErrCannotJoin)
}

// A hash of which a part has no list is as common in all rows, or the parts cannot be joined.
func TestJoinCommon(t *testing.T) {
	const rows = 70_000
	var entries []entry
	for row := range uint32(2 * rows) {
		entries = append(entries, entry{1 << 63, row}, entry{uint64(row) * 0x9e3779b97f4a7c15, row})
		if row < 60_000 || row >= 130_000 { // common only in all
			entries = append(entries, entry{1 << 62, row})
		}
	}
	joined, err := join(t, entries, []int{0, rows, 2 * rows}, 1<<20)
	require.NoError(t, err)
	requireJoined(t, joined, entries, 2*rows)

	part, err := open(write(t, entries[:3*60_000], rows, 1<<30, 1), rows)
	require.NoError(t, err)
	x, err := open(write(t, slices.DeleteFunc(slices.Clone(entries), func(e entry) bool { return e.row >= rows }), rows, 1<<30, 1), rows)
	require.NoError(t, err)
	require.NoError(t, Join(ctx, io.Discard, 2*rows, 1<<30, nil, Part{part, 0}, Part{x, rows}))
	err = Join(ctx, io.Discard, 300*rows, 1<<30, func() *storage.Spool { return storage.NewSpool(nil, "") }, Part{x, 0})
	require.ErrorIs(t, err, ErrCannotJoin)
}

// Lists of several hashes of the same bits are one, without the rows that both have.
func TestJoinOfEqualBits(t *testing.T) {
	const rows = 60_000
	var entries []entry
	for row := range uint32(rows) {
		for k := range uint64(3) { // two of these make more rows than a list may have, but none is in so many
			entries = append(entries, entry{7<<60 + k<<(64-25), row})
		}
	}
	x, err := open(write(t, entries, rows, 1<<30, 1), rows)
	require.NoError(t, err)
	few, err := open(write(t, entries[:1], 1, 1<<30, 1), 1)
	require.NoError(t, err)
	var out bytes.Buffer
	require.NoError(t, Join(ctx, &out, rows+1, 1<<30, nil, Part{x, 0}, Part{few, rows}))
	joined := requireJoined(t, out.Bytes(), append(entries, entry{7 << 60, rows}), rows+1)
	require.Positive(t, joined.unknown)
	require.EqualValues(t, 1, joined.Hashes)
}

func BenchmarkBuild(b *testing.B) {
	const n = 2_000_000
	b.ReportAllocs()
	for b.Loop() {
		builder := NewBuilder(192<<20, nil)
		for row := range uint32(n) {
			if err := builder.Add(uint64(row)*0x9e3779b97f4a7c15, row); err != nil {
				b.Fatal(err)
			}
		}
		var out bytes.Buffer
		if err := Write(ctx, &out, n, builder); err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(float64(out.Len())/n, "bytes/entry")
	}
	b.ReportMetric(n*float64(b.N)/b.Elapsed().Seconds(), "entries/s")
}

func BenchmarkFind(b *testing.B) {
	const n = 2_000_000
	builder := NewBuilder(192<<20, nil)
	for row := range uint32(n) {
		require.NoError(b, builder.Add(uint64(row)*0x9e3779b97f4a7c15, row))
	}
	var out bytes.Buffer
	require.NoError(b, Write(ctx, &out, n, builder))
	x, err := open(out.Bytes(), n)
	require.NoError(b, err)
	row := uint64(0)
	b.ReportAllocs()
	for b.Loop() {
		row = (row + 7919) % n
		if rows, _, err := x.Find(ctx, []uint64{row * 0x9e3779b97f4a7c15}); err != nil || !slices.Contains(rows, uint32(row)) {
			b.Fatal(row, rows, err)
		}
	}
}
