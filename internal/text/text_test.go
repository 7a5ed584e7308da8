package text

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestPlural(t *testing.T) {
	for _, c := range []struct {
		n          int
		noun, want string
	}{
		{0, "row", "rows"}, {1, "row", "row"}, {2, "row", "rows"}, {-1, "byte", "bytes"},
		{1, "entry", "entry"}, {3, "entry", "entries"}, {2, "index", "indexes"}, {2, "batch", "batches"},
	} {
		require.Equal(t, c.want, Plural(c.n, c.noun))
	}
}
