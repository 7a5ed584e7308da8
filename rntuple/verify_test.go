package rntuple

import (
	"bytes"
	"encoding/binary"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/internal/testing/testdata"
	"github.com/amudai/amudai-go/table/provider"
)

// Sound files are found to be sound.
func TestVerifySound(t *testing.T) {
	for _, name := range corpus(t) {
		t.Run(filepath.Base(name), func(t *testing.T) {
			t.Parallel()
			for _, n := range openAll(t, name, Options{}) {
				if filepath.Base(name) == "corrupt_page.root" || n.Load(t.Context()) != nil {
					continue
				}
				if n.NumRows() > 1_000_000 && testing.Short() {
					continue
				}
				report, err := New(FormatOptions{}).Verify(t.Context(), provider.Input{Location: name}, provider.VerifyOptions{})
				require.NoError(t, err)
				for _, problem := range report.Problems {
					require.ErrorContains(t, problem, "pre-release") // of another ntuple in the file
				}
			}
		})
	}
}

// What a checksum cannot tell is found, too: pages that overlap, and metadata that contradicts itself.
func TestVerifyContradictions(t *testing.T) {
	file := selection(t, "plain.root")["plain.root"]
	e := findEnvelopes(t, file)
	at := bytes.Index(file, binary.LittleEndian.AppendUint64(nil, e.pages[1].Offset)) // in the page list
	require.Positive(t, at)
	for name, c := range map[string]struct {
		offset uint64
		want   string
	}{
		"overlap of pages":    {e.pages[0].Offset + 8, "page of column 0"},
		"page in the header":  {e.header.Offset + 8, "header of ntuple"},
		"page behind the end": {uint64(len(file)), "behind the end"},
	} {
		t.Run(name, func(t *testing.T) {
			damaged := bytes.Clone(file)
			binary.LittleEndian.PutUint64(damaged[at:], c.offset)
			e.mend(damaged)
			report, err := verifyBytes(t.Context(), damaged)
			require.NoError(t, err)
			require.NotEmpty(t, report.Problems)
			text := ""
			for _, p := range report.Problems {
				text += p.Error() + "\n"
			}
			require.Contains(t, text, c.want)
		})
	}
}

// A report ends after as many problems as were asked for, even if several goroutines find one at once.
func TestVerifyMaxFindings(t *testing.T) {
	file := selection(t, "corrupt_page.root")["corrupt_page.root"]
	for range 100 {
		report, err := New(FormatOptions{}).Verify(t.Context(), inputOf(file), provider.VerifyOptions{MaxFindings: 1, Parallelism: 8})
		require.NoError(t, err)
		require.Len(t, report.Problems, 1)
		require.True(t, report.Truncated)
	}
	report, err := New(FormatOptions{}).Verify(t.Context(), inputOf(file), provider.VerifyOptions{MetadataOnly: true})
	require.NoError(t, err)
	require.Empty(t, report.Problems)
}

// Every file can be described at every depth.
func TestInspect(t *testing.T) {
	testdata.Shared(t)
	for _, name := range corpus(t) {
		t.Run(filepath.Base(name), func(t *testing.T) {
			t.Parallel()
			for detail := range 4 {
				out, err := New(FormatOptions{}).Inspect(t.Context(), provider.Input{Location: name}, provider.InspectOptions{Detail: detail, Hex: detail == 3})
				require.NoError(t, err)
				for _, l := range out.Lists {
					for _, row := range l.Rows {
						require.Len(t, row, len(l.Columns), l.Name)
					}
				}
				end := int64(0)
				for _, region := range out.Bytes {
					require.GreaterOrEqual(t, region.Offset, end, region.Name)
					end = region.Offset
					if region.Dump == nil {
						continue
					}
					d, err := region.Dump(t.Context())
					if err != nil {
						continue
					}
					at := 0
					for _, p := range d.Parts {
						require.GreaterOrEqual(t, p.Offset, at, p.Text)
						require.LessOrEqual(t, p.Offset+p.Size, len(d.Data), p.Text)
						at = p.Offset
					}
				}
			}
		})
	}
}
