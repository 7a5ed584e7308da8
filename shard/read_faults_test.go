package shard

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/filter"
	"github.com/amudai/amudai-go/internal/engine/scan"
	"github.com/amudai/amudai-go/internal/format/edition"
	"github.com/amudai/amudai-go/internal/testing/faultstore"
	"github.com/amudai/amudai-go/internal/testing/tabletest"
	"github.com/amudai/amudai-go/storage"
	tables "github.com/amudai/amudai-go/table"
	"github.com/amudai/amudai-go/table/parquet"
	"github.com/amudai/amudai-go/table/provider"
)

// textOf is all values of batches.
func textOf(b *strings.Builder, batch arrow.RecordBatch) {
	for _, c := range batch.Columns() {
		for i := range c.Len() {
			b.WriteString(c.ValueStr(i))
			b.WriteByte('\n')
		}
	}
}

// onShard is a use of an open shard.
func onShard(name, file string, do func(ctx context.Context, s *Shard, out *strings.Builder) error) faultstore.Use {
	return faultstore.Use{Name: name + " " + file, Run: func(dir string) (string, error) {
		s, err := Open(context.Background(), filepath.Join(dir, file), OpenOptions{})
		if err != nil {
			return "", err
		}
		var out strings.Builder
		err = do(context.Background(), s, &out)
		s.Close()
		return out.String(), err
	}}
}

func scanUse(name, file string, o ScanOptions) faultstore.Use {
	return onShard(name, file, func(ctx context.Context, s *Shard, out *strings.Builder) error {
		for b, err := range s.Scan(ctx, o) {
			if err != nil {
				return err
			}
			textOf(out, b)
		}
		return nil
	})
}

// shardUses are all ways to read an open shard of logLines.
func shardUses(file string) []faultstore.Use {
	has := func(text string) filter.Expr {
		e, err := filter.Parse(text)
		if err != nil {
			panic(err)
		}
		return e
	}
	return []faultstore.Use{
		scanUse("scan", file, ScanOptions{}), scanUse("scan in one goroutine", file, ScanOptions{Parallelism: 1, BatchRows: 50}),
		scanUse("scan of a range", file, ScanOptions{Rows: []RowRange{{From: 100, To: 400}}}),
		scanUse("scan by the index", file, ScanOptions{Filter: has(termQuestions[0])}),
		scanUse("scan without sources", file, ScanOptions{Filter: has(termQuestions[0]), Disable: ^Sources(0)}),
		onShard("reader", file, func(ctx context.Context, s *Shard, out *strings.Builder) error {
			r, err := s.Reader(ctx, ScanOptions{})
			if err != nil {
				return err
			}
			defer r.Release()
			for r.Next() {
				textOf(out, r.RecordBatch())
			}
			return r.Err()
		}),
		onShard("take", file, func(ctx context.Context, s *Shard, out *strings.Builder) error {
			b, err := s.Take(ctx, []int64{599, 3, 250, 3}, TakeOptions{})
			if err == nil {
				textOf(out, b)
				b.Release()
			}
			return err
		}),
		onShard("lookup", file, func(ctx context.Context, s *Shard, out *strings.Builder) error {
			b, err := s.Take(ctx, []int64{400, 3}, TakeOptions{Columns: []string{"line"}})
			if err != nil {
				return err
			}
			defer b.Release()
			for f, err := range s.Lookup(ctx, "line", b.Column(0), ScanOptions{}) {
				if err != nil {
					return err
				}
				textOf(out, f.RecordBatch)
				fmt.Fprintln(out, f.Keys, f.Rows)
			}
			return nil
		}),
		onShard("count", file, func(ctx context.Context, s *Shard, out *strings.Builder) error {
			n, err := s.Count(ctx, has("line contains 'failed'"))
			fmt.Fprint(out, n)
			return err
		}),
		onShard("statistics", file, func(ctx context.Context, s *Shard, out *strings.Builder) error {
			st, err := s.statistics(ctx, "line")
			if err == nil {
				fmt.Fprintln(out, st.Nulls, st.Min, st.Max, st.Distinct)
			}
			return err
		}),
		onShard("distinct", file, func(ctx context.Context, s *Shard, out *strings.Builder) error {
			for a, err := range scan.Distinct(ctx, s.table, "line") {
				if err != nil {
					return err
				}
				fmt.Fprintln(out, a)
			}
			return nil
		}),
		{Name: "rows " + file, Run: func(dir string) (string, error) {
			ctx := context.Background()
			tb, err := tables.Open(ctx, filepath.Join(dir, file))
			if err != nil {
				return "", err
			}
			var out strings.Builder
			for row, err := range tables.RowsOf[struct {
				Line *string `arrow:"line"`
			}](ctx, tb, tables.ScanOptions{}) {
				if err != nil {
					return "", errors.Join(err, tb.Close())
				}
				if row.Line != nil {
					out.WriteString(*row.Line)
				}
				fmt.Fprintln(&out)
			}
			return out.String(), tb.Close()
		}},
		onShard("indexes", file, func(ctx context.Context, s *Shard, out *strings.Builder) error {
			all, err := s.Indexes(ctx)
			for _, x := range all {
				fmt.Fprintln(out, x.Type, x.Columns, x.Size, x.Stats)
				err = errors.Join(err, x.Err)
			}
			return err
		}),
		onShard("analysis", file, func(ctx context.Context, s *Shard, out *strings.Builder) error {
			x, err := s.analyze(ctx, ScanOptions{Filter: has("line contains 'failed'")})
			if err == nil {
				fmt.Fprintln(out, x.Run.Rows)
			}
			return err
		}),
		{Name: "verify " + file, Run: func(dir string) (string, error) {
			r, err := Verify(context.Background(), filepath.Join(dir, file), OpenOptions{}, provider.VerifyOptions{})
			if err != nil {
				return "", err
			}
			for _, p := range r.Problems {
				err = errors.Join(err, p)
			}
			return fmt.Sprint(r.Number("value"), r.Number("block"), r.Notes), err
		}},
		{Name: "recover " + file, Run: func(dir string) (string, error) {
			ctx := context.Background()
			to := storage.NewMemory()
			r, err := Recover(ctx, filepath.Join(dir, file), "mem://x/out", RecoverOptions{Store: to})
			if err != nil {
				return "", err
			}
			for _, l := range r.Lost {
				return "", l.Problems[0]
			}
			s, err := Open(ctx, "mem://x/out", OpenOptions{Store: to})
			if err != nil {
				return "", err
			}
			return fmt.Sprint(s.NumRows(), s.NumStripes()), s.Close()
		}},
	}
}

