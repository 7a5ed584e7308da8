package shard

import (
	"bytes"
	"context"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/filter"
	"github.com/amudai/amudai-go/internal/engine/rowset"
	engine "github.com/amudai/amudai-go/internal/engine/table"
	"github.com/amudai/amudai-go/shard/internal/indexing"
)

// hiding is a table of which every third row is hidden.
type hiding struct{ engine.Table }

func (h hiding) Stripe(i int) engine.Stripe { return hidingStripe{h.Table.Stripe(i)} }

type hidingStripe struct{ engine.Stripe }

func (s hidingStripe) Visible(context.Context) (*rowset.Set, error) {
	var rows []int64
	for i := range s.Rows() {
		if i%3 != 0 {
			rows = append(rows, i)
		}
	}
	set := rowset.FromRows(rows)
	return &set, nil
}

// An index has hidden rows, too: rows keep their numbers, and it stays right when more are hidden.
func TestIndexOfHiddenRows(t *testing.T) {
	location := filepath.Join(t.TempDir(), "x.shard")
	writeLines(t, location, 3000, WriterOptions{StripeRows: 1000})
	s, err := Open(t.Context(), location, OpenOptions{})
	require.NoError(t, err)
	defer s.Close()
	arrowSchema, err := s.ArrowSchema(t.Context())
	require.NoError(t, err)
	build := func(from engine.Table) []byte {
		p, err := indexing.New(s.schema, arrowSchema, IndexDefinition{Columns: []string{"line"}})
		require.NoError(t, err)
		a, err := p.Build(t.Context(), from, rowset.Range{To: from.NumRows()}, indexing.Options{})
		require.NoError(t, err)
		defer a.Close()
		var b bytes.Buffer
		for _, spool := range a.Spools {
			_, err := spool.WriteTo(&b)
			require.NoError(t, err)
		}
		return b.Bytes()
	}
	require.Equal(t, build(s.table), build(hiding{s.table}))
}

// A shard with deleted records whose numbers are not known answers no question about rows.
func TestDeletedRecords(t *testing.T) {
	location := filepath.Join(t.TempDir(), "x.shard")
	writeLines(t, location, 3000, WriterOptions{StripeRows: 1000})
	s, err := Open(t.Context(), location, OpenOptions{})
	require.NoError(t, err)
	defer s.Close()
	s.file.Stripe(1).Directory().DeletedRecordCount = 1

	_, err = s.Count(t.Context(), filter.Expr{})
	require.ErrorIs(t, err, ErrUnsupported)
	_, err = s.Count(t.Context(), filter.Eq(filter.Col("line"), "x"))
	require.ErrorIs(t, err, ErrUnsupported)
	_, err = s.Take(t.Context(), []int64{1500}, TakeOptions{})
	require.ErrorIs(t, err, ErrUnsupported)
	r, err := s.Reader(t.Context(), ScanOptions{})
	require.NoError(t, err)
	defer r.Release()
	rows := int64(0)
	for r.Next() {
		rows += r.RecordBatch().NumRows()
	}
	require.ErrorIs(t, r.Err(), ErrUnsupported)
	require.EqualValues(t, 1000, rows, "of the stripe before")
	b, err := s.Take(t.Context(), []int64{10, 2500}, TakeOptions{}) // of stripes without any
	require.NoError(t, err)
	require.EqualValues(t, 2, b.NumRows())
}
