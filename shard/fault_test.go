package shard

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/internal/testing/arrowgen"
	"github.com/amudai/amudai-go/internal/testing/faultstore"
)

// tryTable writes a table, and aborts at the first error.
func tryTable(location string, data table, o WriterOptions) error {
	ctx := context.Background()
	w, err := Create(ctx, location, data.schema, o)
	if err != nil {
		return err
	}
	b := data.batch(0, data.rows)
	defer b.Release()
	if err := w.Write(ctx, b); err != nil {
		return errors.Join(err, w.Abort(ctx))
	}
	return w.Close(ctx)
}

// TestWriteFaults makes the k-th step of each kind fail while a shard replaces another one. The result is the
// complete old shard or the complete new one.
func TestWriteFaults(t *testing.T) {
	old, data := numbered(10, 2), numbered(3000, 3)
	for _, layout := range []Layout{SingleFile, TwoLevel} {
		for _, op := range []faultstore.Op{faultstore.Create, faultstore.Write, faultstore.Sync, faultstore.Rename, faultstore.Close} {
			t.Run(fmt.Sprintf("%v-%v", layout, op), func(t *testing.T) {
				for k := 1; ; k++ {
					location := filepath.Join(t.TempDir(), "s")
					writeTable(t, location, old, WriterOptions{}, 10)
					faults := faultstore.New()
					faults.FailAt(op, k)
					err := tryTable(location, data, WriterOptions{Store: faults.Local(), Layout: layout, Overwrite: true, StripeRows: 1000})
					if faults.Count(op) < k {
						require.NoError(t, err)
						return
					}
					s, oerr := Open(context.Background(), location, OpenOptions{})
					require.NoError(t, oerr)
					if s.NumRows() == 10 {
						require.ErrorIs(t, err, faultstore.Err)
						requireScan(t, s, old, ScanOptions{})
					} else {
						requireScan(t, s, data, ScanOptions{})
					}
					require.NoError(t, s.Close())
				}
			})
		}
	}
}

// TestBadPlaces writes to places where that is impossible.
func TestBadPlaces(t *testing.T) {
	dir := t.TempDir()
	data := numbered(100_000, 4)
	require.ErrorIs(t, tryTable(filepath.Join(dir, "none", "s"), data, WriterOptions{}), os.ErrNotExist)
	err := tryTable(filepath.Join(dir, "s"), data, WriterOptions{MemoryBytes: 1, TempDir: filepath.Join(dir, "none")})
	require.ErrorIs(t, err, os.ErrNotExist)
	require.Error(t, tryTable("https://example.invalid/s", data, WriterOptions{}))
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Empty(t, entries)
}

// TestSpillFaults makes the k-th step with temporary files fail, while most of a stripe exceeds the memory. The
// result is an error, and no file is left behind.
func TestSpillFaults(t *testing.T) {
	ctx := context.Background()
	text := arrow.BinaryTypes.String
	data := randomTable(arrowgen.New(5), []arrow.DataType{
		arrow.PrimitiveTypes.Int64, text, arrow.FixedWidthTypes.Boolean, &arrow.Decimal128Type{Precision: 20, Scale: 2},
		arrow.ListOf(text), arrow.StructOf(arrow.Field{Name: "a", Type: arrow.PrimitiveTypes.Float64, Nullable: true}, arrow.Field{Name: "b", Type: text}),
		&arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int16, ValueType: text}, arrow.MapOf(text, arrow.PrimitiveTypes.Int8),
	}, 9000)
	b := data.batch(0, data.rows)
	defer b.Release()
	for _, op := range []faultstore.Op{faultstore.Create, faultstore.Write, faultstore.Read} {
		t.Run(op.String(), func(t *testing.T) {
			for k := 1; ; k++ {
				dir, faults := t.TempDir(), faultstore.New()
				w, err := Create(ctx, filepath.Join(dir, "s"), data.schema, WriterOptions{TempDir: dir, StripeRows: 4000})
				require.NoError(t, err)
				w.budget = faults.Budget(20_000)
				faults.FailAt(op, k)
				if err = w.Write(ctx, b); err == nil {
					err = w.Close(ctx)
				} else {
					require.NoError(t, w.Abort(ctx))
				}
				require.Zero(t, w.budget.Used())
				entries, rerr := os.ReadDir(dir)
				require.NoError(t, rerr)
				if faults.Count(op) < k {
					require.NoError(t, err)
					require.Len(t, entries, 1)
					require.Greater(t, k, 1, "nothing was spilled")
					return
				}
				require.ErrorIs(t, err, faultstore.Err)
				require.Empty(t, entries)
			}
		})
	}
}
