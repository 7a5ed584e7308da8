package docs

import (
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/extensions"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/amudai/amudai-go/encoding"
	"github.com/amudai/amudai-go/encoding/bytestring"
	"github.com/amudai/amudai-go/encoding/numeric"
	commonpb "github.com/amudai/amudai-go/gen/amudai/common"
	shardpb "github.com/amudai/amudai-go/gen/amudai/shard"
	"github.com/amudai/amudai-go/internal/format/arrowmap"
	"github.com/amudai/amudai-go/internal/format/edition"
	"github.com/amudai/amudai-go/internal/format/schema"
)

// tableAfter returns the cells of the table behind a mark in a document, without its header and without backquotes.
func tableAfter(t *testing.T, text, mark string) (rows [][]string) {
	t.Helper()
	_, text, ok := strings.Cut(text, "<!-- "+mark+" -->\n")
	require.True(t, ok, "no mark %q", mark)
	for line := range strings.SplitSeq(text, "\n") {
		switch {
		case strings.HasPrefix(line, "|"):
			var cells []string
			for _, cell := range strings.Split(strings.Trim(line, "|"), "|") {
				cells = append(cells, strings.ReplaceAll(strings.TrimSpace(cell), "`", ""))
			}
			rows = append(rows, cells)
		case len(rows) > 0 || strings.HasPrefix(line, "<!--") || strings.HasPrefix(line, "#"):
			if len(rows) < 2 {
				return nil
			}
			return rows[2:]
		}
	}
	return nil
}

// The tables of messages list every field of every message, in order.
func TestMessageTables(t *testing.T) {
	text := read(t, "docs/format.md")
	n := 0
	for _, file := range []protoreflect.FileDescriptor{commonpb.File_amudai_common_common_proto, shardpb.File_amudai_shard_shard_proto} {
		for i := range file.Messages().Len() {
			md := file.Messages().Get(i)
			var want, got [][]string
			for k := range md.Fields().Len() {
				fd := md.Fields().Get(k)
				want = append(want, []string{strconv.Itoa(int(fd.Number())), string(fd.Name()), fieldType(fd)})
			}
			for _, row := range tableAfter(t, text, "message: "+string(md.FullName())) {
				got = append(got, row[:3])
			}
			require.Equal(t, want, got, "%s", md.FullName())
			n++
		}
		for i := range file.Enums().Len() {
			ed := file.Enums().Get(i)
			for k := range ed.Values().Len() {
				v := ed.Values().Get(k)
				require.Contains(t, text, fmt.Sprintf("%s %d", v.Name(), v.Number()), "%s", ed.FullName())
			}
		}
	}
	require.Greater(t, n, 40)
}

func fieldType(fd protoreflect.FieldDescriptor) string {
	name := fd.Kind().String()
	switch {
	case fd.Message() != nil:
		name = string(fd.Message().Name())
	case fd.Enum() != nil:
		name = string(fd.Enum().Name())
	}
	switch {
	case fd.IsList():
		return "repeated " + name
	case fd.HasOptionalKeyword():
		return "optional " + name
	}
	return name
}

var (
	fbsTable = regexp.MustCompile(`(?s)\ntable (\w+) \{(.*?)\n\}`)
	fbsField = regexp.MustCompile(`(?m)^  (\w+): ([^;]+);`)
)

// The tables of the schema list every field of every table.
func TestSchemaTables(t *testing.T) {
	text := read(t, "docs/format.md")
	tables := fbsTable.FindAllStringSubmatch(read(t, "fbs/schema.fbs"), -1)
	require.Len(t, tables, 8)
	for _, table := range tables {
		var want, got [][]string
		for i, field := range fbsField.FindAllStringSubmatch(table[2], -1) {
			want = append(want, []string{strconv.Itoa(i), field[1], strings.Replace(field[2], " (required)", ", required", 1)})
		}
		for _, row := range tableAfter(t, text, "fbs: "+table[1]) {
			got = append(got, row[:3])
		}
		require.Equal(t, want, got, table[1])
	}
}

// numericTypes maps the words of the table of encodings to sets of types.
var numericTypes = map[string][]numeric.Type{
	"all":               {numeric.I8, numeric.I16, numeric.I32, numeric.I64, numeric.U8, numeric.U16, numeric.U32, numeric.U64, numeric.F32, numeric.F64},
	"integers":          {numeric.I8, numeric.I16, numeric.I32, numeric.I64, numeric.U8, numeric.U16, numeric.U32, numeric.U64},
	"signed":            {numeric.I8, numeric.I16, numeric.I32, numeric.I64},
	"unsigned":          {numeric.U8, numeric.U16, numeric.U32, numeric.U64},
	"u16, u32, u64":     {numeric.U16, numeric.U32, numeric.U64},
	"i16, i32, i64":     {numeric.I16, numeric.I32, numeric.I64},
	"i32, i64":          {numeric.I32, numeric.I64},
	"i64":               {numeric.I64},
	"floats":            {numeric.F32, numeric.F64},
	"16 bits and wider": {numeric.I16, numeric.I32, numeric.I64, numeric.U16, numeric.U32, numeric.U64, numeric.F32, numeric.F64},
}

