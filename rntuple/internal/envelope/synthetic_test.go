package envelope_test

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/testing/testdata"
	"github.com/amudai/amudai-go/rntuple/internal/column"
	"github.com/amudai/amudai-go/rntuple/internal/envelope"
)

func synthetic(t testing.TB, name string) []byte {
	file, err := os.ReadFile(filepath.Join(testdata.Shared(t), "corpus", "rntuple", "synthetic", name))
	require.NoError(t, err)
	return file
}

// findAnchor looks for the first key of an anchor and gives its payload.
func findAnchor(t testing.TB, file []byte, class string) []byte {
	name := append([]byte{byte(len(class))}, class...)
	for at := 0; ; {
		i := bytes.Index(file[at:], name)
		require.GreaterOrEqual(t, i, 0, "no key of class %s", class)
		at += i + 1
		for _, head := range []int{26, 34} {
			key := at - 1 - head
			if key < 0 || int(binary.BigEndian.Uint16(file[key+4:]))/1000*8+26 != head {
				continue
			}
			seek := int(binary.BigEndian.Uint32(file[key+18:]))
			if head == 34 {
				seek = int(binary.BigEndian.Uint64(file[key+18:]))
			}
			if seek != key {
				continue
			}
			size, keyLen := int(binary.BigEndian.Uint32(file[key:])), int(binary.BigEndian.Uint16(file[key+14:]))
			length := binary.BigEndian.Uint32(file[key+6:])
			return unpack(t, file, envelope.Link{Length: uint64(length), Locator: envelope.Locator{Offset: uint64(key + keyLen), Size: uint64(size - keyLen)}})
		}
	}
}

// openAnchor reads all metadata from the anchor on.
func openAnchor(t testing.TB, file []byte) (o opened, err error) {
	a, err := envelope.ParseAnchor(findAnchor(t, file, envelope.AnchorClass), envelope.AnchorClass)
	if err != nil {
		return o, err
	}
	require.NoError(t, a.Check(int64(len(file))))
	o.header = unpack(t, file, a.Header)
	if o.schema, err = envelope.ParseHeader(o.header, a.Format); err != nil {
		return o, err
	}
	o.footer = unpack(t, file, a.Footer)
	if o.foot, err = envelope.ParseFooter(o.footer, o.schema); err != nil {
		return o, err
	}
	for _, g := range o.foot.Groups {
		list := unpack(t, file, g.PageList)
		clusters, err := envelope.ParsePageList(list, o.schema, g)
		if err != nil {
			return o, err
		}
		o.lists, o.clusters = append(o.lists, list), append(o.clusters, clusters)
	}
	return o, nil
}

// TestRefused: features and formats that are not known are errors that name them.
func TestRefused(t *testing.T) {
	for name, text := range map[string]string{
		"feature_flag_bit0.root":   "feature flag 0, which",
		"feature_flag_chain.root":  "feature flag 137",
		"feature_flag_footer.root": "feature flag",
		"sharded_cluster.root":     "sharded cluster",
		"epoch2.root":              "epoch 2",
	} {
		t.Run(name, func(t *testing.T) {
			_, err := openAnchor(t, synthetic(t, name))
			require.ErrorIs(t, err, fault.ErrUnsupported)
			require.ErrorContains(t, err, text)
		})
	}
}

// TestSyntheticMetadata: what newer versions may add is left out, and known things are written as they were.
func TestSyntheticMetadata(t *testing.T) {
	for _, name := range []string{"plain", "large_locator", "no_page_checksum", "v1000_no_attr_list", "future_minor_trailing", "unknown_column_type",
		"unknown_field_role", "unknown_field_version", "unknown_flags", "column_zoo", "split_real16", "type_conversions", "big_header"} {
		t.Run(name, func(t *testing.T) {
			o, err := openAnchor(t, synthetic(t, name+".root"))
			require.NoError(t, err)
			s := o.schema
			switch name {
			case "unknown_column_type":
				require.False(t, s.Columns[1].Type.Known())
			case "unknown_field_role":
				require.Equal(t, "unknown", s.Fields[1].Role.String())
			case "unknown_field_version":
				require.Equal(t, uint32(7), s.Fields[1].Version)
			}
			require.Equal(t, name == "v1000_no_attr_list", o.foot.Attributes == nil)
			if name == "future_minor_trailing" {
				return
			}
			got, err := envelope.AppendHeader(nil, s)
			require.NoError(t, err)
			require.Equal(t, o.header, got)
			got, err = envelope.AppendFooter(nil, s, o.foot)
			require.NoError(t, err)
			require.Equal(t, o.footer, got)
			for i, list := range o.lists {
				got, err := envelope.AppendPageList(nil, s, o.clusters[i])
				require.NoError(t, err)
				require.Equal(t, list, got)
			}
		})
	}
}

