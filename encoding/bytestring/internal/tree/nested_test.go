package tree_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/encoding/bytestring/internal/codec"
	"github.com/amudai/amudai-go/encoding/bytestring/internal/tree"
	"github.com/amudai/amudai-go/encoding/internal/vector"
	"github.com/amudai/amudai-go/internal/base/bitmap"
)

// Trees of byte strings nest as deep as the format allows, however deep they are said to be, and are as many.
func TestNesting(t *testing.T) {
	v := vector.Values{Data: []byte("abcabd"), Offsets: []int64{0, 3, 6}, N: 2}
	written, err := codec.Table.AppendTreeAs(nil, v, bitmap.All(v.N), "FrontCoding(Plain,Plain)")
	require.NoError(t, err)
	require.NoError(t, tree.ParseAt(codec.Table.Read, written, v.N, tree.MaxLevels-2, 0))
	require.ErrorContains(t, tree.ParseAt(codec.Table.Read, written, v.N, tree.MaxLevels-1, 0), "nested more than 4 deep")
	require.ErrorContains(t, tree.ParseAt(codec.Table.Read, written, v.N, 0, tree.MaxNested), "trees of byte strings")
}
