package rntuple

import (
	"bytes"
	"encoding/binary"
	"os"
	"path/filepath"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/internal/engine/scan"
	"github.com/amudai/amudai-go/rntuple/internal/envelope"
	"github.com/amudai/amudai-go/rntuple/internal/read"
	"github.com/amudai/amudai-go/table"
	"github.com/amudai/amudai-go/table/provider"
)

// A linked attribute set is listed, read as a table, and described and verified with its ntuple. No public file has one: here it is the ntuple itself, under
// a copy of its anchor, which a new footer names.
func TestAttributeSets(t *testing.T) {
	file := bytes.Clone(selection(t, "plain.root")["plain.root"])
	e := findEnvelopes(t, file)
	n := openBytes(t, file, Options{})
	end := binary.BigEndian.AppendUint32(nil, uint32(len(file))) // in the file header and in the free list
	ends := [2]int{bytes.Index(file, end), bytes.LastIndex(file, end)}
	own := file[e.anchor : e.anchor+e.anchorSize]

	footer := *n.Footer()
	at := uint64(len(file))
	footer.Attributes = []envelope.AttributeSet{{
		Major: 1, Length: uint32(len(own)), Anchor: envelope.Locator{Offset: at, Size: uint64(len(own))}, Name: "calibration",
	}}
	file = append(file, own...)
	begin := len(file)
	file, err := envelope.AppendFooter(file, n.Schema(), &footer)
	require.NoError(t, err)
	anchor := n.Anchor()
	size := uint64(len(file) - begin)
	anchor.Footer = envelope.Link{Length: size, Locator: envelope.Locator{Offset: uint64(begin), Size: size}}
	copy(file[e.anchor:], envelope.AppendAnchor(nil, anchor))

	for _, at := range ends {
		binary.BigEndian.PutUint32(file[at:], uint32(len(file)))
	}

	format := New(FormatOptions{})
	list, err := format.Tables(t.Context(), inputOf(file))
	require.NoError(t, err)
	require.Equal(t, []provider.Entry{{Path: "ntpl"}, {Path: "ntpl:calibration"}}, list)
	location := filepath.Join(t.TempDir(), "a.root")
	require.NoError(t, os.WriteFile(location, file, 0o600))
	for _, path := range []string{"ntpl:calibration", "ntpl;1:calibration", ":calibration"} {
		set, err := table.Open(t.Context(), location+":"+path)
		require.NoError(t, err)
		var batches []arrow.RecordBatch
		for b, err := range set.Scan(t.Context(), table.ScanOptions{}) {
			require.NoError(t, err, path)
			b.Retain()
			batches = append(batches, b)
		}
		requireSame(t, batches, n, scan.Options{})
		require.NoError(t, set.Close())
	}
	for _, path := range []string{"ntpl:other", "other:calibration"} {
		set, err := table.Open(t.Context(), location+":"+path)
		require.NoError(t, err)
		_, err = set.Schema(t.Context())
		require.ErrorContains(t, err, "other")
		require.NoError(t, set.Close())
	}

	var notices []string
	src, err := format.Open(t.Context(), inputOf(file), provider.ReadOptions{Notice: func(text string) { notices = append(notices, text) }})
	require.NoError(t, err)
	require.NoError(t, src.Close())
	require.Len(t, notices, 1)
	require.Contains(t, notices[0], `the attribute set "calibration" is a table of its own, ntpl:calibration`)

	// Appended entries leave it as it is.
	plain := filepath.Join(t.TempDir(), "plain.root")
	require.NoError(t, os.WriteFile(plain, selection(t, "plain.root")["plain.root"], 0o600))
	appended := copied(t, location)
	r, err := Merge(t.Context(), appended, []string{plain}, MergeOptions{Append: true})
	require.NoError(t, err)
	require.Empty(t, r.LeftOut)
	two := openAll(t, appended, Options{})[0]
	requireSame(t, recordsOf(t, n, n), two, scan.Options{})
	set, err := two.OpenAttributes(t.Context(), "calibration", read.Options{})
	require.NoError(t, err)
	require.Equal(t, n.NumRows(), set.NumRows())

	in := inputOf(file)
	in.Table = "ntpl:calibration"
	out, err := format.Inspect(t.Context(), in, provider.InspectOptions{})
	require.NoError(t, err)
	require.Equal(t, "calibration", out.Fact("attribute set"))
	checked, err := format.Verify(t.Context(), in, provider.VerifyOptions{})
	require.NoError(t, err)
	require.Empty(t, checked.Problems)
	report, err := verifyBytes(t.Context(), file)
	require.NoError(t, err)
	require.Empty(t, report.Problems)
	file[at+10] ^= 1 // in the anchor of the set
	report, err = verifyBytes(t.Context(), file)
	require.NoError(t, err)
	require.Len(t, report.Problems, 1)
	require.ErrorContains(t, report.Problems[0], "calibration")
}
