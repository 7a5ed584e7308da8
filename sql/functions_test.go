//go:build cgo && duckdb_arrow

package sql

import (
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/duckdb/duckdb-go/v2/mapping"
	"github.com/stretchr/testify/require"
)

// TestUnsettled finds all functions of this DuckDB whose values are not settled among those that are known.
func TestUnsettled(t *testing.T) {
	c, err := NewConnector("", Options{})
	require.NoError(t, err)
	defer c.Close()
	rows, err := c.planner.db.QueryContext(t.Context(), "select distinct function_name from duckdb_functions() where stability <> 'CONSISTENT'")
	require.NoError(t, err)
	defer rows.Close()
	found := 0
	for rows.Next() {
		var name string
		require.NoError(t, rows.Scan(&name))
		require.True(t, unsettled[name], name)
		found++
	}
	require.NoError(t, rows.Err())
	require.Greater(t, found, 20)
}

// TestNotUTF8 has texts that are none, as a damaged shard may.
func TestNotUTF8(t *testing.T) {
	kind := mapping.CreateLogicalType(mapping.TypeVarchar)
	defer mapping.DestroyLogicalType(&kind)
	for _, c := range []struct {
		texts string
		valid byte
		bad   bool
	}{
		{"\xff", 1, true},
		{"a|\xc3|\xa9", 7, true}, // together they are a character
		{strings.Repeat("x", 20) + "\xc3|\xa9", 3, true},
		{"\xff|é", 2, false}, // of a null
		{"é|", 3, false},
	} {
		parts := strings.Split(c.texts, "|")
		offsets := []int32{0}
		for _, p := range parts {
			offsets = append(offsets, offsets[len(offsets)-1]+int32(len(p)))
		}
		data := array.NewData(arrow.BinaryTypes.String, len(parts), []*memory.Buffer{
			memory.NewBufferBytes([]byte{c.valid}), memory.NewBufferBytes(arrow.Int32Traits.CastToBytes(offsets)), memory.NewBufferBytes([]byte(strings.Join(parts, ""))),
		}, nil, -1, 0)
		vec := mapping.CreateVector(kind, 2048)
		if err := putTexts(vec, array.NewStringData(data)); c.bad {
			require.ErrorIs(t, err, errText, c.texts)
		} else {
			require.NoError(t, err, c.texts)
		}
		mapping.DestroyVector(&vec)
	}
}
