package envelope_test

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/internal/testing/testdata"
	"github.com/amudai/amudai-go/rntuple/internal/envelope"
)

// expected is what the corpus says about the metadata of a file.
type expected struct {
	File    string
	Ntuples []ntuple
}

type ntuple struct {
	Path        string
	Name        *string `json:"name_in_header"`
	Description *string
	Writer      string
	Class       string // of formats before 1.0
	Anchor      struct {
		ClassVersion uint16 `json:"class_version"`
		Epoch, Major uint16
		Minor, Patch uint16
		SeekHeader   uint64 `json:"seek_header"`
		NbytesHeader uint64 `json:"nbytes_header"`
		LenHeader    uint64 `json:"len_header"`
		SeekFooter   uint64 `json:"seek_footer"`
		NbytesFooter uint64 `json:"nbytes_footer"`
		LenFooter    uint64 `json:"len_footer"`
		MaxKeySize   uint64 `json:"max_key_size"`
		PayloadLen   int    `json:"payload_len"`
	}
	Attributes *[]any  `json:"linked_attribute_sets"`
	HeaderXXH3 string  `json:"header_xxh3"`
	Entries    uint64  `json:"n_entries"`
	Groups     []group `json:"cluster_groups"`
	Clusters   []struct {
		FirstEntry  uint64   `json:"first_entry"`
		Entries     uint64   `json:"n_entries"`
		Columns     *int     `json:"n_columns"`
		Pages       int      `json:"n_pages"`
		Suppressed  []uint32 `json:"suppressed_columns"`
		Compression []uint32
	}
	Pages struct {
		Pages     int
		Checksums int `json:"pages_ck"`
		Raw       int `json:"pages_raw"`
		Shared    int `json:"shared_pages"`
	}
	Schema struct {
		Fields  []field
		Columns []col
		Aliases []struct{ Physical, Field uint32 } `json:"alias_columns"`
		Extra   []map[string]any                   `json:"extra_type_info"`
	}
}

type group struct {
	MinEntry uint64 `json:"min_entry"`
	Span     uint64 `json:"entry_span"`
	Clusters uint32 `json:"n_clusters"`
	Len      uint64
	Locator  struct {
		Size, Offset uint64
		Type         uint8
	}
}

type field struct {
	ID, Parent       uint32
	Name, Type, Role string
	Alias, Desc      string
	Flags            uint16
	FieldVersion     uint32 `json:"field_version"`
	TypeVersion      uint32 `json:"type_version"`
	ArraySize        uint64 `json:"array_size"`
	Source, Checksum uint32
	Where            string
}

type col struct {
	ID, Field    uint32
	Type         string
	Bits, Flags  uint16
	Repr         uint16
	FirstElement int64 `json:"first_element"`
	Min, Max     float64
	Where        string
	Elements     *elements
}

type elements struct {
	N      int
	SHA256 string
}

// corpus calls test for each file of the corpus that has expected contents.
func corpus(t *testing.T, test func(t *testing.T, file []byte, want expected)) {
	dir := filepath.Join(testdata.Shared(t), "corpus", "rntuple")
	names, err := filepath.Glob(filepath.Join(dir, "expected", "*.json"))
	require.NoError(t, err)
	require.Greater(t, len(names), 50)
	for _, name := range names {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".root.json"), func(t *testing.T) {
			raw, err := os.ReadFile(name)
			require.NoError(t, err)
			var want expected
			require.NoError(t, json.Unmarshal(raw, &want))
			file, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(want.File)))
			require.NoError(t, err)
			test(t, file, want)
		})
	}
}

// opened is the metadata of an ntuple of the corpus.
type opened struct {
	header, footer []byte
	schema         *envelope.Schema
	foot           *envelope.Footer
	lists          [][]byte
	clusters       [][]envelope.Cluster
}

// open reads all metadata of an ntuple. Where it begins is taken from what is expected.
func open(t testing.TB, file []byte, want ntuple) opened {
	a := want.Anchor
	format := envelope.V1
	if a.Epoch == 0 {
		format = envelope.V02
	}
	var o opened
	var err error
	o.header = unpack(t, file, envelope.Link{Length: a.LenHeader, Locator: envelope.Locator{Offset: a.SeekHeader, Size: a.NbytesHeader}})
	o.schema, err = envelope.ParseHeader(o.header, format)
	require.NoError(t, err)
	o.footer = unpack(t, file, envelope.Link{Length: a.LenFooter, Locator: envelope.Locator{Offset: a.SeekFooter, Size: a.NbytesFooter}})
	o.foot, err = envelope.ParseFooter(o.footer, o.schema)
	require.NoError(t, err)
	for _, g := range o.foot.Groups {
		require.NoError(t, g.PageList.Check(int64(len(file)), 0))
		list := unpack(t, file, g.PageList)
		clusters, err := envelope.ParsePageList(list, o.schema, g)
		require.NoError(t, err)
		o.lists, o.clusters = append(o.lists, list), append(o.clusters, clusters)
	}
	return o
}

