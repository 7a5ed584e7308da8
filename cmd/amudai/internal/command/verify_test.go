package command_test

import (
	"encoding/hex"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/cmd/amudai/internal/app"
)

// TestVerifyAnswers checks the three answers of verify and their exit codes, with and without -q.
func TestVerifyAnswers(t *testing.T) {
	unknown, err := filepath.Abs(filepath.Join("..", "..", "..", "..", "shard", "testdata", "unknown"))
	require.NoError(t, err)
	t.Chdir(t.TempDir())
	require.NoError(t, os.WriteFile("a.csv", []byte("n,s\n"+strings.Repeat("1,a\n2,bcd\n3,ef\n", 1000)), 0o644))
	ok(t, "convert", "a.csv", "a.amudai.shard", "--created", "2026-11-23T00:00:00Z")
	for name, from := range map[string]string{"code": "known", "later": "later"} { // shard's TestUnknownCodes makes them
		data, err := os.ReadFile(filepath.Join(unknown, from+".amudai.shard"))
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(name+".amudai.shard", data, 0o644))
	}
	newer, err := hex.DecodeString("00000000000000000100000000" + "a1fe11c00c00000000000000000d00000000000000" + // of version 12
		"dec11dc001000000000100000000" + "03000d0000000000000022000000000000000e000000")
	require.NoError(t, err)
	require.NoError(t, os.WriteFile("newer.blockpack", newer, 0o644))

	for name, want := range map[string]struct {
		code int
		says string
	}{
		"a.amudai.shard":       {app.ExitOK, "sound"},
		"code.amudai.shard":    {app.ExitFailure, "problem"},
		"later.amudai.shard":   {app.ExitUnchecked, "not fully checked"},
		"newer.blockpack":      {app.ExitUnchecked, "not fully checked"},
		"missing.amudai.shard": {app.ExitUnchecked, ""},
	} {
		r := run(t, "verify", name)
		require.Equal(t, want.code, r.code, "%s: %v", name, r)
		require.Contains(t, r.out, want.says, name)
		quiet := run(t, "verify", "-q", name)
		require.Equal(t, want.code, quiet.code, name)
		require.Equal(t, want.code == app.ExitOK, quiet.out == "" && quiet.errout == "", "%s: %v", name, quiet)
		if want.code != app.ExitOK {
			require.NotEqual(t, app.ExitOK, run(t, "cat", name).code, name)
		}
	}
	require.Equal(t, app.ExitFailure, run(t, "verify", "later.amudai.shard", "code.amudai.shard", "a.amudai.shard").code)
}

// TestVerifyQuick finds exchanged stripe files without decoding values.
func TestVerifyQuick(t *testing.T) {
	t.Chdir(t.TempDir())
	var csv strings.Builder
	csv.WriteString("id,n\n")
	for i := range 2000 {
		csv.WriteString(strings.Join([]string{strconv.Itoa(i), strconv.Itoa(i * 7919 % 997)}, ",") + "\n")
	}
	require.NoError(t, os.WriteFile("a.csv", []byte(csv.String()), 0o644))
	for _, edition := range []string{"2026", "reference"} {
		ok(t, "convert", "a.csv", "a.amudai.shard", "-f", "--layout", "two-level", "--stripe-rows", "1000", "--edition", edition)
		require.Contains(t, ok(t, "verify", "--quick", "a.amudai.shard"), "sound")
		require.Equal(t, "21\n", ok(t, "count", "a.amudai.shard", "--where", "id between 400 and 420"))
		stripes, err := filepath.Glob("*.amudai.stripe")
		require.NoError(t, err)
		require.Len(t, stripes, 2)
		require.NoError(t, os.Rename(stripes[0], "x"))
		require.NoError(t, os.Rename(stripes[1], stripes[0]))
		require.NoError(t, os.Rename("x", stripes[1]))
		for _, args := range [][]string{
			{"verify", "--quick", "a.amudai.shard"}, {"verify", "a.amudai.shard"}, {"cat", "a.amudai.shard"},
			{"count", "a.amudai.shard", "--where", "n between 400 and 420"},
		} {
			require.Equal(t, app.ExitFailure, run(t, args...).code, args)
		}
		require.NoError(t, os.Remove(stripes[0]))
		require.NoError(t, os.Remove(stripes[1]))
	}
}
