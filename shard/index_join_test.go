package shard

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// joinIndexes are indexes of each stripe: of the rows of these, the last are only joined if stripes have whole pages, or groups of rows.
var joinIndexes = []IndexDefinition{
	{Columns: []string{"line", "user.name"}, PerStripe: true, Properties: []Property{{Name: "phrases", Value: true}, {Name: "scores", Value: true}}},
	{Type: HashIndex, Columns: []string{"line"}, PerStripe: true},
	{Type: RangeIndex, Columns: []string{"line"}, PerStripe: true},
	{Columns: []string{"tags"}, PerStripe: true, Properties: []Property{{Name: "coarse", Value: 16}}},
}

// addWhole adds an index of the whole shard like that of the stripes. It returns whether any row was read.
func addWhole(t *testing.T, location string, d IndexDefinition) (read bool) {
	d.PerStripe = false
	require.NoError(t, AddIndex(t.Context(), location, EditOptions{Progress: func(int64, int64) { read = true }}, d))
	requireSound(t, location)
	return read
}

// An index of the whole shard is joined of those of its stripes, without a row, if these know enough. It is the one that is built, or answers as that does.
func TestAddIndexJoins(t *testing.T) {
	for _, stripeRows := range []int64{512, 500} {
		location := filepath.Join(t.TempDir(), "x.shard")
		writeLines(t, location, 1700, WriterOptions{StripeRows: stripeRows, Indexes: joinIndexes})
		want, _ := rowsWhere(t, location, termQuestions[0], OpenOptions{}, Indexes)
		for i, d := range joinIndexes {
			require.Equal(t, i > 1 && stripeRows == 500, addWhole(t, location, d), "%d %v", stripeRows, d)
		}
		requireAnswers(t, location, want)
		_, err := DropIndex(t.Context(), location, EditOptions{}, func(x Index) bool { return x.Stripe >= 0 })
		require.NoError(t, err)
		requireSound(t, location)
		requireAnswers(t, location, want)
	}
}

// If an index of a stripe is missing or damaged, that of the whole shard is built of the rows.
func TestAddIndexBuildsWithoutParts(t *testing.T) {
	for _, damage := range []func(file string) error{
		os.Remove,
		func(file string) error {
			b, err := os.ReadFile(file)
			require.NoError(t, err)
			b[len(b)/2] ^= 1
			return os.WriteFile(file, b, 0o600)
		},
	} {
		location := filepath.Join(t.TempDir(), "x.shard")
		writeLines(t, location, 1700, WriterOptions{StripeRows: 500})
		require.NoError(t, AddIndex(t.Context(), location, EditOptions{}, joinIndexes[0]))
		s, err := Open(t.Context(), location, OpenOptions{})
		require.NoError(t, err)
		list, err := s.Indexes(t.Context())
		require.NoError(t, err)
		require.NoError(t, s.Close())
		require.NoError(t, damage(filepath.Join(filepath.Dir(location), filepath.Base(list[1].Files[0]))))
		read, d := false, joinIndexes[0]
		d.PerStripe = false
		require.NoError(t, AddIndex(t.Context(), location, EditOptions{Progress: func(int64, int64) { read = true }}, d))
		require.True(t, read)
		_, err = DropIndex(t.Context(), location, EditOptions{}, func(x Index) bool { return x.Stripe >= 0 })
		require.NoError(t, err)
		requireSound(t, location)
	}
}
