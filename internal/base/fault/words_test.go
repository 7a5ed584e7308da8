package fault_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/internal/base/fault"
)

// TestSingular counts nouns in messages.
func TestSingular(t *testing.T) {
	for _, c := range []struct {
		format string
		args   []any
		want   string
	}{
		{"%d bytes of %d", []any{1, 2}, "1 byte of 2"},
		{"%d bytes of %d bytes", []any{2, uint8(1)}, "2 bytes of 1 byte"},
		{"%d entries, %s has %d rows", []any{int64(1), "1 rows", 1}, `1 entry, 1 rows has 1 row`},
		{"%d bytes are too few, %d rows have %d values", []any{1, 2, 1}, "1 byte is too few, 2 rows have 1 value"},
		{"%d %% of %d values", []any{1, 1}, "1 % of 1 value"},
		{"element %d is of %d", []any{1, 1}, "element 1 is of 1"},
		{"%d has %v items", []any{1, int32(1)}, "1 has 1 item"},
		{"%d less than %d", []any{1, 1}, "1 less than 1"},
		{"%x bytes of %d rows", []any{1, 1}, "1 bytes of 1 row"},
		{"%d rows: %d", []any{1}, "1 row: %!d(MISSING)"},
		{"%d%%", []any{1}, "1%"},
		{"100%", nil, "100%!(NOVERB)"},
	} {
		require.Equal(t, fault.ErrCorrupt.Error()+": "+c.want, fault.Corruptf(c.format, c.args...).Error())
	}
}
