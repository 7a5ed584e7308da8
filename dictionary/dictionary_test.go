package dictionary

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/amudai/amudai-go/encoding"
	"github.com/amudai/amudai-go/encoding/bytestring"
	"github.com/amudai/amudai-go/encoding/numeric"
	"github.com/amudai/amudai-go/internal/base/bitmap"
	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/format/edition"
	"github.com/amudai/amudai-go/internal/testing/microbench"
	"github.com/amudai/amudai-go/internal/testing/testdata"
)

const typeString = 8 // any order

// The example of docs/format.md §8.
func TestExample(t *testing.T) {
	b := NewBuilder(typeString, 0)
	require.Equal(t, []uint32{0, 1, 2}, []uint32{b.Add([]byte("b")), b.Add([]byte("a")), b.AddNull()})
	out := b.Append(nil)
	require.Len(t, out, 448)
	require.Equal(t, b.Size(), len(out))
	var places []uint64
	for at := 14; at < 62; at += 8 {
		places = append(places, le.Uint64(out[at:]))
	}
	require.Equal(t, []uint64{128, 208, 208, 320, 320, 416}, places)
	require.Equal(t, "0200000000000000"+"6261"+strings.Repeat("00", 66)+"ed87b500", hex.EncodeToString(out[128:208]))

	require.Equal(t, []Part{
		{"header", -1, 0, 124, 124, 124}, {"values", 128, 136, 138, 204, 4}, {"offsets", 208, 216, 248, 316, 36}, {"sorted ids", 320, 328, 336, 412, 20},
	}, Parts(out))

	d, err := Parse(out, typeString, 0, 0)
	require.NoError(t, err)
	id, ok := d.NullID()
	require.True(t, ok)
	require.EqualValues(t, 2, id)
	ids, err := d.SortedIDs()
	require.NoError(t, err)
	require.Equal(t, []uint32{1, 0}, ids)
	require.Equal(t, []uint32{0, 1, 2, 2}, d.Offsets())

	// With basic type 10, String, the header has this checksum.
	s := NewBuilder(10, 0)
	s.Add([]byte("b"))
	s.Add([]byte("a"))
	s.AddNull()
	require.Equal(t, "db9e683e", hex.EncodeToString(s.Append(nil)[124:128]))
}

func TestRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		fixed := rapid.SampledFrom([]int{0, 0, 1, 5, 16}).Draw(t, "fixed")
		value := rapid.SliceOfN(rapid.ByteRange('a', 'c'), 0, 6)
		if fixed > 0 {
			value = rapid.SliceOfN(rapid.ByteRange('a', 'c'), fixed, fixed)
		}
		n := rapid.IntRange(0, 300).Draw(t, "n")
		var data []byte
		offsets := []int64{0}
		mask := make([]byte, (n+7)/8)
		for i := range n {
			null := rapid.IntRange(0, 9).Draw(t, "null") == 0
			switch {
			case !null:
				bitmap.SetRange(mask, i, 1)
				data = append(data, value.Draw(t, "value")...)
			case fixed > 0:
				data = append(data, make([]byte, fixed)...)
			}
			offsets = append(offsets, int64(len(data)))
		}
		valid := bitmap.Bits{Data: mask, Len: n}
		b := NewBuilder(typeString, fixed)
		codes := b.AddAll(nil, data, offsets, valid)
		if rapid.Bool().Draw(t, "renumber") {
			if perm := b.Renumber(nil); perm != nil {
				for i, c := range codes {
					codes[i] = perm[c]
				}
			}
			for id := 1; id < b.Len(); id++ {
				require.GreaterOrEqual(t, b.Count(uint32(id-1)), b.Count(uint32(id)))
			}
			require.Equal(t, append([]uint32{}, codes...), append([]uint32{}, b.AddAll(nil, data, offsets, valid)...))
		}
		out := b.Append(make([]byte, 3))[3:]
		require.Equal(t, b.Size(), len(out))
		if rapid.Bool().Draw(t, "packed") {
			b.Packed = true
			all := new(Codes)
			all.Append(codes)
			if perm := b.Renumber(all); perm != nil {
				for i, c := range codes {
					codes[i] = perm[c]
				}
			}
			var err error
			out, err = b.AppendPacked(make([]byte, 3), encoding.Options{Features: edition.E2026.Features()})
			require.NoError(t, err)
			out = out[3:]
			start, err := ParseStart(out[:min(len(out), StartLen)], int64(len(out)), typeString, uint32(fixed))
			require.NoError(t, err)
			require.Equal(t, Start{uint32(b.Len()), int64(len(out))}, start)
		}
		d, err := Parse(out, typeString, uint32(fixed), 0)
		require.NoError(t, err)
		require.Equal(t, b.Len(), d.Len())
		require.GreaterOrEqual(t, cap(d.Data())-len(d.Data()), Slack)
		nullID, hasNull := d.NullID()
		for i, c := range codes {
			require.Equal(t, valid.At(i), !hasNull || c != nullID)
			if valid.At(i) {
				want := data[offsets[i]:offsets[i+1]]
				require.Equal(t, string(want), string(d.Value(c)))
				id, ok, err := d.Lookup(want)
				require.NoError(t, err)
				require.True(t, ok)
				require.Equal(t, c, id)
			}
		}
		_, ok, err := d.Lookup([]byte("zz"))
		require.NoError(t, err)
		require.False(t, ok)
		if b.Len() > 0 {
			requireSome(t, d, out, rapid.SliceOfNDistinct(rapid.Uint32Range(0, uint32(b.Len()-1)), 1, -1, rapid.ID).Draw(t, "ids"))
		}
	})
}

// requireSome reads some of the entries of a dictionary.
func requireSome(t require.TestingT, d *Dictionary, raw []byte, ids []uint32) {
	slices.Sort(ids)
	p, err := ParsePartial(raw, typeString, uint32(d.Fixed()), 0)
	require.NoError(t, err)
	_, err = p.Entries([]uint32{uint32(d.Len())})
	require.ErrorIs(t, err, fault.ErrCorrupt)
	some, err := p.Entries(ids)
	require.NoError(t, err)
	require.Equal(t, len(ids), some.Len())
	require.GreaterOrEqual(t, cap(some.Data())-len(some.Data()), Slack)
	for i, id := range ids {
		require.Equal(t, string(d.Value(id)), string(some.Value(uint32(i))))
	}
	null, hasNull := d.NullID()
	someNull, someHasNull := some.NullID()
	require.Equal(t, hasNull, someHasNull)
	if i := slices.Index(ids, null); hasNull && i >= 0 {
		require.EqualValues(t, i, someNull)
	} else {
		require.EqualValues(t, len(ids), someNull)
	}
}

// Every value dictionary in the shards of the reference can be parsed, and its entries in the same order are written
// with the same bytes.
func TestGolden(t *testing.T) {
	root := testdata.Goldens(t)
	found := 0
	require.NoError(t, filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || strings.Contains(path, "vectors") {
			return err
		}
		b, err := os.ReadFile(path)
		require.NoError(t, err)
		if strings.HasSuffix(path, ".gz") {
			b = testdata.Gunzip(t, b)
		}
		for at := 0; at+headerLen <= len(b); at += bufferAlign {
			h := b[at : at+headerLen]
			if le.Uint64(h[14:]) != headerLen || encoding.BlockChecksum(h[:headerUsed]) != binary.LittleEndian.Uint32(h[headerUsed:]) {
				continue
			}
			found++
			compareGolden(t, fmt.Sprintf("%s at %d", path, at), b[at:])
		}
		return nil
	}))
	if testdata.AllGoldens(t) {
		require.Greater(t, found, 100)
	}
	t.Logf("%d value dictionaries written again byte for byte", found)
}