func TestCorpus(t *testing.T) {
	corpus(t, func(t *testing.T, file []byte, want expected) {
		for _, n := range want.Ntuples {
			o := open(t, file, n)
			checkElements(t, file, n, o)
			checkSchema(t, n, o)
			checkClusters(t, n, o)
		}
	})
}

func checkSchema(t *testing.T, want ntuple, o opened) {
	s := o.schema
	require.Equal(t, want.Writer, s.Writer)
	if want.Name != nil {
		require.Equal(t, *want.Name, s.Name)
		require.Equal(t, *want.Description, s.Description)
		require.Equal(t, want.HeaderXXH3, fmt.Sprintf("%016x", s.Checksum))
	}
	fields := []field{}
	for i, f := range s.Fields {
		got := field{ID: uint32(i), Parent: f.Parent, Name: f.Name, Type: f.TypeName, Role: f.Role.String(), Alias: f.TypeAlias, Desc: f.Description,
			Flags: f.Flags, FieldVersion: f.Version, TypeVersion: f.TypeVersion, ArraySize: f.ArraySize, Source: f.Source, Checksum: f.TypeChecksum}
		if i >= s.Header.Fields {
			got.Where = "extension"
		}
		fields = append(fields, got)
	}
	require.Equal(t, want.Schema.Fields, fields)
	columns := []col{}
	for i, c := range s.Columns {
		got := col{ID: uint32(i), Field: c.Field, Type: c.Type.String(), Bits: c.Bits, Flags: c.Flags, Repr: c.Representation, FirstElement: c.FirstElement, Min: c.Min, Max: c.Max}
		if i >= s.Header.Columns {
			got.Where = "extension"
		}
		columns = append(columns, got)
	}
	for i := range want.Schema.Columns {
		want.Schema.Columns[i].Elements = nil
	}
	require.Equal(t, want.Schema.Columns, columns)
	require.Len(t, s.Aliases, len(want.Schema.Aliases))
	for i, a := range s.Aliases {
		require.Equal(t, want.Schema.Aliases[i].Physical, a.Column)
		require.Equal(t, want.Schema.Aliases[i].Field, a.Field)
	}
	require.Len(t, s.Extra, len(want.Schema.Extra))
}

func checkClusters(t *testing.T, want ntuple, o opened) {
	require.Equal(t, want.Entries, o.foot.Entries())
	if want.Class == "" {
		require.Equal(t, want.Attributes == nil, o.foot.Attributes == nil)
		require.Len(t, o.foot.Groups, len(want.Groups))
		for i, g := range o.foot.Groups {
			w := want.Groups[i]
			require.Equal(t, envelope.ClusterGroup{FirstEntry: w.MinEntry, Entries: w.Span, Clusters: w.Clusters,
				PageList: envelope.Link{Length: w.Len, Locator: envelope.Locator{Offset: w.Locator.Offset, Size: w.Locator.Size, Type: w.Locator.Type}}}, g)
		}
	}
	var all []envelope.Cluster
	for _, c := range o.clusters {
		all = append(all, c...)
	}
	require.Len(t, all, len(want.Clusters))
	total, checksums := 0, 0
	for i, w := range want.Clusters {
		c := &all[i]
		require.Equal(t, w.FirstEntry, c.FirstEntry)
		require.Equal(t, w.Entries, c.Entries)
		if w.Columns != nil {
			require.Len(t, c.Columns, *w.Columns)
		}
		pages := 0
		suppressed := []uint32{}
		for id := range c.Columns {
			pages += len(c.Pages(uint32(id)))
			if !c.Has(uint32(id)) {
				suppressed = append(suppressed, uint32(id))
			}
			for _, p := range c.Pages(uint32(id)) {
				if p.Checksum {
					checksums++
				}
			}
		}
		total += pages
		require.Equal(t, w.Pages, pages)
		if w.Suppressed != nil {
			require.Equal(t, w.Suppressed, suppressed)
		}
	}
	require.Equal(t, want.Pages.Pages, total)
	require.Equal(t, want.Pages.Checksums, checksums)
}

// TestAppendCorpus writes the metadata of the corpus anew: envelopes of format 1.0 come out as ROOT and uproot wrote them.
func TestAppendCorpus(t *testing.T) {
	same := func(t *testing.T, what string, want, got []byte, err error) {
		require.NoError(t, err)
		if !bytes.Equal(want, got) {
			require.Equal(t, hex.Dump(want), hex.Dump(got), what)
		}
	}
	corpus(t, func(t *testing.T, file []byte, want expected) {
		for _, n := range want.Ntuples {
			if n.Anchor.Epoch == 0 {
				continue
			}
			o := open(t, file, n)
			got, err := envelope.AppendHeader([]byte("before"), o.schema)
			same(t, "header", append([]byte("before"), o.header...), got, err)
			got, err = envelope.AppendFooter(nil, o.schema, o.foot)
			same(t, "footer", o.footer, got, err)
			for i, list := range o.lists {
				got, err := envelope.AppendPageList(nil, o.schema, o.clusters[i])
				same(t, "page list", list, got, err)
			}
		}
	})
}
