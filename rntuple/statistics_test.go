package rntuple

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/internal/testing/testdata"
	"github.com/amudai/amudai-go/table/provider"
)

// TestStatistics: the number of entries is known without reading pages, and nothing else.
func TestStatistics(t *testing.T) {
	path := testdata.Shared(t) + "/corpus/rntuple/ntpl001_staff_rntuple_v1-0-0-0.root"
	f, err := os.Open(path)
	require.NoError(t, err)
	in := provider.Input{Name: path, Reader: f, At: f, Size: -1, Location: path, Closer: f}
	defer in.Close()
	s, err := New(FormatOptions{}).Statistics(t.Context(), in, []string{})
	require.NoError(t, err)
	require.EqualValues(t, 3354, s.Rows)
	s, err = New(FormatOptions{}).Statistics(t.Context(), in, []string{"Age"})
	require.NoError(t, err)
	require.Nil(t, s)
}
