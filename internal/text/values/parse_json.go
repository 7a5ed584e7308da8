package values

import (
	"errors"
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/amudai/amudai-go/internal/text"
	"github.com/amudai/amudai-go/internal/text/jsontext"
)

// JSONSetter reads the next value of a scanner and appends it to a builder.
type JSONSetter func(s *jsontext.Scanner) error

// Misfit is the error for a valid JSON value that does not fit its column.
type Misfit struct {
	Path string // the place within the column: ".a" or "[]"
	Err  error
}

// Error returns the reason.
func (m *Misfit) Error() string { return m.Err.Error() }

// Unwrap returns the reason.
func (m *Misfit) Unwrap() error { return m.Err }

// under adds a step to the front of the path of a Misfit.
func under(step string, err error) error {
	var m *Misfit
	if errors.As(err, &m) {
		m.Path = step + m.Path
	}
	return err
}

// NewJSONSetter returns the setter of a builder. It accepts null.
func NewJSONSetter(b array.Builder, mode text.Mode) (JSONSetter, error) {
	set, err := newJSONValueSetter(b, mode)
	if err != nil {
		return nil, err
	}
	return func(s *jsontext.Scanner) error {
		if s.Peek() == 'n' {
			if err := s.Literal("null"); err != nil {
				return err
			}
			b.AppendNull()
			return nil
		}
		return set(s)
	}, nil
}

// Required returns the setter of a field that is declared not null.
func Required(f arrow.Field, set JSONSetter) JSONSetter {
	if f.Nullable {
		return set
	}
	return func(s *jsontext.Scanner) error {
		if s.Peek() == 'n' {
			return &Misfit{Err: errors.New("null in a column that is declared not null")}
		}
		return set(s)
	}
}

// NewCellSetter is [NewSetter], with JSON for the nested types.
func NewCellSetter(b array.Builder, mode text.Mode) (Setter, error) {
	switch b.(type) {
	case *array.StructBuilder, array.ListLikeBuilder: // maps, too
		set, err := NewJSONSetter(b, mode)
		if err != nil {
			return nil, err
		}
		scan := new(jsontext.Scanner)
		return func(cell []byte) error {
			scan.Reset(cell)
			if err := set(scan); err != nil {
				return err
			}
			return scan.End()
		}, nil
	}
	return NewSetter(b, mode)
}

func newJSONValueSetter(b array.Builder, mode text.Mode) (JSONSetter, error) {
	switch b := b.(type) {
	case *array.StructBuilder:
		return structSetter(b, mode)
	case *array.MapBuilder:
		return mapSetter(b, mode)
	case *array.FixedSizeListBuilder:
		return fixedListSetter(b, mode)
	case array.ListLikeBuilder:
		return listSetter(b, mode)
	case interface{ StorageBuilder() array.Builder }:
		if eb := b.(array.Builder); eb.Type().(arrow.ExtensionType).ExtensionName() == "arrow.json" {
			return documentSetter(b.StorageBuilder())
		}
	}
	set, err := NewSetter(b, mode)
	if err != nil {
		return nil, err
	}
	return scalarSetter(b.Type(), set, mode), nil
}

// documentSetter keeps any value as its JSON text.
func documentSetter(storage array.Builder) (JSONSetter, error) {
	set, err := NewSetter(storage, text.Lenient)
	if err != nil {
		return nil, err
	}
	var buf []byte
	return func(s *jsontext.Scanner) error {
		raw, err := s.Raw()
		if err != nil {
			return err
		}
		buf = jsontext.AppendCompact(buf[:0], raw)
		return set(buf)
	}, nil
}

