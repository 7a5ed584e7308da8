package envelope_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
	"runtime"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/zeebo/xxh3"

	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/testing/microbench"
	"github.com/amudai/amudai-go/internal/testing/sweep"
	"github.com/amudai/amudai-go/rntuple/internal/envelope"
)

// parse reads all envelopes.
func parse(m metadata) (*envelope.Schema, *envelope.Footer, []envelope.Cluster, error) {
	s, err := envelope.ParseHeader(m.header, envelope.V1)
	if err != nil {
		return nil, nil, nil, err
	}
	f, err := envelope.ParseFooter(m.footer, s)
	if err != nil {
		return nil, nil, nil, err
	}
	if len(f.Groups) == 0 {
		return s, f, nil, nil
	}
	c, err := envelope.ParsePageList(m.list, s, f.Groups[0])
	return s, f, c, err
}

func TestRoundTrip(t *testing.T) {
	m := example(t)
	s, f, clusters, err := parse(m)
	require.NoError(t, err)
	require.Equal(t, m.schema.Fields, s.Fields)
	require.Equal(t, m.schema.Columns, s.Columns)
	require.Equal(t, m.schema.Aliases, s.Aliases)
	require.Equal(t, m.schema.Extra, s.Extra)
	require.Equal(t, m.schema.Header, s.Header)
	require.Equal(t, m.foot, f)
	require.Len(t, clusters, 2)
	for i := range clusters {
		require.Len(t, clusters[i].Columns, 8+i)
		for id := range clusters[i].Columns {
			want := slices.Clone(m.clusters[i].Pages(uint32(id)))
			for j := range want { // of more than 2^31 bytes: written large
				if want[j].Size > 1<<31 {
					want[j].Type = envelope.LocatorLarge
				}
			}
			require.Equal(t, want, clusters[i].Pages(uint32(id)))
		}
	}
	require.Nil(t, clusters[0].Pages(8))
	require.False(t, clusters[0].Has(1))
	require.True(t, clusters[1].Has(8))

	require.Equal(t, []uint32{0, 1, 5, 6, 8, 9}, s.Top())
	require.Equal(t, []uint32{2}, s.Children(1))
	require.Empty(t, s.Children(9))
	require.Equal(t, []uint32{6, 7}, s.ColumnsOf(8))
	require.Equal(t, []uint32{0, 1}, s.ColumnsOf(0))
	require.Equal(t, []uint32{0}, s.AliasesOf(5))
	require.Equal(t, "v._0.a._0", s.Path(4))
	require.Equal(t, uint64(15), f.Entries())

	header, err := envelope.AppendHeader(nil, s)
	require.NoError(t, err)
	require.Equal(t, m.header, header)
	footer, err := envelope.AppendFooter(nil, s, f)
	require.NoError(t, err)
	require.Equal(t, m.footer, footer)
	list, err := envelope.AppendPageList(nil, s, clusters)
	require.NoError(t, err)
	require.Equal(t, m.list, list)
}

// mend makes the length and the checksum of an envelope right again.
func mend(env []byte) []byte {
	if len(env) < envelope.MinLength {
		return env
	}
	binary.LittleEndian.PutUint64(env, uint64(len(env))<<16|binary.LittleEndian.Uint64(env)&0xFFFF)
	content := env[:len(env)-8]
	return binary.LittleEndian.AppendUint64(content, xxh3.Hash(content))
}

// TestChecksums: no bit of an envelope changes unnoticed.
func TestChecksums(t *testing.T) {
	m := example(t)
	for i, env := range []*[]byte{&m.header, &m.footer, &m.list} {
		for bit := 0; bit < 8*len(*env); bit += sweep.Step(3) {
			(*env)[bit/8] ^= 1 << (bit % 8)
			_, _, _, err := parse(m)
			require.Error(t, err, "envelope %d, bit %d", i, bit)
			(*env)[bit/8] ^= 1 << (bit % 8)
		}
		for cut := range *env {
			short := m
			*[]*[]byte{&short.header, &short.footer, &short.list}[i] = (*env)[:cut]
			_, _, _, err := parse(short)
			require.Error(t, err)
		}
	}
}

