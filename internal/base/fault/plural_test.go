package fault_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/internal/base/fault"
)

func TestPlurals(t *testing.T) {
	for want, err := range map[string]error{
		"corrupt: 1 byte is left":                      fault.Corruptf("%d bytes are left", int64(1)),
		"corrupt: 2 bytes are left":                    fault.Corruptf("%d bytes are left", 2),
		"corrupt: 1 entry of 100 % and 3 indexes":      fault.Corruptf("%d entries of 100 %% and %d indexes", uint8(1), 3),
		"corrupt: column \"1 rows\" has 1 box in a":    fault.Corruptf("column %q has %d boxes in %s", "1 rows", uint64(1), "a"),
		"corrupt: 1 where 2 is possible, 1 value: end": fault.Corruptf("%d where %d is possible, %d values: %w", 1, 2, 1, errors.New("end")),
	} {
		require.EqualError(t, err, want)
	}
	wrapped := errors.New("reason")
	require.ErrorIs(t, fault.Limitf("%d rows: %w", 1, wrapped), wrapped)
}
