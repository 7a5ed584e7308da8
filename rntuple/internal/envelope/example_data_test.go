package envelope_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/rntuple/internal/column"
	"github.com/amudai/amudai-go/rntuple/internal/envelope"
)

// metadata is all envelopes of an ntuple with one page list.
type metadata struct {
	header, footer, list []byte
	schema               *envelope.Schema
	foot                 *envelope.Footer
	clusters             []envelope.Cluster
}

// example has one of everything: all roles, a projection, two representations, a quantized column, an extension with a
// deferred column, an attribute set, a suppressed column, pages with and without checksum, both locators.
func example(t testing.TB) metadata {
	s := &envelope.Schema{Name: "ntuple", Description: "of tests", Writer: "amudai",
		Fields: []envelope.Field{
			{Name: "x", TypeName: "float"},
			{Parent: 1, Role: envelope.RoleCollection, Name: "v", TypeName: "std::vector<Point>", TypeAlias: "Points", Description: "of a track"},
			{Parent: 1, Role: envelope.RoleRecord, Name: "_0", TypeName: "Point", TypeVersion: math.MaxUint32, Flags: envelope.FieldChecksum, TypeChecksum: 0xABCD},
			{Parent: 2, Name: "a", TypeName: "std::array<double,3>", Flags: envelope.FieldRepetitive, ArraySize: 3},
			{Parent: 3, Name: "_0", TypeName: "double"},
			{Parent: 5, Name: "n", TypeName: "ROOT::RNTupleCardinality<std::uint64_t>", Flags: envelope.FieldProjected, Source: 1},
			{Parent: 6, Role: envelope.RoleVariant, Name: "var"},
			{Parent: 6, Name: "_0", TypeName: "bool"},
			{Parent: 8, Role: envelope.RoleStreamer, Name: "object", TypeName: "TH1F"},
			{Parent: 9, Name: "late", TypeName: "std::int32_t"},
		},
		Columns: []envelope.Column{
			{Type: column.SplitReal32, Bits: 32, Field: 0},
			{Type: column.Real16, Bits: 16, Field: 0, Representation: 1},
			{Type: column.SplitIndex64, Bits: 64, Field: 1},
			{Type: column.Real32Quant, Bits: 13, Field: 4, Flags: envelope.ColumnRange, Min: -1, Max: 2.5},
			{Type: column.Switch, Bits: 96, Field: 6},
			{Type: column.Bit, Bits: 1, Field: 7},
			{Type: column.Index32, Bits: 32, Field: 8},
			{Type: column.Byte, Bits: 8, Field: 8},
			{Type: column.SplitInt32, Bits: 32, Field: 9, Flags: envelope.ColumnDeferred, FirstElement: 10},
		},
		Aliases: []envelope.Alias{{Column: 2, Field: 5}},
		Extra:   []envelope.ExtraType{{Data: "\x40\x00TList"}},
		Header:  envelope.Counts{Fields: 9, Columns: 8, Aliases: 1},
	}
	var m metadata
	var err error
	m.header, err = envelope.AppendHeader(nil, s)
	require.NoError(t, err)
	page := func(n uint32, checksum bool, size uint64) envelope.Page {
		return envelope.Page{Locator: envelope.Locator{Offset: 1000, Size: size}, Elements: n, Checksum: checksum}
	}
	m.clusters = []envelope.Cluster{{FirstEntry: 0, Entries: 10}, {FirstEntry: 10, Entries: 5}}
	for i := range m.clusters {
		c := &m.clusters[i]
		for id := range 8 + i {
			switch {
			case id == 1-i:
				c.AddColumn(math.MinInt64, 0, nil) // suppressed
			case id == 4:
				c.AddColumn(int64(c.FirstEntry), 505, nil)
			default:
				c.AddColumn(int64(c.FirstEntry), 505, []envelope.Page{page(3, true, 12), page(uint32(c.Entries)-3, false, 1<<32)})
			}
		}
	}
	m.list, err = envelope.AppendPageList(nil, s, m.clusters)
	require.NoError(t, err)
	m.foot = &envelope.Footer{
		Groups:     []envelope.ClusterGroup{{Entries: 15, Clusters: 2, PageList: envelope.Link{Length: uint64(len(m.list)), Locator: envelope.Locator{Offset: 77, Size: 99}}}},
		Attributes: []envelope.AttributeSet{{Major: 1, Length: envelope.AnchorSize, Anchor: envelope.Locator{Offset: 500, Size: 78}, Name: "attributes"}},
	}
	m.footer, err = envelope.AppendFooter(nil, s, m.foot)
	require.NoError(t, err)
	m.schema = s
	return m
}

// wide is the header of an ntuple with many fields, as those of experiments have them.
func wide(t testing.TB, fields int) []byte {
	rng := rand.New(rand.NewPCG(1, 1))
	s := &envelope.Schema{Name: "Events", Writer: "amudai"}
	for i := 0; i < fields; {
		s.Fields = append(s.Fields, envelope.Field{Parent: uint32(i), Name: fmt.Sprintf("Muon_%d_pt", i), TypeName: "float", Description: "pt of the muon after corrections"})
		typ, bits := column.SplitReal32, uint16(32)
		if rng.IntN(3) == 0 && i+2 < fields {
			s.Fields[i].Role, s.Fields[i].TypeName = envelope.RoleCollection, "ROOT::VecOps::RVec<float>"
			s.Columns = append(s.Columns, envelope.Column{Type: column.SplitIndex64, Bits: 64, Field: uint32(i)})
			s.Fields = append(s.Fields, envelope.Field{Parent: uint32(i), Name: "_0", TypeName: "float"})
		}
		i = len(s.Fields)
		s.Columns = append(s.Columns, envelope.Column{Type: typ, Bits: bits, Field: uint32(i - 1)})
	}
	s.Header = envelope.Counts{Fields: len(s.Fields), Columns: len(s.Columns)}
	env, err := envelope.AppendHeader(nil, s)
	require.NoError(t, err)
	return env
}