// TestReadFaults makes reads of a shard fail in every way, and changes its files between them. Each use fails, or reads all rows.
func TestReadFaults(t *testing.T) {
	dir := t.TempDir()
	var uses []faultstore.Use
	for file, o := range map[string]WriterOptions{
		"default.shard": {}, "reference.shard": {Edition: edition.Reference}, "two.shard": {Layout: TwoLevel},
	} {
		o.StripeRows, o.Indexes = 200, lineIndexes[:1]
		if file == "reference.shard" {
			o.Indexes = nil
		}
		writeLines(t, filepath.Join(dir, file), 600, o)
		uses = append(uses, shardUses(file)...)
	}
	faultstore.Sweep(t, dir, []faultstore.Op{faultstore.Read, faultstore.Open, faultstore.Close}, 2, uses)
}

// TestReadFaultsOfFeatures is TestReadFaults for shards whose bytes lie elsewhere than those of others: in a Parquet file, in buffers apart and
// in packed groups.
func TestReadFaultsOfFeatures(t *testing.T) {
	dir := t.TempDir()
	batch := logLines(600)
	defer batch.Release()
	data := tabletest.Write(t, parquet.New(parquet.Options{RowGroupRows: 200}), array.NewTableFromRecords(batch.Schema(), []arrow.RecordBatch{batch}))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "lines.parquet"), []byte(data), 0o666))
	require.NoError(t, Import(t.Context(), filepath.Join(dir, "imported.shard"), []string{filepath.Join(dir, "lines.parquet")}, ImportOptions{}))
	writeLines(t, filepath.Join(dir, "apart.shard"), 600, WriterOptions{StripeRows: 200, NullsApart: true, OffsetsApart: true})
	writeLines(t, filepath.Join(dir, "packed.shard"), 600, WriterOptions{StripeRows: 200, Packed: [][]string{{"line"}}})
	var uses []faultstore.Use
	for _, file := range []string{"imported.shard", "apart.shard", "packed.shard"} {
		uses = append(uses, shardUses(file)...)
	}
	uses = slices.DeleteFunc(uses, func(u faultstore.Use) bool { return u.Name == "recover imported.shard" }) // it cannot leave its folder
	faultstore.Sweep(t, dir, []faultstore.Op{faultstore.Read, faultstore.Open, faultstore.Close}, 2, uses)
}

// TestEditFaults makes all operations of edits fail. The shard then answers as before or after the edit.
func TestEditFaults(t *testing.T) {
	for _, layout := range []Layout{SingleFile, TwoLevel} {
		dir := t.TempDir()
		file := filepath.Join(dir, "x.shard")
		writeLines(t, file, 600, WriterOptions{Layout: layout, StripeRows: 200, Indexes: lineIndexes[:1]})
		want, _ := rowsWhere(t, file, termQuestions[0], OpenOptions{}, 0)
		var uses []faultstore.Use
		for name, edit := range indexEdits {
			uses = append(uses, faultstore.Use{Name: fmt.Sprint(layout, " ", name), Run: func(string) (string, error) {
				return "", edit(t, file, EditOptions{})
			}})
		}
		ops := []faultstore.Op{faultstore.Read, faultstore.Open, faultstore.Create, faultstore.Write, faultstore.Sync, faultstore.Rename, faultstore.Remove}
		faultstore.SweepThen(t, dir, ops, 1, uses, func() { requireAnswers(t, file, want) })
	}
}
