package envelope_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/amudai/amudai-go/rntuple/internal/column"
	"github.com/amudai/amudai-go/rntuple/internal/envelope"
)

// drawSchema draws a schema whose references lead somewhere.
func drawSchema(t *rapid.T) *envelope.Schema {
	text := rapid.StringN(0, 8, -1)
	s := &envelope.Schema{Name: text.Draw(t, "name"), Description: text.Draw(t, "description"), Writer: text.Draw(t, "writer")}
	fields := rapid.IntRange(1, 20).Draw(t, "fields")
	for i := range fields {
		f := envelope.Field{Version: rapid.Uint32().Draw(t, "version"), TypeVersion: rapid.Uint32().Draw(t, "type version"), Parent: uint32(rapid.IntRange(0, i).Draw(t, "parent")),
			Role: envelope.Role(rapid.Uint16().Draw(t, "role")), Flags: rapid.Uint16().Draw(t, "flags") &^ envelope.FieldProjected,
			Name: text.Draw(t, "name"), TypeName: text.Draw(t, "type"), TypeAlias: text.Draw(t, "alias"), Description: text.Draw(t, "description")}
		if f.Flags&envelope.FieldRepetitive != 0 {
			f.ArraySize = rapid.Uint64().Draw(t, "size")
		}
		if f.Flags&envelope.FieldChecksum != 0 {
			f.TypeChecksum = rapid.Uint32().Draw(t, "checksum")
		}
		s.Fields = append(s.Fields, f)
	}
	for range rapid.IntRange(0, 20).Draw(t, "columns") {
		c := envelope.Column{Type: column.Type(rapid.Uint16Range(0, 40).Draw(t, "type")), Field: uint32(rapid.IntRange(0, fields-1).Draw(t, "field")), Flags: rapid.Uint16().Draw(t, "flags")}
		low, high := c.Type.Bits()
		c.Bits = rapid.Uint16Range(low, high).Draw(t, "bits")
		if c.Type == column.Real32Quant {
			c.Flags |= envelope.ColumnRange
		}
		if c.Flags&envelope.ColumnDeferred != 0 {
			c.FirstElement = rapid.Int64().Draw(t, "first")
		}
		if c.Flags&envelope.ColumnRange != 0 {
			c.Min, c.Max = -1, rapid.Float64Range(0, 1e300).Draw(t, "max")
		}
		s.Columns = append(s.Columns, c)
	}
	for range rapid.IntRange(0, min(2, len(s.Columns))).Draw(t, "aliases") {
		s.Aliases = append(s.Aliases, envelope.Alias{Column: uint32(rapid.IntRange(0, len(s.Columns)-1).Draw(t, "column")), Field: uint32(rapid.IntRange(0, fields-1).Draw(t, "field"))})
	}
	for range rapid.IntRange(0, 2).Draw(t, "extra") {
		s.Extra = append(s.Extra, envelope.ExtraType{Content: rapid.Uint32().Draw(t, "content"), TypeName: text.Draw(t, "type"), Data: text.Draw(t, "data")})
	}
	s.Header = envelope.Counts{Fields: fields, Columns: len(s.Columns), Aliases: len(s.Aliases), Extra: rapid.IntRange(0, len(s.Extra)).Draw(t, "in header")}
	return s
}

func drawLocator(t *rapid.T) envelope.Locator {
	l := envelope.Locator{Offset: rapid.Uint64().Draw(t, "offset"), Size: rapid.Uint64().Draw(t, "size")}
	if rapid.Bool().Draw(t, "small") {
		l.Size &= 0x7FFFFFFF
	}
	if l.Size >= 1<<31 {
		l.Type, l.Reserved = envelope.LocatorLarge, rapid.Byte().Draw(t, "reserved")
	}
	return l
}

func drawClusters(t *rapid.T, columns int) (clusters []envelope.Cluster, entries uint64) {
	for range rapid.IntRange(0, 3).Draw(t, "clusters") {
		c := envelope.Cluster{FirstEntry: entries, Entries: rapid.Uint64Range(0, 1<<40).Draw(t, "entries"), Flags: rapid.Byte().Draw(t, "flags") &^ 1}
		entries += c.Entries
		for range rapid.IntRange(0, columns).Draw(t, "columns") {
			if rapid.Bool().Draw(t, "suppressed") {
				c.AddColumn(math.MinInt64, 0, nil)
				continue
			}
			var pages []envelope.Page
			for range rapid.IntRange(0, 3).Draw(t, "pages") {
				pages = append(pages, envelope.Page{Locator: drawLocator(t), Elements: rapid.Uint32Range(1, 1<<31-1).Draw(t, "elements"), Checksum: rapid.Bool().Draw(t, "checksum")})
			}
			c.AddColumn(rapid.Int64Range(0, 1<<62).Draw(t, "first"), rapid.Uint32().Draw(t, "compression"), pages)
		}
		clusters = append(clusters, c)
	}
	return clusters, entries
}

// TestRandomMetadata: what is written is what is read.
func TestRandomMetadata(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawSchema(t)
		header, err := envelope.AppendHeader(nil, s)
		require.NoError(t, err)
		clusters, entries := drawClusters(t, len(s.Columns))
		group := envelope.ClusterGroup{Entries: entries, Clusters: uint32(len(clusters)), PageList: envelope.Link{Length: rapid.Uint64().Draw(t, "length"), Locator: drawLocator(t)}}
		list, err := envelope.AppendPageList(nil, s, clusters)
		require.NoError(t, err)
		foot := &envelope.Footer{Groups: []envelope.ClusterGroup{group}}
		if rapid.Bool().Draw(t, "with attributes") {
			foot.Attributes = []envelope.AttributeSet{{Major: 1, Minor: 2, Length: 78, Anchor: drawLocator(t), Name: "a"}}
		}
		footer, err := envelope.AppendFooter(nil, s, foot)
		require.NoError(t, err)

		require.NoError(t, s.Check())
		got, gotFoot, gotClusters, err := parse(metadata{header: header, footer: footer, list: list})
		require.NoError(t, err)
		require.Equal(t, s, got)
		require.Equal(t, foot, gotFoot)
		require.Len(t, gotClusters, len(clusters))
		for i := range clusters {
			want, got := &clusters[i], &gotClusters[i]
			require.Equal(t, [3]uint64{want.FirstEntry, want.Entries, uint64(want.Flags)}, [3]uint64{got.FirstEntry, got.Entries, uint64(got.Flags)})
			require.Len(t, got.Columns, len(want.Columns))
			for id := range want.Columns {
				require.Equal(t, want.Columns[id], got.Columns[id])
				require.Len(t, got.Pages(uint32(id)), len(want.Pages(uint32(id))))
				for j, p := range want.Pages(uint32(id)) {
					require.Equal(t, p, got.Pages(uint32(id))[j])
				}
			}
		}
	})
}
