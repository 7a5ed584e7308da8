package shard

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// indexEdits are the ways to change the indexes of a shard, which has one already.
var indexEdits = map[string]func(t *testing.T, location string, o EditOptions) error{
	"add": func(t *testing.T, location string, o EditOptions) error {
		return AddIndex(t.Context(), location, o, lineIndexes[1])
	},
	"add to stripes": func(t *testing.T, location string, o EditOptions) error {
		return AddIndex(t.Context(), location, o, stripeIndexes[2])
	},
	"drop": func(t *testing.T, location string, o EditOptions) error {
		_, err := DropIndex(t.Context(), location, o, func(Index) bool { return true })
		return err
	},
	"rebuild": func(t *testing.T, location string, o EditOptions) error {
		_, err := RebuildIndex(t.Context(), location, o, func(Index) bool { return true })
		return err
	},
	"add of the reference's": func(t *testing.T, location string, o EditOptions) error {
		return AddIndex(t.Context(), location, o, invertedIndexes[0])
	},
}

// requireAnswers asks a shard of writeLines questions, and verifies it.
func requireAnswers(t *testing.T, location string, want []RowRange) {
	got, unusable := rowsWhere(t, location, termQuestions[0], OpenOptions{}, 0)
	require.Equal(t, want, got)
	require.Empty(t, unusable)
	requireSound(t, location)
}

// hidden are the temporary files in a folder.
func hidden(t *testing.T, dir string) []string {
	names, err := filepath.Glob(filepath.Join(dir, ".*"))
	require.NoError(t, err)
	return names
}
