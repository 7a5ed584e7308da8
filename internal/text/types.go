package text

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/amudai/amudai-go/internal/arrow/extension"
)

// simpleTypes are the types without parameters, and their other names.
var simpleTypes = map[string]arrow.DataType{
	"null": arrow.Null, "bool": arrow.FixedWidthTypes.Boolean, "boolean": arrow.FixedWidthTypes.Boolean,
	"int8": arrow.PrimitiveTypes.Int8, "int16": arrow.PrimitiveTypes.Int16,
	"int32": arrow.PrimitiveTypes.Int32, "int64": arrow.PrimitiveTypes.Int64,
	"uint8": arrow.PrimitiveTypes.Uint8, "uint16": arrow.PrimitiveTypes.Uint16,
	"uint32": arrow.PrimitiveTypes.Uint32, "uint64": arrow.PrimitiveTypes.Uint64,
	"float16": arrow.FixedWidthTypes.Float16, "float32": arrow.PrimitiveTypes.Float32,
	"float64": arrow.PrimitiveTypes.Float64, "double": arrow.PrimitiveTypes.Float64,
	"utf8": arrow.BinaryTypes.String, "string": arrow.BinaryTypes.String, "text": arrow.BinaryTypes.String,
	"large_utf8": arrow.BinaryTypes.LargeString, "utf8_view": arrow.BinaryTypes.StringView,
	"binary": arrow.BinaryTypes.Binary, "large_binary": arrow.BinaryTypes.LargeBinary,
	"binary_view": arrow.BinaryTypes.BinaryView,
	"date32":      arrow.FixedWidthTypes.Date32, "date": arrow.FixedWidthTypes.Date32,
	"date64":    arrow.FixedWidthTypes.Date64,
	"timestamp": &arrow.TimestampType{Unit: arrow.Microsecond},
	"time":      arrow.FixedWidthTypes.Time64us,
	"duration":  arrow.FixedWidthTypes.Duration_us,
}

// Type returns the text of a type, which [ParseType] reads, except for unions and for extension types other than
// json, uuid and bool8, which become extension<name, storage>.
func Type(t arrow.DataType) string {
	switch t := t.(type) {
	case *arrow.BooleanType:
		return "bool"
	case *arrow.StringViewType:
		return "utf8_view"
	case *arrow.LargeStringType:
		return "large_utf8"
	case *arrow.BinaryViewType:
		return "binary_view"
	case *arrow.FixedSizeBinaryType:
		return fmt.Sprintf("fixed_size_binary[%d]", t.ByteWidth)
	case *arrow.Float16Type:
		return "float16"
	case *arrow.TimestampType:
		if t.TimeZone != "" {
			return fmt.Sprintf("timestamp[%s, %s]", t.Unit, t.TimeZone)
		}
		return fmt.Sprintf("timestamp[%s]", t.Unit)
	case arrow.DecimalType:
		return fmt.Sprintf("decimal%d(%d, %d)", t.BitWidth(), t.GetPrecision(), t.GetScale())
	case *arrow.MonthIntervalType:
		return "interval[month]"
	case *arrow.DayTimeIntervalType:
		return "interval[day_time]"
	case *arrow.MonthDayNanoIntervalType:
		return "interval[month_day_nano]"
	case *arrow.StructType:
		return "struct<" + fieldsText(t.Fields()) + ">"
	case *arrow.MapType:
		sorted := ""
		if t.KeysSorted {
			sorted = ", sorted"
		}
		return "map<" + Type(t.KeyType()) + ", " + Type(t.ItemType()) + nullText(t.ItemField()) + sorted + ">"
	case *arrow.FixedSizeListType:
		return fmt.Sprintf("fixed_size_list<%s>[%d]", elemText(t), t.Len())
	case *arrow.ListType:
		return "list<" + elemText(t) + ">"
	case *arrow.LargeListType:
		return "large_list<" + elemText(t) + ">"
	case *arrow.ListViewType:
		return "list_view<" + elemText(t) + ">"
	case *arrow.LargeListViewType:
		return "large_list_view<" + elemText(t) + ">"
	case *arrow.DictionaryType:
		ordered := ""
		if t.Ordered {
			ordered = ", ordered"
		}
		return "dictionary<" + Type(t.IndexType) + ", " + Type(t.ValueType) + ordered + ">"
	case *arrow.RunEndEncodedType:
		return "run_end_encoded<" + Type(t.RunEnds()) + ", " + Type(t.Encoded()) + ">"
	case arrow.UnionType:
		return t.Mode().String() + "_union<" + fieldsText(t.Fields()) + ">"
	case arrow.ExtensionType:
		return extensionText(t)
	}
	return t.String()
}

