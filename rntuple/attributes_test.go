package rntuple

import (
	"bytes"
	"encoding/binary"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/rntuple/internal/envelope"
)

// A linked attribute set is listed, read and verified. No public file has one: here it is the ntuple itself, under
// a copy of its anchor, which a new footer names.
func TestAttributeSets(t *testing.T) {
	file := bytes.Clone(selection(t, "plain.root")["plain.root"])
	e := findEnvelopes(t, file)
	n, err := OpenReaderAt(t.Context(), "x", bytes.NewReader(file), int64(len(file)), Options{})
	require.NoError(t, err)
	end := binary.BigEndian.AppendUint32(nil, uint32(len(file))) // in the file header and in the free list
	ends := [2]int{bytes.Index(file, end), bytes.LastIndex(file, end)}
	own := file[e.anchor : e.anchor+e.anchorSize]

	footer := *n.table.Footer()
	at := uint64(len(file))
	footer.Attributes = []envelope.AttributeSet{{
		Major: 1, Length: uint32(len(own)), Anchor: envelope.Locator{Offset: at, Size: uint64(len(own))}, Name: "calibration",
	}}
	file = append(file, own...)
	begin := len(file)
	file, err = envelope.AppendFooter(file, n.table.Schema(), &footer)
	require.NoError(t, err)
	anchor := n.table.Anchor()
	size := uint64(len(file) - begin)
	anchor.Footer = envelope.Link{Length: size, Locator: envelope.Locator{Offset: uint64(begin), Size: size}}
	copy(file[e.anchor:], envelope.AppendAnchor(nil, anchor))

	for _, at := range ends {
		binary.BigEndian.PutUint32(file[at:], uint32(len(file)))
	}

	linked, err := OpenReaderAt(t.Context(), "x", bytes.NewReader(file), int64(len(file)), Options{})
	require.NoError(t, err)
	require.Equal(t, []string{"calibration"}, linked.AttributeSets())
	set, err := linked.OpenAttributes(t.Context(), "calibration")
	require.NoError(t, err)
	requireRows(t, scanAll(t, n, ScanOptions{}), entriesOf(n), scanAll(t, set, ScanOptions{}))
	require.NoError(t, set.Close())
	_, err = linked.OpenAttributes(t.Context(), "other")
	require.ErrorContains(t, err, "other")

	report, err := verifyBytes(t.Context(), file)
	require.NoError(t, err)
	require.Empty(t, report.Problems)
	file[at+10] ^= 1 // in the anchor of the set
	report, err = verifyBytes(t.Context(), file)
	require.NoError(t, err)
	require.Len(t, report.Problems, 1)
	require.ErrorContains(t, report.Problems[0], "calibration")
}

func entriesOf(n *NTuple) (all []int64) {
	for i := range n.NumEntries() {
		all = append(all, i)
	}
	return all
}