// The table of encodings has every code, with the types that the decoders accept, its edition and its file.
func TestEncodingTables(t *testing.T) {
	text := read(t, "docs/format.md")
	listed := map[encoding.Code]bool{}
	for _, row := range tableAfter(t, text, "encodings: numeric") {
		code := checkEncoding(t, row, "encoding/numeric/internal/codec", "encoding/numeric/internal/packing")
		listed[code] = true
		want := numericTypes[row[2]]
		require.NotNil(t, want, row[2])
		for _, typ := range numericTypes["all"] {
			require.Equal(t, slices.Contains(want, typ), takesNumbers(code, typ), "%v of %v", code, typ)
		}
	}
	inBytes := map[encoding.Code]bool{}
	for _, row := range tableAfter(t, text, "encodings: bytestring") {
		code := checkEncoding(t, row, "encoding/bytestring/internal/codec", "encoding/bytestring/internal/patterns")
		listed[code], inBytes[code] = true, true
		for fixed, words := range map[int]string{0: "var", 3: "fixed", 16: "16 bytes"} {
			want := strings.Contains(row[2], words) || fixed == 16 && strings.Contains(row[2], "fixed")
			require.Equal(t, want, takesBytes(code, fixed), "%v of values of %d bytes", code, fixed)
		}
	}
	for code := range encoding.Code(0x9000) {
		known := !strings.HasPrefix(code.String(), "code ")
		require.Equal(t, known, listed[code], "%v is not in the tables", code)
		if !inBytes[code] {
			require.False(t, takesBytes(code, 0) || takesBytes(code, 16), "%v", code)
		}
	}
}

// checkEncoding checks the columns of both tables, and returns the code.
func checkEncoding(t *testing.T, row []string, folders ...string) encoding.Code {
	n, err := strconv.ParseUint(row[0], 0, 16)
	require.NoError(t, err)
	code := encoding.Code(n)
	require.Equal(t, code.String(), row[1])
	want := edition.Reference
	for _, f := range edition.Table {
		if f.Code == uint16(code) {
			want = f.Edition
		}
	}
	require.Equal(t, want.String(), row[6], row[1])
	source, err := os.ReadFile(filepath.Join(root, folders[0], row[8]))
	for i := 1; os.IsNotExist(err) && i < len(folders); i++ {
		source, err = os.ReadFile(filepath.Join(root, folders[i], row[8]))
	}
	require.NoError(t, err)
	name := strings.TrimRight(row[1], "0123456789") // TruncateU8 to U64 share a file
	require.Contains(t, string(source), strings.TrimSuffix(name, "U"))
	return code
}

// takesNumbers reports whether a decoder accepts a type: its error is then about the header.
func takesNumbers(code encoding.Code, t numeric.Type) bool {
	tree := binary.LittleEndian.AppendUint16(nil, uint16(code))
	node := numeric.Describe(tree, t, 1)
	err := fmt.Sprint(node.FirstErr())
	return !strings.Contains(err, "does not take") && !strings.Contains(err, "not known")
}

func takesBytes(code encoding.Code, fixed int) bool {
	blk := make([]byte, 8+64)
	binary.LittleEndian.PutUint32(blk[4:], 64)
	binary.LittleEndian.PutUint16(blk[8:], uint16(code))
	_, err := bytestring.Parse(blk, 1, fixed, bytestring.BlockOptions{}, new(bytestring.Scratch))
	text := fmt.Sprint(err)
	return !strings.Contains(text, "of byte strings") && !strings.Contains(text, "are not written like that") && !strings.Contains(text, "decimals in values of")
}

// The table of features agrees with the features of the writer.
func TestFeatureTable(t *testing.T) {
	var want, got [][]string
	for _, f := range edition.Table {
		code := ""
		if f.Code != 0 {
			code = fmt.Sprintf("%#x", f.Code)
		}
		want = append(want, []string{f.Name, code, f.Edition.String(), f.Since})
	}
	for _, row := range tableAfter(t, read(t, "docs/format.md"), "features") {
		got = append(got, row[:4])
	}
	require.Equal(t, want, got)
}