func elemText(t arrow.ListLikeType) string { return Type(t.Elem()) + nullText(t.ElemField()) }

func nullText(f arrow.Field) string {
	if f.Nullable {
		return ""
	}
	return " not null"
}

func extensionText(t arrow.ExtensionType) string {
	switch t.ExtensionName() {
	case "arrow.json":
		return "json"
	case "arrow.uuid":
		return "uuid"
	case "arrow.bool8":
		return "bool8"
	}
	return "extension<" + t.ExtensionName() + ", " + Type(t.StorageType()) + ">"
}

func fieldsText(fields []arrow.Field) string {
	parts := make([]string, len(fields))
	for i, f := range fields {
		parts[i] = Field(f)
	}
	return strings.Join(parts, ", ")
}

// Field returns "name: type", with the name quoted if necessary, and "not null" at the end if the field is not
// nullable.
func Field(f arrow.Field) string {
	return Name(f.Name) + ": " + Type(f.Type) + nullText(f)
}

// Name returns the name of a field, quoted if [ParseSchema] requires it.
func Name(name string) string {
	hidden := strings.IndexFunc(name, func(r rune) bool { return !unicode.IsPrint(r) }) >= 0 || !utf8.ValidString(name)
	if hidden || name == "" || strings.TrimSpace(name) != name || strings.ContainsAny(name, ":,<>()[]\"#\r\n\t") {
		return strconv.Quote(name)
	}
	return name
}

// Schema returns one [Field] a line, which [ParseSchema] reads.
func Schema(s *arrow.Schema) string {
	var b strings.Builder
	for _, f := range s.Fields() {
		b.WriteString(Field(f))
		b.WriteByte('\n')
	}
	return b.String()
}

// ParseSchema reads fields of the form name:type, separated by commas or line ends. "# …" up to the end of a line is
// a comment. Names with special characters are quoted as in Go. Types have the syntax of [Type]; "string", "text",
// "double", "boolean", "date", "timestamp", "time" and "decimal(p,s)" are accepted, too. A field is nullable unless
// "not null" follows its type.
func ParseSchema(text string) ([]arrow.Field, error) {
	p := typeParser{s: text}
	var fields []arrow.Field
	for p.skipSeparators(); p.i < len(p.s); p.skipSeparators() {
		f, err := p.field()
		if err != nil {
			return nil, fmt.Errorf("schema: %w", err)
		}
		fields = append(fields, f)
		p.space()
		if p.i < len(p.s) && !strings.ContainsRune(",\r\n#", rune(p.s[p.i])) {
			return nil, fmt.Errorf("schema: unexpected %q after field %q", Clip(p.s[p.i:]), f.Name)
		}
	}
	return fields, nil
}

// ParseType reads a type in the syntax of [Type].
func ParseType(text string) (arrow.DataType, error) {
	p := typeParser{s: text}
	t, err := p.dataType()
	if err != nil {
		return nil, err
	}
	if p.space(); p.i < len(p.s) {
		return nil, fmt.Errorf("unexpected %q after type %s", Clip(p.s[p.i:]), Type(t))
	}
	return t, nil
}