// hostile parses changed envelopes: nothing but an error may come of it, with memory in proportion to the bytes.
func hostile(t *testing.T, m metadata) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, _, _, err := parse(m)
	runtime.ReadMemStats(&after)
	if took, most := after.TotalAlloc-before.TotalAlloc, uint64(64<<10+16*(len(m.header)+len(m.footer)+len(m.list))); took > most {
		t.Fatalf("%d bytes of memory, more than %d", took, most)
	}
	checkKind(t, err)
}

func checkKind(t *testing.T, err error) {
	for _, kind := range []error{fault.ErrCorrupt, fault.ErrUnsupported, fault.ErrChecksum, fault.ErrLimit} {
		if err == nil || errors.Is(err, kind) {
			return
		}
	}
	t.Fatal(err)
}

// TestHostile changes every bit and cuts at every byte, with lengths and checksums that fit.
func TestHostile(t *testing.T) {
	m := example(t)
	set := func(i int, env []byte) metadata {
		changed := m
		*[]*[]byte{&changed.header, &changed.footer, &changed.list}[i] = env
		if i == 0 { // the others must belong to it
			sum := envelope.Checksum(env)
			footer, list := slices.Clone(m.footer), slices.Clone(m.list)
			binary.LittleEndian.PutUint64(footer[16:], sum)
			binary.LittleEndian.PutUint64(list[8:], sum)
			changed.footer, changed.list = mend(footer), mend(list)
		}
		return changed
	}
	for i, env := range [][]byte{m.header, m.footer, m.list} {
		for bit := 0; bit < 8*len(env); bit += sweep.Step(3) {
			changed := slices.Clone(env)
			changed[bit/8] ^= 1 << (bit % 8)
			hostile(t, set(i, mend(changed)))
		}
		for cut := envelope.MinLength; cut < len(env); cut++ {
			hostile(t, set(i, mend(slices.Clone(env[:cut]))))
		}
		for at := envelope.MinLength; at+8 <= len(env); at++ { // sizes and counts of all ones
			for _, n := range []int{4, 8} {
				changed := slices.Clone(env)
				copy(changed[at:at+n], "\xff\xff\xff\x7f\xff\xff\xff\x7f")
				hostile(t, set(i, mend(changed)))
			}
		}
	}
}

// TestHostileCorpus changes bits of the small envelopes of the corpus, of all formats.
func TestHostileCorpus(t *testing.T) {
	corpus(t, func(t *testing.T, file []byte, want expected) {
		for _, n := range want.Ntuples {
			o := open(t, file, n)
			for kind, env := range append([][]byte{o.header, o.footer}, o.lists...) {
				if max(len(env), len(o.header)) > 4096 {
					continue
				}
				for bit := 64; bit < 8*len(env); bit += sweep.Step(31) {
					changed := slices.Clone(env)
					changed[bit/8] ^= 1 << (bit % 8)
					changed = mend(changed)
					var err error
					switch kind {
					case 0:
						_, err = envelope.ParseHeader(changed, o.schema.Format)
					case 1:
						s, err2 := envelope.ParseHeader(o.header, o.schema.Format)
						require.NoError(t, err2)
						_, err = envelope.ParseFooter(changed, s)
					default:
						_, err = envelope.ParsePageList(changed, o.schema, o.foot.Groups[kind-2])
					}
					checkKind(t, err)
				}
			}
		}
	})
}

