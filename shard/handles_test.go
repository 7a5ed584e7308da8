//go:build unix

package shard

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/shard/internal/shardfile"
	"github.com/amudai/amudai-go/table/provider"
)

// TestManyStripeFiles reads a shard of more stripe files than the process may have open.
func TestManyStripeFiles(t *testing.T) {
	location := os.Getenv("AMUDAI_TEST_STRIPES")
	if location == "" {
		location = filepath.Join(t.TempDir(), "x.shard")
		writeTable(t, location, numbered(350, 2), WriterOptions{Layout: TwoLevel, StripeRows: 1}, 350)
		child := exec.Command(os.Args[0], "-test.run=^TestManyStripeFiles$")
		child.Env = append(os.Environ(), "AMUDAI_TEST_STRIPES="+location)
		out, err := child.CombinedOutput()
		require.NoError(t, err, "%s", out)
		return
	}
	require.NoError(t, syscall.Setrlimit(syscall.RLIMIT_NOFILE, &syscall.Rlimit{Cur: 100, Max: 100}))
	s, err := Open(t.Context(), location, OpenOptions{})
	require.NoError(t, err)
	require.Equal(t, 350, s.NumStripes())
	requireScan(t, s, numbered(350, 2), ScanOptions{})
	r, err := Verify(t.Context(), location, OpenOptions{}, provider.VerifyOptions{})
	require.NoError(t, err)
	require.True(t, r.OK())
	var rows []int64
	for i := range int64(350) {
		rows = append(rows, 349-i)
	}
	b, err := s.Take(t.Context(), rows, TakeOptions{})
	require.NoError(t, err)
	require.EqualValues(t, 350, b.NumRows())
	b.Release()
	require.NoError(t, s.Close())
}

// TestSpellings names a stripe file in several ways. It is opened once.
func TestSpellings(t *testing.T) {
	location := filepath.Join(t.TempDir(), "x.shard")
	writeTable(t, location, numbered(10, 2), WriterOptions{Layout: TwoLevel, StripeRows: 10}, 10)
	f, err := shardfile.Open(t.Context(), location, shardfile.OpenOptions{})
	require.NoError(t, err)
	defer f.Close()
	urls, err := f.URLs(t.Context())
	require.NoError(t, err)
	require.NotEmpty(t, urls)
	first, err := f.Artifact(t.Context(), urls[0])
	require.NoError(t, err)
	for i := range len(urls[0]) {
		spelled := urls[0][:i] + fmt.Sprintf("%%%02x", urls[0][i]) + urls[0][i+1:]
		if strings.ContainsRune("%/", rune(urls[0][i])) {
			continue
		}
		again, err := f.Artifact(t.Context(), spelled)
		require.NoError(t, err, spelled)
		require.Same(t, first, again, spelled)
	}
}
