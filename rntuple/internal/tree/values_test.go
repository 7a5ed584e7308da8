package tree

import (
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/internal/base/fault"
)

// An array of more texts than there are bytes ends at the first that is missing.
func TestCutTexts(t *testing.T) {
	text := &field{kind: text, Field: arrow.Field{Name: "x", Type: arrow.BinaryTypes.String}}
	v := newValues(text.fixed([]int{maxItems}))
	err := v.decode(&cursor{b: []byte{1, 'a', 3, 'b'}, end: 4}, 1)
	require.ErrorIs(t, err, fault.ErrCorrupt)
	require.Len(t, v.kids[0].offsets, 2)
}