// TestDepth: fields are nested no deeper than code may recurse, and parents form no circles.
func TestDepth(t *testing.T) {
	chain := func(n int) error {
		s := &envelope.Schema{}
		for i := range n {
			s.Fields = append(s.Fields, envelope.Field{Parent: uint32(max(i-1, 0)), Name: "f"})
		}
		s.Header.Fields = n
		env, err := envelope.AppendHeader(nil, s)
		require.NoError(t, err)
		_, err = envelope.ParseHeader(env, envelope.V1)
		return err
	}
	require.NoError(t, chain(256))
	require.ErrorIs(t, chain(257), fault.ErrLimit)
	require.ErrorIs(t, chain(100_000), fault.ErrLimit)

	for name, fields := range map[string][]envelope.Field{
		"circle":               {{Parent: 1}, {Parent: 2}, {Parent: 0}},
		"no parent":            {{Parent: 3}},
		"no source":            {{Flags: envelope.FieldProjected, Source: 1}},
		"source is projection": {{Flags: envelope.FieldProjected, Source: 0}},
	} {
		s := &envelope.Schema{Fields: fields, Header: envelope.Counts{Fields: len(fields)}}
		env, err := envelope.AppendHeader(nil, s)
		require.NoError(t, err)
		_, err = envelope.ParseHeader(env, envelope.V1)
		require.ErrorIs(t, err, fault.ErrCorrupt, name)
	}
}

// TestChildrenFirst: parents may stand behind their children.
func TestChildrenFirst(t *testing.T) {
	s := &envelope.Schema{Fields: []envelope.Field{{Parent: 2, Name: "c"}, {Parent: 0, Name: "d"}, {Parent: 2, Name: "a"}}, Header: envelope.Counts{Fields: 3}}
	env, err := envelope.AppendHeader(nil, s)
	require.NoError(t, err)
	s, err = envelope.ParseHeader(env, envelope.V1)
	require.NoError(t, err)
	require.Equal(t, []uint32{2}, s.Top())
	require.Equal(t, "a.c.d", s.Path(1))
}

// TestUnknownLocator: a locator of another type is passed over, and an error only for the reader of its page.
func TestUnknownLocator(t *testing.T) {
	m := example(t)
	large, other := []byte{0xEC, 0xFF, 0xFF, 0xFE}, []byte{0xEC, 0xFF, 0xFF, 0xFD}
	require.Positive(t, bytes.Count(m.list, large))
	m.list = mend(bytes.Replace(m.list, large, other, 1))
	_, _, clusters, err := parse(m)
	require.NoError(t, err)
	require.NoError(t, clusters[0].Pages(0)[0].Check(1<<40, 0))
	err = clusters[0].Pages(0)[1].Check(1<<40, 0)
	require.ErrorIs(t, err, fault.ErrUnsupported)
	require.ErrorContains(t, err, "locator of type 2")
	require.NoError(t, clusters[0].Pages(2)[1].Check(1<<40, 0))
	require.ErrorIs(t, clusters[0].Pages(2)[1].Check(1<<30, 0), fault.ErrCorrupt)
}

// TestMadeByHand: a schema that was made by hand can be asked once it is checked.
func TestMadeByHand(t *testing.T) {
	m := example(t)
	require.NoError(t, m.schema.Check())
	s, _, _, err := parse(m)
	require.NoError(t, err)
	require.Equal(t, s.Top(), m.schema.Top())
	require.Equal(t, s.ColumnsOf(8), m.schema.ColumnsOf(8))

	for name, change := range map[string]func(s *envelope.Schema){
		"column without field":  func(s *envelope.Schema) { s.Columns[3].Field = 10 },
		"bits":                  func(s *envelope.Schema) { s.Columns[0].Bits = 31 },
		"no range":              func(s *envelope.Schema) { s.Columns[3].Flags = 0 },
		"empty range":           func(s *envelope.Schema) { s.Columns[3].Max = -1 },
		"infinite range":        func(s *envelope.Schema) { s.Columns[3].Max = math.Inf(1) },
		"representation":        func(s *envelope.Schema) { s.Columns[1].Representation = 2 },
		"alias of no column":    func(s *envelope.Schema) { s.Aliases[0].Column = 9 },
		"alias of no field":     func(s *envelope.Schema) { s.Aliases[0].Field = 10 },
		"uneven representation": func(s *envelope.Schema) { s.Columns[7].Representation = 1; s.Columns[5].Field = 8 },
	} {
		s := example(t).schema
		change(s)
		require.ErrorIs(t, s.Check(), fault.ErrCorrupt, name)
	}
	s = example(t).schema
	s.Columns[0].Type, s.Columns[0].Bits = 0x99, 77
	require.NoError(t, s.Check())
}