func compareGolden(t *testing.T, name string, raw []byte) {
	fixed := le.Uint32(raw[10:])
	d, err := Parse(raw, raw[0], fixed, 0)
	require.NoError(t, err, name)
	_, err = d.SortedIDs()
	require.NoError(t, err, name)
	b := NewBuilder(raw[0], int(fixed))
	nullID, hasNull := d.NullID()
	for id := range uint32(d.Len()) {
		if hasNull && id == nullID {
			require.Equal(t, id, b.AddNull(), name)
		} else {
			require.Equal(t, id, b.Add(d.Value(id)), name)
		}
	}
	out := b.Append(nil)
	require.Equal(t, raw[:len(out)], out, name)
}

// A flipped bit gives an error, or affects nothing that is read.
func TestDamage(t *testing.T) {
	b := NewBuilder(typeString, 0)
	for _, v := range []string{"pear", "apple", "", "fig"} {
		b.Add([]byte(v))
	}
	b.AddNull()
	good := b.Append(nil)
	read := func(raw []byte) (values []string, err error) {
		d, err := Parse(raw, typeString, 0, 0)
		if err != nil {
			return nil, err
		}
		ids, err := d.SortedIDs()
		if err != nil {
			return nil, err
		}
		for _, id := range ids {
			values = append(values, fmt.Sprintf("%d %s", id, d.Value(id)))
		}
		return values, nil
	}
	want, err := read(good)
	require.NoError(t, err)
	require.Equal(t, []string{"2 ", "1 apple", "3 fig", "0 pear"}, want)
	for bit := range 8 * len(good) {
		bad := slices.Clone(good)
		bad[bit/8] ^= 1 << (bit % 8)
		if got, err := read(bad); err == nil {
			require.Equal(t, want, got, "bit %d", bit)
		}
	}
	for n := range good[:len(good)-bufferAlign] {
		_, err := read(good[:n])
		require.Error(t, err)
	}
	_, err = Parse(good, typeString+1, 0, 0)
	require.ErrorIs(t, err, fault.ErrCorrupt)
}

func TestRenumberChoosesOrder(t *testing.T) {
	add := func(pick func(i int) int) (*Builder, []uint32) {
		b := NewBuilder(typeString, 0)
		var codes []uint32
		for i := range 100_000 {
			codes = append(codes, b.Add(fmt.Appendf(nil, "value %d", pick(i))))
		}
		return b, codes
	}
	sorted, codes := add(func(i int) int { return i / (3 + i%2) })
	require.Nil(t, sorted.Renumber(codesOf(codes)), "values in clusters keep the order of appearance")
	rnd := rand.New(rand.NewPCG(1, 2))
	skewed, codes := add(func(i int) int {
		if i < 1024 || rnd.IntN(5000) == 0 {
			return i
		}
		return 200 * rnd.IntN(4)
	})
	require.NotNil(t, skewed.Renumber(codesOf(codes[:50_000], codes[50_000:])), "frequent values get small ids")
}

func codesOf(parts ...[]uint32) *Codes {
	var c Codes
	for _, ids := range parts {
		c.Append(ids)
	}
	return &c
}

func TestCodes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var c Codes
		var want []uint32
		for range rapid.IntRange(0, 5).Draw(t, "parts") {
			most := rapid.SampledFrom([]uint32{200, 1 << 8, 1 << 16, 1 << 31}).Draw(t, "most")
			ids := make([]uint32, rapid.SampledFrom([]int{0, 1, 100, 4095, 4096, 9000}).Draw(t, "n"))
			for i := range ids {
				ids[i] = uint32(uint64(i) * 7919 % uint64(most))
			}
			want = append(want, ids...)
			c.Append(ids)
			require.Equal(t, len(want), c.Len())
		}
		for range 2 {
			var got []uint32
			require.NoError(t, c.Each(func(ids []uint32) error {
				got = append(got, ids...)
				return nil
			}))
			require.Equal(t, want, got)
		}
	})
}