// arrowForms are the Arrow types that are stored as another type.
var arrowForms = []arrow.DataType{
	arrow.Null,
	arrow.FixedWidthTypes.Float16,
	&arrow.Decimal32Type{Precision: 9, Scale: 2},
	&arrow.Decimal64Type{Precision: 18, Scale: 2},
	&arrow.Decimal128Type{Precision: 38, Scale: 2},
	&arrow.Decimal256Type{Precision: 76, Scale: 2},
	arrow.FixedWidthTypes.Date32,
	arrow.FixedWidthTypes.Date64,
	arrow.FixedWidthTypes.Timestamp_s,
	arrow.FixedWidthTypes.Timestamp_ms,
	arrow.FixedWidthTypes.Timestamp_us,
	arrow.FixedWidthTypes.Timestamp_ns,
	arrow.FixedWidthTypes.Duration_s,
	arrow.FixedWidthTypes.Duration_ms,
	arrow.FixedWidthTypes.Duration_us,
	arrow.FixedWidthTypes.Duration_ns,
	arrow.FixedWidthTypes.Time32s,
	arrow.FixedWidthTypes.Time32ms,
	arrow.FixedWidthTypes.Time64us,
	arrow.FixedWidthTypes.Time64ns,
	arrow.FixedWidthTypes.MonthInterval,
	arrow.FixedWidthTypes.DayTimeInterval,
	arrow.FixedWidthTypes.MonthDayNanoInterval,
	arrow.FixedSizeListOf(3, arrow.PrimitiveTypes.Float32),
	&arrow.FixedSizeBinaryType{},
	arrow.StructOf(),
	&arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int32, ValueType: arrow.BinaryTypes.String},
	arrow.RunEndEncodedOf(arrow.PrimitiveTypes.Int32, arrow.PrimitiveTypes.Int64),
	extensions.NewUUIDType(),
	jsonType(),
	extensions.NewBool8Type(),
}

func jsonType() arrow.DataType {
	t, err := extensions.NewJSONType(arrow.BinaryTypes.String)
	if err != nil {
		panic(err)
	}
	return t
}

// The table of Arrow types that are stored as another type agrees with the mapping.
func TestArrowTypes(t *testing.T) {
	n := replace(t, "docs/format.md", tableMark, func(t *testing.T, groups []string) string {
		require.Equal(t, "arrow forms", groups[2])
		var b strings.Builder
		b.WriteString("| Arrow type | edition `reference` | edition `2026` |\n| --- | --- | --- |\n")
		for _, dt := range arrowForms {
			stored, newer := storedAs(t, dt, edition.Reference), storedAs(t, dt, edition.E2026)
			if newer == stored {
				newer = "the same"
			} else {
				newer = "`" + newer + "`"
			}
			fmt.Fprintf(&b, "| %s | `%s` | %s |\n", strings.ReplaceAll(arrowName(dt), "|", `\|`), stored, newer)
		}
		return b.String()
	})
	require.Equal(t, 1, n)
}

func arrowName(dt arrow.DataType) string {
	switch t := dt.(type) {
	case arrow.DecimalType:
		return strings.Replace(t.Name()+"(p, s)", "decimal(", "decimal128(", 1)
	case *arrow.StructType:
		return "struct without fields"
	case *arrow.TimestampType:
		return "timestamp[" + t.Unit.String() + "]"
	case *arrow.FixedSizeListType:
		return "fixed_size_list of 3 float32"
	case *arrow.DictionaryType:
		return "dictionary of utf8"
	case *arrow.RunEndEncodedType:
		return "run-end encoded int64"
	case arrow.ExtensionType:
		return "extension " + t.ExtensionName()
	case *arrow.FixedSizeBinaryType:
		return "fixed_size_binary[0]"
	case *arrow.MonthIntervalType:
		return "interval_months"
	case *arrow.DayTimeIntervalType:
		return "interval_day_time"
	case *arrow.MonthDayNanoIntervalType:
		return "interval_month_day_nano"
	}
	return dt.String()
}

func storedAs(t *testing.T, dt arrow.DataType, e edition.Edition) string {
	s := arrow.NewSchema([]arrow.Field{{Name: "x", Type: dt, Nullable: true}}, nil)
	fields, _, err := arrowmap.FromArrow(s, arrowmap.Options{Features: e.Features()})
	require.NoError(t, err)
	buf, err := schema.Build(fields)
	require.NoError(t, err)
	stored, err := schema.Parse(buf)
	require.NoError(t, err)
	node, err := stored.Field(0)
	require.NoError(t, err)
	text, err := node.Text()
	require.NoError(t, err)
	return strings.ReplaceAll(text, "[Arrow]", "")
}

// Every Arrow annotation in the examples is valid.
func TestAnnotationExamples(t *testing.T) {
	_, text, ok := strings.Cut(read(t, "docs/format.md"), "<!-- annotations: examples -->\n\n")
	require.True(t, ok)
	n := 0
	for line := range strings.SplitSeq(text, "\n") {
		kept, ok := strings.CutPrefix(line, "    ")
		if !ok {
			break
		}
		f := schema.Field{Name: "x", Type: schema.String, Extended: &schema.Extended{
			Label: arrowmap.AnnotationLabel, Properties: []schema.Property{{Name: arrowmap.AnnotationProperty, Kind: schema.PropertyString, Data: []byte(kept)}},
		}}
		switch {
		case strings.Contains(kept, "timestamp"):
			f.Type = schema.DateTime
		case strings.Contains(kept, "binary"):
			f.Type = schema.Binary
		}
		buf, err := schema.Build([]schema.Field{f})
		require.NoError(t, err)
		s, err := schema.Parse(buf)
		require.NoError(t, err)
		_, columns, err := arrowmap.ToArrow(s, arrowmap.ReadOptions{})
		require.NoError(t, err)
		require.Empty(t, columns[0].AnnotationIgnored)
		n++
	}
	require.Greater(t, n, 4)
}