// scalarSetter reads one token and passes its text on. Strict parsing accepts numbers and booleans without quotes
// only, and other types as strings only.
func scalarSetter(t arrow.DataType, set Setter, mode text.Mode) JSONSetter {
	id := t.ID()
	isText := t.ID() == arrow.STRING || id == arrow.LARGE_STRING || id == arrow.STRING_VIEW || id == arrow.DICTIONARY
	isNumber := arrow.IsInteger(id) || arrow.IsFloating(id)
	var buf []byte
	return func(s *jsontext.Scanner) error {
		c := s.Peek()
		token, err := readToken(s, &buf)
		if err != nil {
			return err
		}
		ok := true
		if mode == text.Strict {
			switch {
			case c == '"':
				ok = !arrow.IsInteger(id) && id != arrow.BOOL && (!isNumber || !text.IsNumber(token))
			case c == 't' || c == 'f':
				ok = id == arrow.BOOL
			case c == '{' || c == '[':
				ok = false
			default:
				ok = isNumber || arrow.IsDecimal(id)
			}
		} else if c == '{' || c == '[' {
			ok = isText
		}
		if !ok {
			return &Misfit{Err: fmt.Errorf("%s is not %s", tokenText(c, token), text.Article(text.Type(t)))}
		}
		if err := set(token); err != nil {
			return &Misfit{Err: err}
		}
		return nil
	}
}

func tokenText(c byte, token []byte) string {
	if c == '"' {
		return fmt.Sprintf("the string %q", text.Clip(string(token)))
	}
	return text.Clip(string(token))
}

// readToken reads any value. It returns the value of a string, and the text of others.
func readToken(s *jsontext.Scanner, buf *[]byte) ([]byte, error) {
	switch s.Peek() {
	case '"':
		return s.Quoted()
	case '{', '[':
		raw, err := s.Raw()
		*buf = jsontext.AppendCompact((*buf)[:0], raw)
		return *buf, err
	}
	return s.Raw()
}

func structSetter(b *array.StructBuilder, mode text.Mode) (JSONSetter, error) {
	fields := b.Type().(*arrow.StructType).Fields()
	members, err := NewMembers(fields, b.FieldBuilder, func(int) text.Mode { return mode })
	if err != nil {
		return nil, err
	}
	return func(s *jsontext.Scanner) error {
		if s.Peek() != '{' {
			return wrongToken(s, b.Type())
		}
		b.Append(true)
		return members.Read(s)
	}, nil
}

// wrongToken returns the Misfit for the next value, which it skips.
func wrongToken(s *jsontext.Scanner, t arrow.DataType) error {
	c := s.Peek()
	raw, err := s.Raw()
	if err != nil {
		return err
	}
	if c == '"' {
		raw = raw[1 : len(raw)-1]
	}
	return &Misfit{Err: fmt.Errorf("%s is not %s", tokenText(c, raw), text.Article(text.Type(t)))}
}

// Members reads the members of objects into one builder each.
type Members struct {
	fields   []arrow.Field
	builders []array.Builder
	set      []JSONSetter
	index    map[string]int
	seen     []uint64 // index of the last object with the member
	object   uint64
}

// NewMembers returns the setters of the fields of an object. builder and mode return those of each field.
func NewMembers(fields []arrow.Field, builder func(int) array.Builder, mode func(int) text.Mode) (*Members, error) {
	m := &Members{fields: fields, index: make(map[string]int, len(fields)), seen: make([]uint64, len(fields))}
	for i, f := range fields {
		b := builder(i)
		set, err := NewJSONSetter(b, mode(i))
		if err != nil {
			return nil, fmt.Errorf("field %q: %w", f.Name, err)
		}
		if _, twice := m.index[f.Name]; twice {
			return nil, fmt.Errorf("field %q is listed twice, which a JSON object cannot hold", f.Name)
		}
		m.index[f.Name] = i
		m.builders = append(m.builders, b)
		m.set = append(m.set, Required(f, set))
	}
	return m, nil
}