func TestKeep(t *testing.T) {
	for _, c := range []struct {
		name string
		rows int
		of   func(i int) string
		want bool
	}{
		{"no rows", 0, nil, false},
		{"few rows", 100, func(i int) string { return fmt.Sprint("city ", i%10) }, false},
		{"airports", 200_000, func(i int) string { return fmt.Sprintf("%03x", i*7919%1000) }, true},
		{"long and few", 100_000, func(i int) string { return strings.Repeat(fmt.Sprint(i*7919%3000), 12) }, true},
		{"unique", 50_000, func(i int) string { return fmt.Sprint("user ", i) }, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := NewBuilder(typeString, 0)
			total := 0
			for i := range c.rows {
				v := c.of(i)
				b.Add([]byte(v))
				total += len(v)
			}
			require.Equal(t, c.want, b.Keep(int64(c.rows), int64(total)))
		})
	}
}

// A dictionary of few rows in which most values occur once is not worth its time.
func TestKeepBrief(t *testing.T) {
	for _, c := range []struct {
		distinct    int
		brief, want bool
	}{{600, false, true}, {600, true, false}, {300, true, true}} {
		b := NewBuilder(typeString, 0)
		b.Packed, b.Brief = true, c.brief
		total := 0
		for i := range 1000 {
			v := fmt.Sprintf("%x", sha256.Sum256(fmt.Append(nil, i%c.distinct)))
			b.Add([]byte(v))
			total += len(v)
		}
		require.Equal(t, c.want, b.Keep(1000, int64(total)), "%d", c.distinct)
	}
}

// Values are sorted by their bytes, whatever they share, and by their length where one begins with another.
func TestSortedIDs(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := NewBuilder(typeString, 0)
		shared := rapid.SampledFrom([]string{"", "a", "Mozilla/5.0 (", strings.Repeat("x", 40)}).Draw(t, "shared")
		for i := range rapid.IntRange(0, 50).Draw(t, "values") {
			if i == 7 {
				b.AddNull()
			}
			n := rapid.SampledFrom([]int{0, 1, 8, 9, 16, 17, 30}).Draw(t, "length")
			b.Add(append([]byte(shared), rapid.SliceOfN(rapid.ByteRange(0, 1), 0, n).Draw(t, "value")...))
		}
		ids := b.sortedIDs()
		require.Len(t, ids, b.Distinct())
		for i := 1; i < len(ids); i++ {
			require.Negative(t, bytes.Compare(b.Value(ids[i-1]), b.Value(ids[i])))
		}
		b.Renumber(nil)
		for i := 1; i < len(ids); i++ {
			require.Negative(t, bytes.Compare(b.Value(b.sortedIDs()[i-1]), b.Value(b.sortedIDs()[i])))
		}
	})
}

// A sample tells where a dictionary of few rows is not worth being made: where hardly any values are equal.
func TestRepeats(t *testing.T) {
	for _, c := range []struct {
		rows, distinct int
		want           bool
	}{{1, 1, false}, {2, 1, true}, {1000, 501, false}, {1000, 500, true}, {20_000, 20_000, false}, {20_000, 40_000, false}, {20_000, 5000, true}, {60_000, 60_000, false}, {60_000, 1, true}} {
		v := bytestring.Values{N: c.rows, Offsets: make([]int64, c.rows+1)}
		random := rand.New(rand.NewPCG(1, 2))
		for i := range c.rows {
			k := i % c.distinct
			if c.rows > 1000 {
				k = random.IntN(c.distinct)
			}
			if c.rows == c.distinct {
				k = i
			}
			v.Data = fmt.Appendf(v.Data, "%d", k)
			v.Offsets[i+1] = int64(len(v.Data))
		}
		repeat, expected := Repeats(v, bitmap.All(c.rows))
		require.Equal(t, c.want, repeat, "%+v", c)
		if c.rows <= 1000 { // all are looked at
			require.LessOrEqual(t, c.distinct, expected, "%+v", c)
		}
		require.LessOrEqual(t, expected, c.rows, "%+v", c)
	}
	nulls := bytestring.Values{N: 1000, Offsets: make([]int64, 1001)}
	repeat, expected := Repeats(nulls, bitmap.Bits{Data: make([]byte, 125), Len: 1000})
	require.True(t, repeat)
	require.Zero(t, expected)
}