func TestRefusedToWrite(t *testing.T) {
	s := &envelope.Schema{}
	for name, p := range map[string]envelope.Page{
		"locator":          {Locator: envelope.Locator{Type: 2}, Elements: 1},
		"elements":         {Elements: 1 << 31},
		"checksum of none": {Checksum: true},
	} {
		c := make([]envelope.Cluster, 1)
		c[0].AddColumn(0, 0, []envelope.Page{p})
		_, err := envelope.AppendPageList(nil, s, c)
		require.Error(t, err, name)
	}
	_, err := envelope.AppendPageList(nil, s, []envelope.Cluster{{Entries: 1 << 56}})
	require.ErrorIs(t, err, fault.ErrLimit)
}

// FuzzEnvelopes parses any bytes as all envelopes, with lengths and checksums that fit.
func FuzzEnvelopes(f *testing.F) {
	m := example(f)
	f.Add(m.header, m.footer, m.list)
	f.Fuzz(func(t *testing.T, header, footer, list []byte) {
		m := metadata{header: mend(slices.Clone(header)), footer: mend(slices.Clone(footer)), list: mend(slices.Clone(list))}
		for _, format := range []envelope.Format{envelope.V1, envelope.V02} {
			s, err := envelope.ParseHeader(m.header, format)
			checkKind(t, err)
			if err != nil {
				continue
			}
			if len(m.footer) >= 32 {
				binary.LittleEndian.PutUint64(m.footer[16:], s.Checksum)
				m.footer = mend(m.footer)
			}
			foot, err := envelope.ParseFooter(m.footer, s)
			checkKind(t, err)
			if err != nil || len(foot.Groups) == 0 {
				continue
			}
			if len(m.list) >= 24 {
				binary.LittleEndian.PutUint64(m.list[8:], s.Checksum)
				m.list = mend(m.list)
			}
			_, err = envelope.ParsePageList(m.list, s, foot.Groups[0])
			checkKind(t, err)
		}
		_, _, err := envelope.ParseListing(header, footer)
		checkKind(t, err)
	})
}

// FuzzAnchor parses any bytes as an anchor.
func FuzzAnchor(f *testing.F) {
	f.Add(envelope.AppendAnchor(nil, envelope.Anchor{Version: envelope.Version{Epoch: 1}}), true)
	f.Fuzz(func(t *testing.T, payload []byte, early bool) {
		class := envelope.AnchorClass
		if early {
			class = envelope.EarlyAnchorClass
		}
		a, err := envelope.ParseAnchor(payload, class)
		checkKind(t, err)
		checkKind(t, a.Check(1<<20))
	})
}

func BenchmarkHeader(b *testing.B) {
	env := wide(b, 10_000)
	b.ReportAllocs()
	microbench.Output(b, len(env))
	for b.Loop() {
		if _, err := envelope.ParseHeader(env, envelope.V1); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkPageList(b *testing.B) {
	s, err := envelope.ParseHeader(wide(b, 10_000), envelope.V1)
	require.NoError(b, err)
	c := make([]envelope.Cluster, 1)
	c[0].Entries = 1000
	for range s.Columns {
		c[0].AddColumn(0, 505, make([]envelope.Page, 4))
	}
	env, err := envelope.AppendPageList(nil, s, c)
	require.NoError(b, err)
	b.ReportAllocs()
	microbench.Output(b, len(env))
	for b.Loop() {
		if _, err := envelope.ParsePageList(env, s, envelope.ClusterGroup{Entries: 1000, Clusters: 1}); err != nil {
			b.Fatal(err)
		}
	}
}