// syntheticValues are the expected values of fields of a file.
func syntheticValues(t *testing.T, name string) map[string][]any {
	raw := synthetic(t, "expected.json")
	var all map[string]struct {
		Expect struct{ Values map[string][]any }
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	require.NoError(t, d.Decode(&all))
	return all[name].Expect.Values
}

// TestValues reads the plain fields of the files that have all column types and all conversions.
func TestValues(t *testing.T) {
	for _, name := range []string{"column_zoo.root", "type_conversions.root", "split_real16.root"} {
		t.Run(name, func(t *testing.T) {
			file := synthetic(t, name)
			o, err := openAnchor(t, file)
			require.NoError(t, err)
			want := syntheticValues(t, name)
			checked := 0
			for _, f := range o.schema.Top() {
				field := &o.schema.Fields[f]
				kind := column.KindOf(field.TypeName)
				if kind == 0 {
					continue
				}
				checked++
				id := o.schema.ColumnsOf(f)[0]
				got := plainValues(t, file, o, id, kind)
				require.Len(t, got, len(want[field.Name]))
				for i, v := range want[field.Name] {
					if n, ok := v.(json.Number); ok {
						v = n.String()
						if kind == column.KindFloat32 || kind == column.KindFloat64 {
							f, err := n.Float64()
							require.NoError(t, err)
							v = jsonReal(f)
						}
					}
					require.Equal(t, v, got[i], "%s, entry %d", field.Name, i)
				}
			}
			if name == "type_conversions.root" {
				require.Greater(t, checked, 160)
			}
		})
	}
}

// plainValues reads a column of all clusters, as JSON has its values.
func plainValues(t *testing.T, file []byte, o opened, id uint32, kind column.Kind) (values []any) {
	c := &o.schema.Columns[id]
	codec, err := column.NewCodec(c.Type, c.Bits, c.Min, c.Max, kind)
	require.NoError(t, err)
	for _, cluster := range o.clusters[0] {
		buf := make([]byte, kind.Size(int(cluster.Entries)))
		at := 0
		for _, p := range cluster.Pages(id) {
			require.NoError(t, codec.Decode(buf, at, readPage(t, file, o.schema, id, p), int(p.Elements)))
			at += int(p.Elements)
		}
		for i := range at {
			values = append(values, jsonValue(t, buf, i, kind))
		}
	}
	return values
}

func jsonValue(t *testing.T, b []byte, i int, k column.Kind) any {
	le := binary.LittleEndian
	var v any
	switch k {
	case column.KindBool:
		return b[i/8]>>(i%8)&1 == 1
	case column.KindChar, column.KindInt8:
		v = int8(b[i])
	case column.KindByte, column.KindUint8:
		v = b[i]
	case column.KindInt16:
		v = int16(le.Uint16(b[2*i:]))
	case column.KindUint16:
		v = le.Uint16(b[2*i:])
	case column.KindInt32:
		v = int32(le.Uint32(b[4*i:]))
	case column.KindUint32:
		v = le.Uint32(b[4*i:])
	case column.KindInt64:
		v = int64(le.Uint64(b[8*i:]))
	case column.KindUint64:
		v = le.Uint64(b[8*i:])
	case column.KindFloat32:
		return jsonReal(float64(math.Float32frombits(le.Uint32(b[4*i:]))))
	case column.KindFloat64:
		return jsonReal(math.Float64frombits(le.Uint64(b[8*i:])))
	}
	text, err := json.Marshal(v)
	require.NoError(t, err)
	return string(text)
}

func jsonReal(v float64) any {
	switch {
	case math.IsNaN(v):
		return "NaN"
	case math.IsInf(v, 1):
		return "Infinity"
	case math.IsInf(v, -1):
		return "-Infinity"
	}
	return strconv.FormatFloat(v, 'x', -1, 64)
}