// Of a brief column in which most values are distinct, the first tell that.
func TestStayOfBrief(t *testing.T) {
	for _, c := range []struct {
		brief bool
		every int // values are distinct but one in so many
		all   int64
		want  bool
	}{{true, 3, 40_000, false}, {true, 2, 40_000, true}, {true, 3, 0, true}, {true, 3, BriefRows, false}, {true, 3, BriefRows + 1, true}, {false, 3, 40_000, true}} {
		b := NewBuilder(typeString, 0)
		b.Packed, b.Brief = true, c.brief
		for i := range FirstLook {
			if i%c.every == 0 {
				i = 0
			}
			b.Add(fmt.Appendf(nil, "%d", i))
		}
		require.Equal(t, c.want, b.Stay(FirstLook, c.all), "%+v", c)
	}
}

func TestBudget(t *testing.T) {
	b := NewBuilder(typeString, 0)
	b.Budget = 1 << 20
	rows := 0
	for ; !b.Full(); rows++ {
		b.Add(bytes.Repeat(fmt.Appendf(nil, "%08d", rows), 4))
	}
	require.False(t, b.Stay(int64(rows), 0))
	require.False(t, b.Keep(1<<40, 1<<50))
	require.Less(t, b.Memory(), 4<<20)
}

// Sorted values share more with the one before, and their ids need no list: values are put in order where codes grow
// by less.
func TestPackedOrder(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	b := NewBuilder(typeString, 0)
	b.Packed = true
	var codes Codes
	for range 20_000 {
		codes.Append([]uint32{b.Add(fmt.Appendf(nil, "Mozilla/5.0 (X11; Linux %d) Gecko/%d Firefox/%d", rnd.IntN(8), rnd.IntN(20), rnd.IntN(20)))})
	}
	require.NotNil(t, b.Renumber(&codes))
	for id := 1; id < b.Len(); id++ {
		require.Less(t, string(b.Value(uint32(id-1))), string(b.Value(uint32(id))))
	}
	out, err := b.AppendPacked(nil, encoding.Options{Features: edition.E2026.Features()})
	require.NoError(t, err)
	require.Less(t, 10*len(out), b.Size())
	require.Less(t, int64(len(out)), 3*b.packedSize(b.ratio()))
	last := b.Add([]byte("a later value"))
	require.EqualValues(t, last, b.sortedIDs()[b.Len()-1])
}

// Whatever is cut off, and whatever bit is flipped, is an error.
func TestPackedDamage(t *testing.T) {
	b := NewBuilder(typeString, 0)
	for i := range 100 {
		b.Add(fmt.Appendf(nil, "value %d", i*i))
	}
	b.AddNull()
	out, err := b.AppendPacked(nil, encoding.Options{Features: edition.E2026.Features()})
	require.NoError(t, err)
	require.Equal(t, []Part{{"header", -1, 0, len(out) - 4, len(out) - 4, len(out) - 4}}, Parts(out))
	for n := range out {
		_, err := Parse(out[:n], typeString, 0, 0)
		require.Error(t, err)
		if n >= StartLen {
			_, err = ParseStart(out[:StartLen], int64(n), typeString, 0)
			require.ErrorIs(t, err, fault.ErrCorrupt)
		}
	}
	for bit := range 8 * len(out) {
		out[bit/8] ^= 1 << (bit % 8)
		_, err := Parse(out, typeString, 0, 0)
		require.Error(t, err, "bit %d", bit)
		_, err = ParsePartial(out, typeString, 0, 0)
		require.Error(t, err, "bit %d", bit)
		mend(out)
		if p, err := ParsePartial(out, typeString, 0, 1<<20); err == nil {
			_, _ = p.Entries([]uint32{0, 3, 99})
		}
		if d, err := Parse(out, typeString, 0, 1<<20); err == nil {
			_, _ = d.SortedIDs()
		}
		out[bit/8] ^= 1 << (bit % 8)
		mend(out)
	}
	_, err = Parse(out, typeString, 0, 100)
	require.ErrorIs(t, err, fault.ErrLimit)
}