// typeParser parses types. depth is the number of open "<".
type typeParser struct {
	s     string
	i     int
	depth int
}

const maxTypeDepth = 64

func (p *typeParser) space() {
	for p.i < len(p.s) && (p.s[p.i] == ' ' || p.s[p.i] == '\t' || p.depth > 0 && (p.s[p.i] == '\n' || p.s[p.i] == '\r')) {
		p.i++
	}
}

func (p *typeParser) skipSeparators() {
	for p.i < len(p.s) {
		switch c := p.s[p.i]; c {
		case ' ', '\t', ',', '\n', '\r':
			p.i++
		case '#':
			end := strings.IndexByte(p.s[p.i:], '\n')
			if end < 0 {
				p.i = len(p.s)
				return
			}
			p.i += end
		default:
			return
		}
	}
}

// take consumes c, if it is next.
func (p *typeParser) take(c byte) bool {
	p.space()
	if p.i < len(p.s) && p.s[p.i] == c {
		p.i++
		return true
	}
	return false
}

func (p *typeParser) expect(c byte) error {
	if !p.take(c) {
		return fmt.Errorf("expected %q before %q", c, Clip(p.s[p.i:]))
	}
	return nil
}

func (p *typeParser) field() (arrow.Field, error) {
	name, err := p.fieldName()
	if err != nil {
		return arrow.Field{}, err
	}
	if err := p.expect(':'); err != nil {
		return arrow.Field{}, fmt.Errorf("field %q: %w: write name:type", name, err)
	}
	t, nullable, err := p.nullableType()
	if err != nil {
		return arrow.Field{}, fmt.Errorf("field %q: %w", name, err)
	}
	return arrow.Field{Name: name, Type: t, Nullable: nullable}, nil
}

func (p *typeParser) fieldName() (string, error) {
	p.space()
	if p.i < len(p.s) && p.s[p.i] == '"' {
		quoted, err := strconv.QuotedPrefix(p.s[p.i:])
		if err != nil {
			return "", fmt.Errorf("name %q: the quotes are not closed", Clip(p.s[p.i:]))
		}
		p.i += len(quoted)
		return strconv.Unquote(quoted)
	}
	end := strings.IndexAny(p.s[p.i:], ":,\r\n<>()")
	if end < 0 {
		end = len(p.s) - p.i
	}
	name := strings.TrimSpace(p.s[p.i : p.i+end])
	p.i += end
	if name == "" {
		return "", fmt.Errorf("a field has no name: write name:type, and \"\" for the empty name")
	}
	return name, nil
}

// nullableType reads a type and an optional "not null" after it.
func (p *typeParser) nullableType() (arrow.DataType, bool, error) {
	t, err := p.dataType()
	if err != nil {
		return nil, false, err
	}
	p.space()
	words := strings.Fields(p.s[p.i:min(len(p.s), p.i+24)])
	if len(words) >= 2 && words[0] == "not" && strings.HasPrefix(words[1], "null") {
		p.i += strings.Index(p.s[p.i:], "null") + len("null")
		return t, false, nil
	}
	return t, true, nil
}

func (p *typeParser) word() string {
	p.space()
	start := p.i
	for p.i < len(p.s) {
		c := p.s[p.i]
		if c != '_' && (c < '0' || c > '9') && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') {
			break
		}
		p.i++
	}
	return p.s[start:p.i]
}

