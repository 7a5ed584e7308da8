package shardfile

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestPropertyValues(t *testing.T) {
	deep := any("x")
	for range 100 {
		deep = []any{deep}
	}
	list := []Property{
		{Name: "null", Value: nil}, {Name: "bool", Value: true}, {Name: "int", Value: int64(-5)}, {Name: "uint", Value: ^uint64(0)}, {Name: "double", Value: 2.5}, {Name: "text", Value: "текст"},
		{Name: "bytes", Value: []byte{0, 255}}, {Name: "decimal", Value: Decimal{1, 2, 3}}, {Name: "time", Value: time.Date(2024, 2, 29, 12, 0, 0, 123456700, time.UTC)}, {Name: "span", Value: -1500 * time.Millisecond},
		{Name: "list", Value: []any{int64(1), "a", nil, []any{}}}, {Name: "struct", Value: []Property{{Name: "inner", Value: "v"}, {Name: "none", Value: nil}}},
	}
	p, err := PropertiesToProto(list)
	require.NoError(t, err)
	require.Equal(t, list, PropertiesFromProto(p))
	_, err = PropertiesToProto([]Property{{Name: "deep", Value: deep}})
	require.ErrorContains(t, err, "deep")
	_, err = Ticks(time.Date(20000, 1, 1, 0, 0, 0, 0, time.UTC))
	require.NoError(t, err)
	_, err = Ticks(time.Date(60000, 1, 1, 0, 0, 0, 0, time.UTC))
	require.Error(t, err)
}

// TestTicks converts times at both ends of the range of DateTime.
func TestTicks(t *testing.T) {
	for _, ticks := range []uint64{0, 1, unixEpochTicks, 1<<63 - 1, 1 << 63, 1<<64 - 1} {
		got, err := Ticks(Time(ticks))
		require.NoError(t, err)
		require.Equal(t, ticks, got)
	}
	for _, beyond := range []time.Time{Time(0).Add(-1), Time(1<<64 - 1).Add(100), time.Unix(1<<62, 0)} {
		_, err := Ticks(beyond)
		require.Error(t, err)
	}
}
