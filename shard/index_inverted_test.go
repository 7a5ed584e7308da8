package shard

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"

	shardpb "github.com/amudai/amudai-go/gen/amudai/shard"
	"github.com/amudai/amudai-go/internal/testing/testdata"
	"github.com/amudai/amudai-go/shard/internal/shardfile"
)

var invertedIndexes = []IndexDefinition{
	{Type: InvertedIndex, Columns: []string{"line", "user.name"}},
	{Type: InvertedIndex, Columns: []string{"tags"}, Properties: []Property{{Name: "tokenizers", Value: []any{"trivial"}}}},
	{Type: InvertedIndex, Columns: []string{"line"}, Properties: []Property{{Name: "collation", Value: "unicode-case-preserving"}, {Name: "tokenizers", Value: []any{"unicode-word"}}}},
}

// Filters have the same rows with inverted indexes as without, whether these were built with the shard or added later.
func TestInvertedAnswers(t *testing.T) { requireSameAnswers(t, invertedIndexes) }

// Its artifacts are shards that open by themselves, as the reference opens them.
func TestInvertedArtifacts(t *testing.T) {
	location := filepath.Join(t.TempDir(), "x.shard")
	writeLines(t, location, 6000, WriterOptions{})
	require.NoError(t, AddIndex(t.Context(), location, EditOptions{}, invertedIndexes[0]))
	files, err := filepath.Glob(filepath.Join(filepath.Dir(location), "*.amudai.index"))
	require.NoError(t, err)
	require.Len(t, files, 2)
	for _, f := range files {
		requireSound(t, f)
	}
}

// An index of the reference that was attached to a shard decides about no row that it may have lost.
func TestIndexOfReference(t *testing.T) {
	const name = "text-apache-log"
	raw, err := os.ReadFile(filepath.Join(testdata.Shared(t), "corpus", "logs", "Apache_2k.log"))
	require.NoError(t, err)
	b := array.NewRecordBuilder(memory.DefaultAllocator, arrow.NewSchema([]arrow.Field{{Name: "line", Type: arrow.BinaryTypes.String}}, nil))
	defer b.Release()
	for line := range bytes.Lines(raw) {
		if b.Field(0).Len() < 800 {
			b.Field(0).(*array.StringBuilder).Append(string(bytes.TrimRight(line, "\r\n")))
		}
	}
	batch := b.NewRecordBatch()
	defer batch.Release()
	location := filepath.Join(t.TempDir(), "x.shard")
	w, err := Create(t.Context(), location, batch.Schema(), WriterOptions{Layout: TwoLevel, StripeRows: 500})
	require.NoError(t, err)
	require.NoError(t, w.Write(t.Context(), batch))
	require.NoError(t, w.CutStripe(t.Context()))
	p, err := shardfile.PropertiesToProto([]Property{{Name: "collation", Value: "unicode-case-preserving"}, {Name: "tokenizers", Value: []any{"unicode-log"}}})
	require.NoError(t, err)
	d := &shardpb.IndexDescriptor{IndexType: InvertedIndex, Properties: p, IndexedFields: []*shardpb.IndexedField{{SchemaIds: []uint32{0}}}}
	for _, artifact := range []string{"terms", "positions"} {
		content := testdata.ReadGolden(t, "indexes/"+name+"/"+artifact+".amudai.shard")
		ref, err := w.out.WriteArtifact(t.Context(), int64(len(content)), func(out io.Writer) error {
			_, err := out.Write(content)
			return err
		})
		require.NoError(t, err)
		ref.Range.Start, ref.Range.End = uint64(len(content)-200), uint64(len(content)-8) // the reference refers to the directory
		d.Artifacts = append(d.Artifacts, &shardpb.IndexArtifact{Name: artifact, DataRef: ref})
	}
	w.out.AddIndex(d)
	require.NoError(t, w.Close(t.Context()))
	requireSound(t, location)

	var g struct {
		Answers []struct{ Query, Term, State string }
	}
	require.NoError(t, json.Unmarshal(testdata.ReadGolden(t, "indexes/"+name+"/answers.json"), &g))
	lost := 0
	for _, a := range g.Answers {
		if a.State != "vanished" && a.State != "approximate" && a.Query != "prefix" || a.Term == "" {
			continue
		}
		where := fmt.Sprintf("has(line, '%s')", a.Term)
		if a.Query == "prefix" {
			where = fmt.Sprintf("has_prefix(line, '%s')", a.Term)
		}
		want, _ := rowsWhere(t, location, where, OpenOptions{}, Indexes)
		got, unusable := rowsWhere(t, location, where, OpenOptions{}, 0)
		require.Equal(t, want, got, where)
		require.Empty(t, unusable, where)
		if a.State == "vanished" {
			require.Len(t, got, 1)
			lost++
		}
	}
	require.Equal(t, 12, lost)
}
