package shard_test

import (
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/internal/format/schema"
	"github.com/amudai/amudai-go/shard"
)

// WithDeleted is a shard of a batch whose column called marker marks deleted records: it is an internal field with a name, which may be empty.
// Change, which may be nil, changes the parts of the shard.
func WithDeleted(t testing.TB, batch arrow.RecordBatch, marker, name string, o shard.WriterOptions, change func(*Parts)) []byte {
	t.Helper()
	return WithInternal(t, batch, map[string]schema.Field{marker: {Name: name, Internal: schema.InternalDeleted}}, o, func(p *Parts) {
		CountDeleted(p, batch, marker)
		if change != nil {
			change(p)
		}
	})
}

// CountDeleted sets the numbers of deleted records of the directories by a column of the batch of a shard.
func CountDeleted(p *Parts, batch arrow.RecordBatch, marker string) {
	column := batch.Column(batch.Schema().FieldIndices(marker)[0]).(*array.Boolean)
	row := 0
	for _, s := range p.Stripes {
		for range s.Directory.TotalRecordCount {
			if column.IsValid(row) && column.Value(row) {
				s.Directory.DeletedRecordCount++
				p.Directory.DeletedRecordCount++
			}
			row++
		}
	}
}

// WithInternal is a shard of a batch, some of whose columns become internal fields with the names and kinds of some others.
func WithInternal(t testing.TB, batch arrow.RecordBatch, internal map[string]schema.Field, o shard.WriterOptions, change func(*Parts)) []byte {
	t.Helper()
	p, err := Split(NewKind(t, "internal", batch, o).Root)
	require.NoError(t, err)
	s, err := schema.Parse(p.Schema)
	require.NoError(t, err)
	var fields []schema.Field
	budget := s.Budget()
	for i := range s.NumFields() {
		n, err := s.Field(i)
		require.NoError(t, err)
		f, err := describeNode(budget, n)
		require.NoError(t, err)
		if k, ok := internal[f.Name]; ok {
			f.Name, f.Internal, f.Extended = k.Name, k.Internal, nil
		}
		fields = append(fields, f)
	}
	p.Schema, err = schema.Build(fields)
	require.NoError(t, err)
	change(p)
	return p.Join()
}

func describeNode(b *schema.Budget, n schema.Node) (schema.Field, error) {
	f, err := b.Describe(n)
	for i := 0; err == nil && i < n.NumChildren(); i++ {
		var c schema.Node
		if c, err = n.Child(i); err == nil {
			var child schema.Field
			child, err = describeNode(b, c)
			f.Children = append(f.Children, child)
		}
	}
	return f, err
}
