package arrowmap

import (
	"bytes"
	"encoding/base64"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/internal/base/fault"
)

func TestSchemaMetadata(t *testing.T) {
	fields := []arrow.Field{{Name: "a", Type: arrow.ListOf(arrow.BinaryTypes.String), Metadata: meta("x", "y")}}
	for _, want := range []arrow.Metadata{{}, meta("pandas", `{"index": []}`, "", "", "k", "v\xff")} {
		text, err := EncodeIPC(arrow.NewSchema(fields, &want))
		require.NoError(t, err)
		got, err := MetadataFromIPC(text)
		require.NoError(t, err)
		require.Equal(t, want.Keys(), got.Keys())
		require.Equal(t, want.Values(), got.Values())

		// Other readers parse the whole schema.
		raw, err := base64.StdEncoding.DecodeString(text)
		require.NoError(t, err)
		r, err := ipc.NewReader(bytes.NewReader(raw))
		require.NoError(t, err)
		require.True(t, r.Schema().Equal(arrow.NewSchema(fields, nil)))
		r.Release()
	}
}

func TestSchemaMetadataRefuses(t *testing.T) {
	m := meta("k", "v")
	text, err := EncodeIPC(arrow.NewSchema(nil, &m))
	require.NoError(t, err)
	raw, err := base64.StdEncoding.DecodeString(text)
	require.NoError(t, err)
	for n := range len(raw) {
		_, err := MetadataFromIPC(base64.StdEncoding.EncodeToString(raw[:n]))
		require.ErrorIs(t, err, fault.ErrCorrupt, "cut at %d of %d", n, len(raw))
	}
	_, err = MetadataFromIPC("not base64!")
	require.ErrorIs(t, err, fault.ErrCorrupt)
}

func FuzzMetadataFromIPC(f *testing.F) {
	m := meta("k", "v")
	text, err := EncodeIPC(arrow.NewSchema([]arrow.Field{{Name: "a", Type: arrow.Null}}, &m))
	require.NoError(f, err)
	raw, err := base64.StdEncoding.DecodeString(text)
	require.NoError(f, err)
	f.Add(raw)
	f.Fuzz(func(t *testing.T, raw []byte) {
		_, _ = MetadataFromIPC(base64.StdEncoding.EncodeToString(raw))
	})
}
