package envelope_test

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/zeebo/xxh3"

	"github.com/amudai/amudai-go/rntuple/internal/column"
	"github.com/amudai/amudai-go/rntuple/internal/envelope"
)

// checkElements holds the elements of all columns against their digests: those of the pages, in the order of clusters.
func checkElements(t *testing.T, file []byte, want ntuple, o opened) {
	for id := range o.schema.Columns {
		expected := want.Schema.Columns[id].Elements
		if expected == nil {
			continue
		}
		hash := sha256.New()
		n := 0
		last, values := envelope.Page{}, []byte(nil) // some files repeat one page many times
		for _, clusters := range o.clusters {
			for i := range clusters {
				for _, p := range clusters[i].Pages(uint32(id)) {
					if p != last {
						last, values = p, elementsOf(t, o.schema, uint32(id), readPage(t, file, o.schema, uint32(id), p), int(p.Elements))
					}
					hash.Write(values)
					n += int(p.Elements)
				}
			}
		}
		require.Equal(t, expected.N, n)
		require.Equal(t, expected.SHA256, hex.EncodeToString(hash.Sum(nil)), "column %d, %v", id, o.schema.Columns[id].Type)
	}
}

// readPage gives the uncompressed bytes of a page.
func readPage(t testing.TB, file []byte, s *envelope.Schema, id uint32, p envelope.Page) []byte {
	require.NoError(t, p.Check(int64(len(file)), 0))
	if p.Checksum {
		require.Equal(t, binary.LittleEndian.Uint64(file[p.End():]), xxh3.Hash(file[p.Offset:p.End()]))
	}
	return unpack(t, file, envelope.Link{Length: column.PageSize(p.Elements, s.Columns[id].Bits), Locator: p.Locator})
}

// elementsOf decodes a page to what digests are made of, encodes it again, and holds that against the page.
func elementsOf(t testing.TB, s *envelope.Schema, id uint32, page []byte, n int) []byte {
	c := &s.Columns[id]
	if c.Type == column.Switch {
		tags, places := make([]int8, n), make([]int32, n)
		require.NoError(t, column.DecodeSwitch(tags, places, page, 0))
		require.Equal(t, page, column.AppendSwitch(nil, tags, places))
		return page
	}
	kind := c.Type.Native()
	if c.Type == column.Real32Quant && s.Fields[c.Field].TypeName == "float" {
		kind = column.KindFloat32
	}
	codec, err := column.NewCodec(c.Type, c.Bits, c.Min, c.Max, kind)
	require.NoError(t, err)
	values := make([]byte, kind.Size(n))
	require.NoError(t, codec.Decode(values, 0, page, n))
	again, err := codec.Append(nil, values, 0, n)
	require.NoError(t, err)
	if used := n * int(c.Bits) % 8; used > 0 { // ROOT leaves the bits behind the last element as they happen to be
		page = slices.Clone(page)
		page[len(page)-1] &= 1<<used - 1
	}
	require.Equal(t, page, again)
	if kind != column.KindBool {
		return values
	}
	out := make([]byte, n)
	for i := range out {
		out[i] = values[i/8] >> (i % 8) & 1
	}
	return out
}