func FuzzParse(f *testing.F) {
	for _, fixed := range []int{0, 2} {
		b := NewBuilder(typeString, fixed)
		b.Add([]byte("zz"))
		b.Add([]byte("aa"))
		b.AddNull()
		f.Add(b.Append(nil), uint32(fixed))
		packed, err := b.AppendPacked(nil, encoding.Options{Features: edition.E2026.Features()})
		require.NoError(f, err)
		f.Add(packed, uint32(fixed))
		if b.Key = NumberKey(numeric.I16); fixed == 2 {
			f.Add(b.Append(nil), uint32(fixed))
		}
	}
	f.Fuzz(func(t *testing.T, raw []byte, fixed uint32) {
		mend(raw)
		d, err := Parse(raw, typeString, fixed, 1<<24)
		if err != nil {
			return
		}
		if t, ok := map[uint32]numeric.Type{1: numeric.U8, 2: numeric.I16, 4: numeric.F32, 8: numeric.F64}[fixed]; ok {
			d.Key = NumberKey(t)
		}
		for id := range min(d.Len(), 1000) {
			d.Value(uint32(id))
		}
		if ids, err := d.SortedIDs(); err == nil && len(ids) > 0 {
			if id, ok, err := d.Lookup(d.Value(ids[0])); err != nil || !ok || id != ids[0] {
				t.Fatalf("lookup of value %d: %d %v %v", ids[0], id, ok, err)
			}
		}
	})
}

// mend corrects the checksums of valid sections, so that fuzzing reaches the code behind the checks.
func mend(raw []byte) {
	if isPacked(raw) {
		if p, err := parsePacked(raw); err == nil && p.len() <= int64(len(raw)) {
			n := int(p.len()) - 4
			le.PutUint32(raw[n:], encoding.BlockChecksum(raw[:n]))
		}
		return
	}
	if len(raw) < headerLen {
		return
	}
	le.PutUint32(raw[headerUsed:], encoding.BlockChecksum(raw[:headerUsed]))
	for at := 14; at < 62; at += 16 {
		payload, err := section(raw, "", span{le.Uint64(raw[at:]), le.Uint64(raw[at+8:])})
		if err == nil {
			all := payload[:cap(payload)]
			le.PutUint32(all[len(all)-4:], encoding.BlockChecksum(payload))
		}
	}
}

func BenchmarkAdd(b *testing.B) {
	for _, distinct := range []int{10, 1000, 100_000} {
		b.Run(fmt.Sprintf("distinct=%d", distinct), func(b *testing.B) {
			rnd := rand.New(rand.NewPCG(1, 2))
			var data []byte
			offsets := []int64{0}
			for range 1 << 16 {
				data = fmt.Appendf(data, "value %d", rnd.IntN(distinct))
				offsets = append(offsets, int64(len(data)))
			}
			d := NewBuilder(typeString, 0)
			var codes []uint32
			microbench.Output(b, len(data))
			for b.Loop() {
				codes = d.AddAll(codes[:0], data, offsets, bitmap.All(1<<16))
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/(1<<16), "ns/value")
		})
	}
}
