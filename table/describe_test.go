package table_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/internal/text"
	"github.com/amudai/amudai-go/shard"
	"github.com/amudai/amudai-go/storage"
	"github.com/amudai/amudai-go/table"
	"github.com/amudai/amudai-go/table/provider"
)

// files are tables in all formats that can be verified, and one in a format that cannot.
func files(t *testing.T) (checked []string, other string) {
	const spans, sales = "../testdata/traces/shop.otlp.jsonl", "../testdata/tour/sales-2026.csv"
	dir := t.TempDir()
	for _, f := range [][2]string{{"shop.amudai.shard", spans}, {"sales.root", sales}, {"shop.blockpack", spans}} {
		checked = append(checked, filepath.Join(dir, f[0]))
		copyTable(t, f[1], checked[len(checked)-1])
	}
	return checked, sales
}

// copyTable copies a table to a file in the format of its extension.
func copyTable(t *testing.T, from, to string) { copyTyped(t, from, to, "") }

func copyTyped(t *testing.T, from, to, types string) {
	ctx := t.Context()
	fields, err := text.ParseSchema(types)
	require.NoError(t, err)
	in, err := table.OpenWith(ctx, table.OpenOptions{Schema: fields}, from)
	require.NoError(t, err)
	src, err := in.Reader(ctx, table.ScanOptions{})
	require.NoError(t, err)
	f, ok := provider.Registered().ByPath(to)
	require.True(t, ok)
	sink, err := f.Create(ctx, create(t, to), src.Schema(), provider.WriteOptions{})
	require.NoError(t, err)
	for {
		b, err := src.Next(ctx)
		require.NoError(t, err)
		if b == nil {
			break
		}
		require.NoError(t, sink.Write(ctx, b))
		b.Release()
	}
	require.NoError(t, sink.Close(ctx))
	require.NoError(t, src.Close())
	require.NoError(t, in.Close())
}

func create(t *testing.T, name string) provider.Output {
	w, err := storage.Local{}.Create(t.Context(), name, storage.CreateOptions{})
	require.NoError(t, err)
	return w
}

// damage flips a bit of every 50th byte of the middle of a file.
func damage(t *testing.T, name string) {
	b, err := os.ReadFile(name)
	require.NoError(t, err)
	for i := len(b) / 4; i < len(b)/2; i += 50 {
		b[i] ^= 1
	}
	require.NoError(t, os.WriteFile(name, b, 0o644))
}

// What is not asked because the context ended between two inputs has not passed.
func TestVerifyEndsBetweenInputs(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	checked, _ := files(t)
	f := shard.New(shard.FormatOptions{})
	f.Verify = func(context.Context, provider.Input, provider.VerifyOptions) (*provider.Report, error) {
		stop()
		return &provider.Report{}, nil
	}
	twice, err := table.OpenWith(ctx, table.OpenOptions{Formats: []provider.Format{f}}, checked[0], checked[0])
	require.NoError(t, err)
	defer twice.Close()
	reports, err := twice.Verify(ctx, table.VerifyOptions{})
	require.ErrorIs(t, err, context.Canceled)
	require.Nil(t, reports[1])
}

