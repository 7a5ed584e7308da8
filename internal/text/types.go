package text

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/amudai/amudai-go/internal/arrow/extension"
	"github.com/amudai/amudai-go/internal/arrow/kinds"
)

// otherNames are names that people know types by.
var otherNames = map[string]string{
	"boolean": "bool", "double": "float64", "string": "utf8", "text": "utf8", "date": "date32", "time": "time64", "decimal": "decimal128",
}

// intervals are the texts of intervals, by the names of package kinds.
var intervals = map[string]string{
	"interval_months": "interval[month]", "interval_day_time": "interval[day_time]", "interval_month_day_nano": "interval[month_day_nano]",
}

// canonical are the extension types with a name of their own.
var canonical = map[string]func() arrow.DataType{
	"json": func() arrow.DataType { return extension.JSON(arrow.BinaryTypes.String) }, "uuid": extension.UUID, "bool8": extension.Bool8,
}

// Type returns the text of a type, which [ParseType] reads, except for extension types other than json, uuid and bool8, which become
// extension<name, storage>.
func Type(t arrow.DataType) string {
	name, args := kinds.Describe(t)
	if name == "" {
		return t.String()
	}
	var inside []string
	suffix := args
	switch parts := kinds.Fields(t); kinds.Of(t) {
	case kinds.Wrap:
		if short, ok := strings.CutPrefix(args[0], "arrow."); ok && name == "extension" && canonical[short] != nil {
			return short
		}
		inside, suffix = []string{args[0], Type(parts[0].Type)}, nil
		if name == "dictionary" {
			inside = append(inside, args[1:]...)
		}
	case kinds.List:
		for _, part := range parts {
			inside = append(inside, Type(part.Type)+nullText(part))
		}
		if len(parts) > 1 { // the keys of a map are never null
			inside, suffix = append([]string{Type(parts[0].Type)}, append(inside[1:], args...)...), nil
		}
	case kinds.Record, kinds.Choice:
		for _, part := range parts {
			inside = append(inside, Field(part))
		}
	default:
		return cmp.Or(intervals[name], name+brackets(name, args))
	}
	return name + "<" + strings.Join(inside, ", ") + ">" + brackets(name, suffix)
}

// brackets are the parameters of a type: round ones of decimals.
func brackets(name string, args []string) string {
	list := strings.Join(args, ", ")
	switch {
	case list == "":
		return ""
	case strings.HasPrefix(name, "decimal"):
		return "(" + list + ")"
	}
	return "[" + list + "]"
}

func nullText(f arrow.Field) string {
	if f.Nullable {
		return ""
	}
	return " not null"
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
	f, err := p.item(name)
	if err != nil {
		return arrow.Field{}, fmt.Errorf("field %q: %w", name, err)
	}
	return f, nil
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

// item reads a type and an optional "not null" after it.
func (p *typeParser) item(name string) (arrow.Field, error) {
	t, err := p.dataType()
	if err != nil {
		return arrow.Field{}, err
	}
	p.space()
	words := strings.Fields(p.s[p.i:min(len(p.s), p.i+24)])
	required := len(words) >= 2 && words[0] == "not" && strings.HasPrefix(words[1], "null")
	if required {
		p.i += strings.Index(p.s[p.i:], "null") + len("null")
	}
	return arrow.Field{Name: name, Type: t, Nullable: !required}, nil
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
	word := p.word()
	name := cmp.Or(otherNames[word], word)
	shape, ok := kinds.OfName(name)
	switch {
	case word == "":
		return nil, fmt.Errorf("expected a type before %q", Clip(p.s[p.i:]))
	case word == "interval":
		return p.interval()
	case canonical[word] != nil:
		return canonical[word](), nil
	case word == "float":
		return nil, fmt.Errorf(`unknown type "float": use float32 or float64`)
	case !ok || name == "extension":
		return nil, fmt.Errorf("unknown type %q: use for example bool, int64, float64, utf8, date32, timestamp[us], decimal128(18, 2), json or list<int64>", word)
	}
	var args []string
	var parts []arrow.Field
	var err error
	if shape != kinds.Leaf {
		if parts, args, err = p.inside(name, shape); err != nil {
			return nil, err
		}
	}
	if len(args) == 0 {
		if args, err = p.args(); err != nil {
			return nil, err
		}
	}
	if len(args) == 0 && (word == "time" || name == "timestamp" || name == "duration") {
		args = []string{"us"}
	}
	return kinds.Make(name, args, parts)
}

// args are the parameters in brackets, if there are any.
func (p *typeParser) args() ([]string, error) {
	end := map[bool]byte{true: ')', false: ']'}[p.take('(')]
	if end == ']' && !p.take('[') {
		return nil, nil
	}
	n := strings.IndexByte(p.s[p.i:], end)
	if n < 0 {
		return nil, fmt.Errorf("no %c in %q", end, Clip(p.s[p.i:]))
	}
	args := strings.Split(p.s[p.i:p.i+n], ",")
	for i := range args {
		args[i] = strings.TrimSpace(args[i])
	}
	p.i += n + 1
	return args, nil
}

func (p *typeParser) interval() (arrow.DataType, error) {
	args, err := p.args()
	if err != nil {
		return nil, err
	}
	text := "interval[" + strings.TrimSuffix(strings.Join(args, ","), "s") + "]"
	for name, known := range intervals {
		if text == known {
			return kinds.Make(name, nil, nil)
		}
	}
	return nil, fmt.Errorf("unknown %s: use month, day_time or month_day_nano", text)
}

// inside reads what a type is made of, in angle brackets, and the parameters there.
func (p *typeParser) inside(name string, shape kinds.Shape) (parts []arrow.Field, args []string, err error) {
	if err := p.expect('<'); err != nil {
		return nil, nil, fmt.Errorf("%s: %w", name, err)
	}
	p.depth++
	defer func() { p.depth-- }()
	if shape == kinds.Record || shape == kinds.Choice {
		parts, err = p.fields()
		return parts, nil, err
	}
	first, err := p.item("item")
	if err != nil {
		return nil, nil, err
	}
	if shape == kinds.List && name != "map" {
		return []arrow.Field{first}, nil, p.expect('>')
	}
	if err := p.expect(','); err != nil {
		return nil, nil, fmt.Errorf("%s needs two types: %w", name, err)
	}
	second, err := p.item("value")
	if err != nil {
		return nil, nil, err
	}
	if parts = []arrow.Field{second}; name == "map" {
		parts = []arrow.Field{{Name: "key", Type: first.Type}, second}
	} else {
		args = []string{Type(first.Type)}
	}
	if p.take(',') {
		args = append(args, p.word())
	}
	return parts, args, p.expect('>')
}

// fields reads the fields of a struct or a union.
func (p *typeParser) fields() (fields []arrow.Field, err error) {
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
	return fields, nil
}
