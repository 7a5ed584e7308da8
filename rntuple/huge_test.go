package rntuple

import (
	"bytes"
	"encoding/binary"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/rntuple/internal/envelope"
)

// rebuilt is plain.root with other metadata, at the end of the file.
func rebuilt(t testing.TB, edit func(s *envelope.Schema, c *envelope.Cluster)) []byte {
	file := bytes.Clone(selection(t, "plain.root")["plain.root"])
	e := findEnvelopes(t, file)
	n := openBytes(t, file, Options{})
	require.NoError(t, n.Load(t.Context()))
	schema, cluster, anchor := *n.Schema(), n.Clusters()[0], n.Anchor()
	edit(&schema, &cluster)
	schema.Header = envelope.Counts{Fields: len(schema.Fields), Columns: len(schema.Columns)}
	require.NoError(t, schema.Check())

	end := binary.BigEndian.AppendUint32(nil, uint32(len(file))) // in the file header and in the free list
	ends := [2]int{bytes.Index(file, end), bytes.LastIndex(file, end)}
	add := func(b []byte, err error) (l envelope.Link) {
		require.NoError(t, err)
		l.Offset, l.Size, l.Length = uint64(len(file)), uint64(len(b)), uint64(len(b))
		file = append(file, b...)
		return l
	}
	anchor.Header = add(envelope.AppendHeader(nil, &schema))
	list := add(envelope.AppendPageList(nil, &schema, []envelope.Cluster{cluster}))
	anchor.Footer = add(envelope.AppendFooter(nil, &schema, &envelope.Footer{Groups: []envelope.ClusterGroup{{Entries: cluster.Entries, Clusters: 1, PageList: list}}}))
	copy(file[e.anchor:], envelope.AppendAnchor(nil, anchor))
	for _, at := range ends {
		binary.BigEndian.PutUint32(file[at:], uint32(len(file)))
	}
	return file
}

// Counts that nothing in the file stands for cost no memory, and the verification ends.
func TestHugeCounts(t *testing.T) {
	const huge = 1 << 55
	for name, edit := range map[string]func(s *envelope.Schema, c *envelope.Cluster){
		"deferred columns": func(s *envelope.Schema, c *envelope.Cluster) {
			s.Columns = append([]envelope.Column(nil), s.Columns...)
			for i := range s.Columns {
				s.Columns[i].Flags |= envelope.ColumnDeferred
				s.Columns[i].FirstElement = huge
			}
			*c = envelope.Cluster{Entries: huge}
			c.AddColumn(0, 0, nil)
			c.AddColumn(0, 0, nil)
		},
		"missing columns": func(_ *envelope.Schema, c *envelope.Cluster) { *c = envelope.Cluster{Entries: huge} },
		"structs without fields": func(s *envelope.Schema, c *envelope.Cluster) {
			s.Fields = []envelope.Field{{Name: "e", Role: envelope.RoleRecord}}
			s.Columns = nil
			*c = envelope.Cluster{Entries: huge}
		},
		"arrays, which leave out their field": func(s *envelope.Schema, _ *envelope.Cluster) {
			s.Fields = append([]envelope.Field(nil), s.Fields...)
			s.Fields[0].Flags |= envelope.FieldRepetitive
			s.Fields[0].ArraySize = huge
		},
		"pages of one place": func(s *envelope.Schema, c *envelope.Cluster) {
			page := c.Pages(0)[0]
			*c = envelope.Cluster{}
			pages := make([]envelope.Page, 10_000)
			for i := range pages {
				pages[i] = page
				c.Entries += uint64(page.Elements)
			}
			s.Fields, s.Columns = s.Fields[:1], s.Columns[:1]
			c.AddColumn(0, 0, pages)
		},
	} {
		t.Run(name, func(t *testing.T) {
			file := rebuilt(t, edit)
			hostile(t, file)
			c, err := readContent(t.Context(), file, "", 2)
			require.NoError(t, err)
			require.NotEmpty(t, c.batches)
			c.release()
		})
	}
}

// What is rebuilt without a change is what it was.
func TestRebuilt(t *testing.T) {
	file := rebuilt(t, func(*envelope.Schema, *envelope.Cluster) {})
	was := contents(t, selection(t, "plain.root")["plain.root"])
	require.True(t, sameContent(was[0], contents(t, file)[0]))
	report, err := verifyBytes(t.Context(), file)
	require.NoError(t, err)
	require.Empty(t, report.Problems)
}