func TestVerify(t *testing.T) {
	ctx := t.Context()
	checked, other := files(t)
	all, err := table.Open(ctx, append(checked, other)...)
	require.NoError(t, err)
	defer all.Close()
	steps := 0
	reports, err := all.Verify(ctx, table.VerifyOptions{Progress: func(done, total int) { steps++ }})
	require.NoError(t, err)
	require.Len(t, reports, 4)
	require.Positive(t, steps)
	for i, r := range reports[:3] {
		require.True(t, r.OK(), "%s: %v %v", checked[i], r.Problems, r.Notes)
		require.NotEmpty(t, r.Checked)
	}
	require.Nil(t, reports[3])

	damage(t, checked[0])
	reports, err = all.Verify(ctx, table.VerifyOptions{})
	require.ErrorIs(t, err, storage.ErrChanged) // since it was opened for its schema
	require.Nil(t, reports[0])
	require.True(t, reports[1].OK())
	for _, name := range checked {
		if name != checked[0] {
			damage(t, name)
		}
		one, err := table.Open(ctx, name)
		require.NoError(t, err)
		reports, err := one.Verify(ctx, table.VerifyOptions{})
		require.NoError(t, err, name)
		require.False(t, reports[0].OK(), name)
		require.NotEmpty(t, reports[0].Problems, name)
		few, err := one.Verify(ctx, table.VerifyOptions{MaxFindings: 1})
		require.NoError(t, err, name)
		require.Len(t, few[0].Problems, 1, name)
		ended, cancel := context.WithCancel(ctx)
		cancel()
		reports, err = one.Verify(ended, table.VerifyOptions{})
		require.ErrorIs(t, err, context.Canceled, name)
		require.Equal(t, []*table.Report{nil}, reports, name)
		require.NoError(t, one.Close())
	}
	one, err := table.Open(ctx, checked[0])
	require.NoError(t, err)
	quick, err := one.Verify(ctx, table.VerifyOptions{Quick: true})
	require.NoError(t, err)
	require.ErrorIs(t, quick[0].Problems[0], shard.ErrChecksum)

	pipe, err := table.OpenWith(ctx, table.OpenOptions{Stdin: strings.NewReader("a,b\n1,2\n"), Format: "csv"}, "-")
	require.NoError(t, err)
	reports, err = pipe.Verify(ctx, table.VerifyOptions{})
	require.NoError(t, err)
	require.Equal(t, []*table.Report{nil}, reports)
	n, err := pipe.Count(ctx, table.ScanOptions{}) // nothing is consumed
	require.NoError(t, err)
	require.EqualValues(t, 1, n)
}

func TestInspect(t *testing.T) {
	ctx := t.Context()
	checked, other := files(t)
	all, err := table.Open(ctx, append(checked, other)...)
	require.NoError(t, err)
	defer all.Close()
	for detail := range 4 {
		outlines, err := all.Inspect(ctx, table.InspectOptions{Detail: detail})
		require.NoError(t, err)
		require.Len(t, outlines, 4)
		for i, o := range outlines[:3] {
			requireOutline(t, o, checked[i])
		}
		require.Nil(t, outlines[3])
	}
	one, err := table.Open(ctx, checked[0])
	require.NoError(t, err)
	defer one.Close()
	n, err := one.Count(ctx, table.ScanOptions{})
	require.NoError(t, err)
	outlines, err := one.Inspect(ctx, table.InspectOptions{Detail: 3, Columns: []string{"span:name"}})
	require.NoError(t, err)
	require.Contains(t, outlines[0].Facts, table.Fact{Name: "rows", Value: n})
	blocks := outlines[0].Lists[len(outlines[0].Lists)-1]
	require.Equal(t, "blocks", blocks.Name)
	for _, row := range blocks.Rows {
		require.Equal(t, "span:name", row[1])
		require.Empty(t, row[len(row)-1])
	}
	outlines, err = one.Inspect(ctx, table.InspectOptions{Stats: true})
	require.NoError(t, err)
	require.Len(t, outlines[0].Lists, 1)
	schema, err := one.Schema(ctx)
	require.NoError(t, err)
	require.GreaterOrEqual(t, len(outlines[0].Lists[0].Rows), schema.NumFields())

	for _, o := range []table.InspectOptions{{Groups: []int{1}}, {Groups: []int{-1}}, {Columns: []string{"nothing"}}} {
		outlines, err = one.Inspect(ctx, o)
		require.Error(t, err)
		require.Equal(t, []*table.Outline{nil}, outlines)
	}
	ended, cancel := context.WithCancel(ctx)
	cancel()
	_, err = one.Inspect(ended, table.InspectOptions{Detail: 3})
	require.ErrorIs(t, err, context.Canceled)

	whole, err := os.ReadFile(checked[0])
	require.NoError(t, err)
	require.Equal(t, []string{"offset", "bytes"}, blocks.Columns[6:8])
	whole[blocks.Rows[0][6].(int64)+int64(blocks.Rows[0][7].(int))-1] ^= 1 // the last byte of a block
	require.NoError(t, os.WriteFile(checked[0], whole, 0o644))
	outlines, err = open(t, checked[0]).Inspect(ctx, table.InspectOptions{Detail: 3, Columns: []string{"span:name"}})
	require.NoError(t, err) // damage of blocks is told where it is
	blocks = outlines[0].Lists[len(outlines[0].Lists)-1]
	require.Contains(t, blocks.Rows[0][len(blocks.Columns)-1], "checksum")

	damage(t, checked[0]) // metadata, too
	_, err = open(t, checked[0]).Inspect(ctx, table.InspectOptions{Detail: 3})
	require.ErrorIs(t, err, shard.ErrChecksum)
}

