package column_test

import (
	"bytes"
	"encoding/binary"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/blockpack/internal/column"
	"github.com/amudai/amudai-go/blockpack/internal/otlp"
	"github.com/amudai/amudai-go/internal/testing/testdata"
)

// storedColumn is a column of a block of a file.
type storedColumn struct {
	name string
	typ  column.Type
	data []byte
}

// storedBlock is a block of a file.
type storedBlock struct {
	rows    int
	columns []storedColumn
}

// blocksOf finds the blocks of a file of the reference by their magic numbers, without its indexes.
func blocksOf(file []byte) (blocks []storedBlock) {
	magic := []byte{0xa1, 0xfe, 0x11, 0xc0, 11, 0, 0, 0}
	for at := 0; ; {
		next := bytes.Index(file[at:], magic)
		if next < 0 {
			return blocks
		}
		block := file[at+next:]
		at += next + len(magic)
		head := block[24:]
		b := storedBlock{rows: int(binary.LittleEndian.Uint32(block[8:]))}
		for range binary.LittleEndian.Uint32(block[12:]) {
			n := int(binary.LittleEndian.Uint16(head))
			c := storedColumn{name: string(head[2 : 2+n]), typ: column.Type(head[2+n])}
			head = head[3+n:]
			offset, size := binary.LittleEndian.Uint64(head), binary.LittleEndian.Uint64(head[8:])
			c.data = block[offset : offset+size]
			head = head[32:]
			b.columns = append(b.columns, c)
		}
		blocks = append(blocks, b)
	}
}

// notKept are extension columns: the reference does not keep these fields.
var notKept = []string{"scope:name", "scope:version", "span:flags", "span:events", "span:links"}

// TestReference decodes the columns of files of the reference, and compares those of ref_kinds with their input.
func TestReference(t *testing.T) {
	dir := filepath.Join(testdata.Shared(t), "golden", "blockpack")
	wire, err := os.ReadFile(filepath.Join(dir, "ref_kinds.otlp.pb"))
	require.NoError(t, err)
	b := otlp.NewBuilder(otlp.Options{})
	require.NoError(t, b.AddTraces(wire))
	input := b.Finish()
	want := map[string]map[any]any{} // by column and span id
	ids := rowsOf(input.Columns[slices.IndexFunc(input.Columns, func(c *column.Column) bool { return c.Name == "span:id" })])
	for _, c := range input.Columns {
		want[c.Name+" "+c.Type.String()] = byID(ids, rowsOf(c))
	}

	file, err := os.ReadFile(filepath.Join(dir, "ref_kinds.blockpack"))
	require.NoError(t, err)
	kinds := map[column.Kind]bool{}
	got := map[string]map[any]any{}
	for _, block := range blocksOf(file) {
		var ids []any
		for _, c := range block.columns {
			if c.name == "span:id" {
				ids = rowsOf(block.decode(t, c))
			}
		}
		for _, c := range block.columns {
			kinds[column.Kind(c.data[1])] = true
			key := c.name + " " + c.typ.String()
			if got[key] == nil {
				got[key] = map[any]any{}
			}
			maps.Copy(got[key], byID(ids, rowsOf(block.decode(t, c))))
		}
	}
	require.Len(t, kinds, 10, "1 2 5 6 7 8 9 10 11 12")
	for name, values := range want {
		if slices.Contains(notKept, strings.Fields(name)[0]) {
			continue
		}
		require.Equal(t, values, got[name], "%s", name)
		delete(got, name)
	}
	require.Empty(t, got)
}

// byID gives the values that are not null by the id of their span.
func byID(ids, values []any) map[any]any {
	m := map[any]any{}
	for i, v := range values {
		if v != nil {
			m[ids[i]] = v
		}
	}
	return m
}

func (b storedBlock) decode(t *testing.T, c storedColumn) *column.Column {
	got, err := column.Decode(c.data, c.name, c.typ, b.rows, column.DecodeOptions{Warn: func(err error) {
		require.ErrorIs(t, err, column.ErrMaybePadded)
		require.Equal(t, "span.blob_id", c.name)
	}})
	require.NoError(t, err)
	return got
}

// TestReferenceProbe decodes what the reference damages or packs.
func TestReferenceProbe(t *testing.T) {
	file, err := os.ReadFile(filepath.Join(testdata.Shared(t), "golden", "blockpack", "ref_probe.blockpack"))
	require.NoError(t, err)
	blocks := blocksOf(file)
	require.Len(t, blocks, 4)
	for i, block := range blocks {
		for _, c := range block.columns {
			got := block.decode(t, c)
			require.Equal(t, c.name == "span.request.id", got.PackedUUID, "%s", c.name)
			if got.PackedUUID {
				for _, v := range rowsOf(got) {
					require.Regexp(t, `^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`, v)
				}
			}
			if i == 0 && c.name == "span.longkey" {
				require.Len(t, rowsOf(got)[0], 57)
			}
		}
	}
}
