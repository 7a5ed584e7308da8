package command_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestIndexSize builds indexes of the words of small logs of real systems: each takes up to 0.19 of the text, and all together 0.13. Lists of rows and the words
// alone are 0.115 of it, if they are stored as short as rows that are independent of each other can be (docs/performance.md).
func TestIndexSize(t *testing.T) {
	logs, err := filepath.Glob(filepath.Join(corpus(t, "logs"), "*.log"))
	require.NoError(t, err)
	require.NotEmpty(t, logs)
	t.Chdir(t.TempDir())
	var text, index int64
	for _, log := range logs {
		info, err := os.Stat(log)
		require.NoError(t, err)
		name := strings.TrimSuffix(filepath.Base(log), ".log") + ".amudai.shard"
		ok(t, "convert", "-q", log, name, "--columns", "line", "--index", "line")
		var list []struct{ Bytes int64 }
		require.NoError(t, json.Unmarshal([]byte(ok(t, "index", "list", name, "--json")), &list))
		require.Len(t, list, 1)
		require.LessOrEqual(t, list[0].Bytes, info.Size()*19/100, name)
		text, index = text+info.Size(), index+list[0].Bytes
	}
	require.LessOrEqual(t, index, text*13/100)
}