// TestInspectLater reads bytes and parts after the question, until the table is closed.
func TestInspectLater(t *testing.T) {
	ctx := t.Context()
	checked, _ := files(t)
	for i, name := range checked {
		one, err := table.Open(ctx, name)
		require.NoError(t, err)
		outlines, err := one.Inspect(ctx, table.InspectOptions{Hex: true})
		require.NoError(t, err)
		total := int64(0)
		for _, r := range outlines[0].Bytes {
			total += r.Size
			if r.Dump == nil {
				continue
			}
			d, err := r.Dump(ctx)
			require.NoError(t, err, "%s: %s", name, r.Name)
			for _, p := range d.Parts {
				require.LessOrEqual(t, p.Offset+p.Size, len(d.Data), "%s: %s", name, r.Name)
			}
		}
		if i == 0 {
			info, err := os.Stat(name)
			require.NoError(t, err)
			require.Equal(t, info.Size(), total)
		}
		outlines, err = one.Inspect(ctx, table.InspectOptions{Detail: 1, Nodes: true})
		require.NoError(t, err)
		if tree := outlines[0].Nodes; i == 0 {
			require.Equal(t, "stripes", tree.Kind)
			seen := map[string]int{}
			readNodes(t, tree, seen)
			for _, kind := range []string{"stripes", "columns", "parts", "blocks", "trees"} {
				require.Positive(t, seen[kind], kind)
			}
		} else {
			require.Nil(t, tree)
			require.NotEmpty(t, outlines[0].Lists)
		}
		require.NoError(t, one.Close())
	}
}

// readNodes reads parts and theirs, and counts them by kind.
func readNodes(t *testing.T, nodes *provider.Nodes, seen map[string]int) {
	list, err := nodes.Read(t.Context(), 0, nodes.Len)
	require.NoError(t, err)
	require.Len(t, list, nodes.Len)
	seen[nodes.Kind] += nodes.Len
	for _, n := range list {
		require.NotEmpty(t, n.Name)
		if n.Parts != nil {
			parts, err := n.Parts(t.Context())
			require.NoError(t, err, n.Name)
			readNodes(t, parts, seen)
		}
	}
}

// requireOutline requires facts, and rows as long as their lists have columns.
func requireOutline(t *testing.T, o *table.Outline, name string) {
	require.NotEmpty(t, o.Facts, name)
	for _, l := range o.Lists {
		for _, row := range l.Rows {
			require.Len(t, row, len(l.Columns), "%s: %s", name, l.Name)
		}
	}
}

// TestVerifyMisnamed tells the likely format of a file that another extension claims.
func TestVerifyMisnamed(t *testing.T) {
	checked, _ := files(t)
	name := filepath.Join(t.TempDir(), "sales.amudai.shard")
	require.NoError(t, os.Rename(checked[1], name))
	_, err := open(t, name).Inspect(t.Context(), table.InspectOptions{})
	var hint interface{ Hint() string }
	require.ErrorAs(t, err, &hint)
	require.Contains(t, hint.Hint(), "--from rntuple")
}
