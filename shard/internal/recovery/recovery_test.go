package recovery

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func FuzzRecord(f *testing.F) {
	f.Add((&Record{Stripe: 3, Directory: []byte("directory"), Properties: []byte("p")}).Append(nil))
	f.Add([]byte(Magic + "\x01\x00\x00\x00" + "\x00\x00\x00\x00" + string(make([]byte, 32))))
	f.Fuzz(func(t *testing.T, b []byte) {
		r, err := Parse(b, 0)
		if err != nil {
			return
		}
		again, err := Parse(r.Append(nil), 0)
		require.NoError(t, err)
		require.Equal(t, r, again)
	})
}
