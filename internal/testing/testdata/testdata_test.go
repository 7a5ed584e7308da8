package testdata

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestGoldens(t *testing.T) {
	require.NotEmpty(t, ReadGolden(t, "manifest.json"))
	packed := ReadGolden(t, "stats.jsonl.gz")
	require.Equal(t, byte('{'), packed[0])
	require.FileExists(t, UnpackGolden(t, "blocks/many-blocks.amudai.shard"))
	require.NotEmpty(t, ReadGolden(t, "properties/props.amudai.shard"))
	require.DirExists(t, Selection(t))
}
