package order

import (
	"context"
	"math/rand/v2"
	"os"
	"syscall"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/internal/engine/rowfile"
	"github.com/amudai/amudai-go/internal/testing/arrowgen"
	"github.com/amudai/amudai-go/internal/testing/leaktest"
)

// fullDisk is a temporary file on a disk that has room for some bytes.
type fullDisk struct {
	rowfile.Temporary
	room *int
	open *int
}

func (f fullDisk) Write(p []byte) (int, error) {
	if *f.room -= len(p); *f.room < 0 {
		n, _ := f.Temporary.Write(p[:max(len(p)+*f.room, 0)])
		return n, syscall.ENOSPC
	}
	return f.Temporary.Write(p)
}

func (f fullDisk) ReadAt(p []byte, off int64) (int, error) {
	if *f.room < 0 {
		return 0, syscall.EIO
	}
	return f.Temporary.ReadAt(p, off)
}

func (f fullDisk) Close() error {
	*f.open--
	return f.Temporary.Close()
}

// sortWith sorts a table with temporary files that a function wraps, and returns the first error.
func sortWith(ctx context.Context, table arrow.RecordBatch, dir string, wrap func(rowfile.Temporary) rowfile.Temporary) (rows int64, err error) {
	s, err := NewSorter(table.Schema(), []Key{{Type: table.Schema().Field(0).Type}}, Options{Memory: 20_000, TempDir: dir})
	if err != nil {
		return 0, err
	}
	s.createTemp = func(dir string) (rowfile.Temporary, error) {
		f, err := createTemp(dir)
		if err != nil {
			return nil, err
		}
		return wrap(f), nil
	}
	defer func() {
		if closed := s.Close(); err == nil {
			err = closed
		}
	}()
	for begin := int64(0); begin < table.NumRows(); begin += 200 {
		part := table.NewSlice(begin, min(begin+200, table.NumRows()))
		if err := s.Add(ctx, part, part.Columns()[:1]); err != nil {
			return 0, err
		}
	}
	if err := s.Finish(ctx); err != nil {
		return 0, err
	}
	for {
		b, err := s.Next(ctx)
		if err != nil || b == nil {
			return rows, err
		}
		rows += b.NumRows()
	}
}

// TestFullDisk sorts with a disk that is full after any number of bytes. The sort fails then, and leaves nothing.
func TestFullDisk(t *testing.T) {
	table := random(arrowgen.New(1), []arrow.DataType{arrow.BinaryTypes.String, arrow.PrimitiveTypes.Float64}, 20_000)
	dir := t.TempDir()
	defer leaktest.Goroutines(t)()
	for room := 0; ; room += 1 + room/2 {
		left, open := room, 0
		rows, err := sortWith(t.Context(), table, dir, func(f rowfile.Temporary) rowfile.Temporary {
			open++
			return fullDisk{f, &left, &open}
		})
		require.Zero(t, open)
		if left >= 0 {
			require.NoError(t, err)
			require.Equal(t, table.NumRows(), rows)
			break
		}
		require.Error(t, err)
		require.ErrorContains(t, err, "temporary file")
	}
	files, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Empty(t, files)
	_, err = sortWith(t.Context(), table, dir+"/missing", func(f rowfile.Temporary) rowfile.Temporary { return f })
	require.ErrorIs(t, err, os.ErrNotExist)
}

// damaged flips a byte of what is read.
type damaged struct {
	rowfile.Temporary
	at  int64
	hit *bool
}

func (f damaged) ReadAt(p []byte, off int64) (int, error) {
	n, err := f.Temporary.ReadAt(p, off)
	if i := f.at - off; i >= 0 && i < int64(n) {
		p[i] ^= 0x10
		*f.hit = true
	}
	return n, err
}

// TestDamagedRuns reads runs of which some byte has changed. That is an error always.
func TestDamagedRuns(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 5))
	table := random(arrowgen.New(2), []arrow.DataType{arrow.BinaryTypes.String, arrow.ListOf(arrow.BinaryTypes.String)}, 2000)
	for range 100 {
		at, hit := r.Int64N(4000), false
		rows, err := sortWith(t.Context(), table, t.TempDir(), func(f rowfile.Temporary) rowfile.Temporary { return damaged{f, at, &hit} })
		if hit {
			require.ErrorContains(t, err, "temporary file")
		} else {
			require.NoError(t, err)
			require.Equal(t, table.NumRows(), rows)
		}
	}
}

// TestCancel cancels sorts after some batches.
func TestCancel(t *testing.T) {
	table := random(arrowgen.New(3), []arrow.DataType{arrow.PrimitiveTypes.Int32}, 5000)
	dir := t.TempDir()
	for n := range 10 {
		ctx, cancel := context.WithCancel(t.Context())
		_, err := sortWith(ctx, table, dir, func(f rowfile.Temporary) rowfile.Temporary {
			if n--; n < 0 {
				cancel()
			}
			return f
		})
		cancel()
		if n < 0 {
			require.ErrorIs(t, err, context.Canceled)
		}
	}
	files, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Empty(t, files)
}