func (p *typeParser) dataType() (arrow.DataType, error) {
	if p.depth > maxTypeDepth {
		return nil, fmt.Errorf("type is nested deeper than %d", maxTypeDepth)
	}
	name := p.word()
	switch name {
	case "":
		return nil, fmt.Errorf("expected a type before %q", Clip(p.s[p.i:]))
	case "json":
		return extension.JSON(arrow.BinaryTypes.String), nil
	case "uuid":
		return extension.UUID(), nil
	case "bool8":
		return extension.Bool8(), nil
	case "list", "large_list", "list_view", "large_list_view", "fixed_size_list", "struct", "map", "dictionary", "run_end_encoded":
		return p.nestedType(name)
	case "decimal", "decimal32", "decimal64", "decimal128", "decimal256":
		return p.decimalType(name)
	}
	if p.i < len(p.s) && p.s[p.i] == '[' {
		return p.unitType(name)
	}
	if t, ok := simpleTypes[name]; ok {
		return t, nil
	}
	if name == "float" {
		return nil, fmt.Errorf(`unknown type "float": use float32 or float64`)
	}
	return nil, fmt.Errorf("unknown type %q: use for example bool, int64, float64, utf8, date32, timestamp[us], decimal128(18, 2), json or list<int64>", name)
}

func (p *typeParser) integers(open, end byte, n int) ([]int, error) {
	if err := p.expect(open); err != nil {
		return nil, err
	}
	var out []int
	for {
		p.space()
		sign := 1
		if p.take('-') {
			sign = -1
		}
		v, err := strconv.Atoi(p.word())
		if err != nil || v > 1<<30 {
			return nil, fmt.Errorf("expected a number in %q", Clip(p.s))
		}
		out = append(out, sign*v)
		if !p.take(',') {
			break
		}
	}
	if len(out) > n {
		return nil, fmt.Errorf("too many numbers in %q", Clip(p.s))
	}
	return out, p.expect(end)
}

func (p *typeParser) decimalType(name string) (arrow.DataType, error) {
	args, err := p.integers('(', ')', 2)
	if err != nil {
		return nil, fmt.Errorf("%s needs precision and scale, as in %s(18, 2): %w", name, name, err)
	}
	if len(args) == 1 {
		args = append(args, 0)
	}
	id := map[string]arrow.Type{
		"decimal": arrow.DECIMAL128, "decimal32": arrow.DECIMAL32, "decimal64": arrow.DECIMAL64,
		"decimal128": arrow.DECIMAL128, "decimal256": arrow.DECIMAL256,
	}[name]
	return arrow.NewDecimalType(id, int32(args[0]), int32(args[1]))
}

// unitType reads the types with brackets: units, zones, widths.
func (p *typeParser) unitType(name string) (arrow.DataType, error) {
	if name == "fixed_size_binary" {
		args, err := p.integers('[', ']', 1)
		if err != nil {
			return nil, err
		}
		if args[0] < 0 {
			return nil, fmt.Errorf("fixed_size_binary has a negative width")
		}
		return &arrow.FixedSizeBinaryType{ByteWidth: args[0]}, nil
	}
	end := strings.IndexByte(p.s[p.i:], ']')
	if end < 0 {
		return nil, fmt.Errorf("no ] in %q", Clip(p.s[p.i:]))
	}
	inner := p.s[p.i+1 : p.i+end]
	p.i += end + 1
	unitName, zone, _ := strings.Cut(inner, ",")
	unitName, zone = strings.TrimSpace(unitName), strings.TrimSpace(zone)
	if name == "interval" {
		switch unitName {
		case "month", "months":
			return arrow.FixedWidthTypes.MonthInterval, nil
		case "day_time":
			return arrow.FixedWidthTypes.DayTimeInterval, nil
		case "month_day_nano":
			return arrow.FixedWidthTypes.MonthDayNanoInterval, nil
		}
		return nil, fmt.Errorf("unknown interval[%s]: use month, day_time or month_day_nano", inner)
	}
	unit, ok := map[string]arrow.TimeUnit{"s": arrow.Second, "ms": arrow.Millisecond, "us": arrow.Microsecond, "ns": arrow.Nanosecond}[unitName]
	if !ok {
		return nil, fmt.Errorf("unknown unit in %s[%s]: use s, ms, us or ns", name, inner)
	}
	switch {
	case name == "timestamp":
		return &arrow.TimestampType{Unit: unit, TimeZone: zone}, nil
	case zone != "":
	case name == "time32" && unit <= arrow.Millisecond:
		return &arrow.Time32Type{Unit: unit}, nil
	case name == "time64" && unit >= arrow.Microsecond:
		return &arrow.Time64Type{Unit: unit}, nil
	case name == "duration":
		return &arrow.DurationType{Unit: unit}, nil
	}
	return nil, fmt.Errorf("unknown type %s[%s]", name, inner)
}

