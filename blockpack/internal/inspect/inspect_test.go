package inspect

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/internal/format/schema"
	"github.com/amudai/amudai-go/internal/testing/sweep"
	"github.com/amudai/amudai-go/internal/testing/testdata"
	"github.com/amudai/amudai-go/storage"
	"github.com/amudai/amudai-go/table/provider"
)

func reference(t *testing.T, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(testdata.Shared(t), "golden", "blockpack", name+".blockpack"))
	require.NoError(t, err)
	return data
}

func outlineOf(t *testing.T, data []byte, o provider.InspectOptions) *provider.Outline {
	t.Helper()
	out, err := File(t.Context(), storage.FromBytes("file", data), o)
	require.NoError(t, err)
	for _, l := range out.Lists {
		for _, row := range l.Rows {
			require.Len(t, row, len(l.Columns), l.Name)
		}
	}
	return out
}

// list gives a list as text, a line for each row.
func list(t *testing.T, out *provider.Outline, name string) (rows []string) {
	t.Helper()
	for _, l := range out.Lists {
		if l.Name == name {
			for _, row := range l.Rows {
				rows = append(rows, strings.TrimSpace(fmt.Sprintln(row...)))
			}
			return rows
		}
	}
	t.Fatal("no list ", name)
	return nil
}

// TestHex accounts for all bytes of the files of the reference: regions follow each other, and parts fill them.
func TestHex(t *testing.T) {
	for _, name := range []string{"ref_empty", "ref_kinds", "ref_probe"} {
		data := reference(t, name)
		end := int64(0)
		for _, r := range outlineOf(t, data, provider.InspectOptions{Hex: true}).Bytes {
			require.Equal(t, end, r.Offset)
			require.NotNil(t, r.Dump, "%s of %s", r.Name, name)
			d, err := r.Dump(t.Context())
			require.NoError(t, err)
			require.True(t, bytes.Equal(data[r.Offset:r.Offset+r.Size], d.Data))
			next := 0
			for _, p := range d.Parts {
				require.Equal(t, next, p.Offset, "%s: %s", r.Name, p.Text)
				next += p.Size
			}
			require.Equal(t, len(d.Data), next, r.Name)
			end += r.Size
		}
		require.Equal(t, int64(len(data)), end)
	}
}

// TestOverview holds facts and lists to what is known of a file of the reference.
func TestOverview(t *testing.T) {
	data := reference(t, "ref_kinds")
	out := outlineOf(t, data, provider.InspectOptions{})
	require.Contains(t, out.Facts, provider.Fact{Name: "format", Value: "version 11, footer 3"})
	require.Contains(t, out.Facts, provider.Fact{Name: "spans", Value: int64(300)})
	require.Contains(t, out.Facts, provider.Fact{Name: "traces", Value: 25})
	total := int64(0)
	for _, row := range out.Lists[0].Rows {
		total += row[2].(int64)
	}
	require.Equal(t, int64(len(data)), total)

	out = outlineOf(t, data, provider.InspectOptions{Detail: 3, Groups: []int{1}, Columns: []string{"span:status"}})
	require.Len(t, list(t, out, "blocks"), 1)
	require.Equal(t, []string{"span:status Int64 1 130"}, list(t, out, "fields"))
	require.Len(t, list(t, out, "columns"), 1)
	require.Contains(t, list(t, out, "columns")[0], "SparseRLEIndexes")
	require.Len(t, list(t, out, "ranges"), 1)
	require.Equal(t, []string{"span:status 2 3 0 1 2"}, list(t, out, "keys"))

	out = outlineOf(t, data, provider.InspectOptions{Stats: true})
	require.Empty(t, out.Facts)
	require.Len(t, list(t, out, "fields"), 31)
	_, err := File(t.Context(), storage.FromBytes("file", data), provider.InspectOptions{Detail: 1, Columns: []string{"none"}})
	require.ErrorIs(t, err, schema.ErrNoField)

	out = outlineOf(t, data, provider.InspectOptions{Hex: true, Groups: []int{2}, Columns: []string{"span:status"}})
	require.Len(t, out.Bytes, 2)
}

// TestDamage describes files with damage in a block, whose other blocks are shown.
func TestDamage(t *testing.T) {
	data := reference(t, "ref_kinds")
	data[11644] ^= 1
	out := outlineOf(t, data, provider.InspectOptions{Detail: 2})
	blocks := list(t, out, "blocks")
	require.Len(t, blocks, 3)
	require.Contains(t, blocks[1], "corrupt")
	end := int64(0)
	for _, r := range outlineOf(t, data, provider.InspectOptions{Hex: true}).Bytes {
		require.Equal(t, end, r.Offset)
		end += r.Size
		d, err := r.Dump(t.Context())
		require.NoError(t, err)
		require.Len(t, d.Data, int(r.Size))
	}
	require.Equal(t, int64(len(data)), end)
	for at := 0; at < 11644; at += 11644 / sweep.Count(90, 900) {
		data := reference(t, "ref_kinds")
		data[at] ^= 0xff
		outlineOf(t, data, provider.InspectOptions{Detail: 2, Groups: []int{0}})
		for _, r := range outlineOf(t, data, provider.InspectOptions{Hex: true, Groups: []int{0}}).Bytes {
			if r.Dump != nil {
				_, err := r.Dump(t.Context())
				require.NoError(t, err)
			}
		}
	}
}