// Read reads an object. Missing members become null.
func (m *Members) Read(s *jsontext.Scanner) error {
	m.object++
	count, next := 0, 0
	err := s.Object(func(key []byte) error {
		i := next
		if i >= len(m.fields) || m.fields[i].Name != string(key) {
			var ok bool
			if i, ok = m.index[string(key)]; !ok {
				return &Misfit{Err: fmt.Errorf("key %q is not in the schema, nor in the sample it was inferred from", text.Clip(string(key))), Path: "." + string(key)}
			}
		}
		next = i + 1
		if m.seen[i] == m.object {
			return &Misfit{Err: fmt.Errorf("key %q occurs twice in an object", text.Clip(string(key))), Path: "." + string(key)}
		}
		m.seen[i] = m.object
		count++
		if err := m.set[i](s); err != nil {
			return under("."+m.fields[i].Name, err)
		}
		return nil
	})
	if err != nil || count == len(m.fields) {
		return err
	}
	for i, b := range m.builders {
		if m.seen[i] == m.object {
			continue
		}
		if !m.fields[i].Nullable {
			return &Misfit{Err: errors.New("missing, but declared not null"), Path: "." + m.fields[i].Name}
		}
		b.AppendNull()
	}
	return nil
}

func listSetter(b array.ListLikeBuilder, mode text.Mode) (JSONSetter, error) {
	t := b.Type().(arrow.ListLikeType)
	values := b.ValueBuilder()
	set, err := NewJSONSetter(values, mode)
	if err != nil {
		return nil, err
	}
	set = Required(t.ElemField(), set)
	view, isView := b.(interface{ AppendDimensions(offset, size int) })
	return func(s *jsontext.Scanner) error {
		if s.Peek() != '[' {
			return wrongToken(s, b.Type())
		}
		from := values.Len()
		if !isView {
			b.Append(true)
		}
		if err := s.Array(func() error { return set(s) }); err != nil {
			return under("[]", err)
		}
		if isView {
			view.AppendDimensions(from, values.Len()-from)
		}
		return nil
	}, nil
}

func fixedListSetter(b *array.FixedSizeListBuilder, mode text.Mode) (JSONSetter, error) {
	t := b.Type().(*arrow.FixedSizeListType)
	values := b.ValueBuilder()
	set, err := NewJSONSetter(values, mode)
	if err != nil {
		return nil, err
	}
	set = Required(t.ElemField(), set)
	return func(s *jsontext.Scanner) error {
		if s.Peek() != '[' {
			return wrongToken(s, t)
		}
		b.Append(true)
		from := values.Len()
		if err := s.Array(func() error { return set(s) }); err != nil {
			return under("[]", err)
		}
		if n := values.Len() - from; n != int(t.Len()) {
			return &Misfit{Err: fmt.Errorf("a list of %d values in a column of lists of %d", n, t.Len())}
		}
		return nil
	}, nil
}

// mapSetter reads [{"key":…,"value":…}, …], and objects if keys are strings.
func mapSetter(b *array.MapBuilder, mode text.Mode) (JSONSetter, error) {
	t := b.Type().(*arrow.MapType)
	fields := []arrow.Field{t.KeyField(), t.ItemField()}
	fields[0].Name, fields[1].Name, fields[0].Nullable = "key", "value", false
	builders := []array.Builder{b.KeyBuilder(), b.ItemBuilder()}
	pair, err := NewMembers(fields, func(i int) array.Builder { return builders[i] }, func(int) text.Mode { return mode })
	if err != nil {
		return nil, err
	}
	key, err := NewSetter(b.KeyBuilder(), text.Lenient)
	if err != nil {
		key = nil
	}
	return func(s *jsontext.Scanner) error {
		switch c := s.Peek(); {
		case c == '[':
			b.Append(true)
			return under("[]", s.Array(func() error { return pair.Read(s) }))
		case c == '{' && key != nil:
			b.Append(true)
			return s.Object(func(k []byte) error {
				if err := key(k); err != nil {
					return &Misfit{Err: err}
				}
				return under("[]", pair.set[1](s))
			})
		}
		return wrongToken(s, t)
	}, nil
}