// nestedType reads the types with angle brackets.
func (p *typeParser) nestedType(name string) (arrow.DataType, error) {
	if err := p.expect('<'); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	p.depth++
	t, err := p.nestedArgs(name)
	p.depth--
	if err != nil || name != "fixed_size_list" {
		return t, err
	}
	n, err := p.integers('[', ']', 1)
	if err != nil {
		return nil, fmt.Errorf("fixed_size_list needs a length, as in fixed_size_list<int64>[3]: %w", err)
	}
	if n[0] < 0 {
		return nil, fmt.Errorf("fixed_size_list has a negative length")
	}
	return arrow.FixedSizeListOfField(int32(n[0]), t.(*arrow.ListType).ElemField()), nil
}

func (p *typeParser) nestedArgs(name string) (arrow.DataType, error) {
	if name == "struct" {
		return p.structType()
	}
	first, firstNull, err := p.nullableType()
	if err != nil {
		return nil, err
	}
	elem := arrow.Field{Name: "item", Type: first, Nullable: firstNull}
	switch name {
	case "list", "fixed_size_list":
		return arrow.ListOfField(elem), p.expect('>')
	case "large_list":
		return arrow.LargeListOfField(elem), p.expect('>')
	case "list_view":
		return arrow.ListViewOfField(elem), p.expect('>')
	case "large_list_view":
		return arrow.LargeListViewOfField(elem), p.expect('>')
	}
	if err := p.expect(','); err != nil {
		return nil, fmt.Errorf("%s needs two types: %w", name, err)
	}
	second, secondNull, err := p.nullableType()
	if err != nil {
		return nil, err
	}
	flag := ""
	if p.take(',') {
		flag = p.word()
	}
	if err := p.expect('>'); err != nil {
		return nil, err
	}
	return pairType(name, first, arrow.Field{Name: "value", Type: second, Nullable: secondNull}, flag)
}

func pairType(name string, first arrow.DataType, second arrow.Field, flag string) (arrow.DataType, error) {
	switch {
	case name == "map" && (flag == "" || flag == "sorted"):
		m := arrow.MapOfFields(arrow.Field{Name: "key", Type: first}, second)
		m.KeysSorted = flag == "sorted"
		return m, nil
	case name == "dictionary" && (flag == "" || flag == "ordered"):
		if !arrow.IsInteger(first.ID()) {
			return nil, fmt.Errorf("dictionary codes are integers, not %s", Type(first))
		}
		return &arrow.DictionaryType{IndexType: first, ValueType: second.Type, Ordered: flag == "ordered"}, nil
	case name == "run_end_encoded" && flag == "":
		switch first.ID() {
		case arrow.INT16, arrow.INT32, arrow.INT64:
			return arrow.RunEndEncodedOf(first, second.Type), nil
		}
		return nil, fmt.Errorf("run ends are int16, int32 or int64, not %s", Type(first))
	}
	return nil, fmt.Errorf("unexpected %q in %s<>", flag, name)
}

func (p *typeParser) structType() (arrow.DataType, error) {
	var fields []arrow.Field
	for !p.take('>') {
		if len(fields) > 0 {
			if err := p.expect(','); err != nil {
				return nil, err
			}
		}
		f, err := p.field()
		if err != nil {
			return nil, err
		}
		fields = append(fields, f)
	}
	return arrow.StructOf(fields...), nil
}
