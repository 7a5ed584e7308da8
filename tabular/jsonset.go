package tabular

import (
	"errors"
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
)

// jsonSetter reads the next value of a scanner and appends it to a builder.
type jsonSetter func(s *jsonScanner) error

// misfit says that a valid JSON value does not fit its column; path names the
// place inside the column, ".a" or "[]".
type misfit struct {
	path string
	err  error
}

func (m *misfit) Error() string { return m.err.Error() }
func (m *misfit) Unwrap() error { return m.err }

// under adds a step in front of the path of a misfit.
func under(step string, err error) error {
	var m *misfit
	if errors.As(err, &m) {
		m.path = step + m.path
	}
	return err
}

// newJSONSetter makes the setter of a builder, for nulls too.
func newJSONSetter(b array.Builder, strict strictness) (jsonSetter, error) {
	set, err := newJSONValueSetter(b, strict)
	if err != nil {
		return nil, err
	}
	return func(s *jsonScanner) error {
		if s.peek() == 'n' {
			if err := s.literal("null"); err != nil {
				return err
			}
			b.AppendNull()
			return nil
		}
		return set(s)
	}, nil
}

// required is the setter of a field that is declared not null.
func required(f arrow.Field, set jsonSetter) jsonSetter {
	if f.Nullable {
		return set
	}
	return func(s *jsonScanner) error {
		if s.peek() == 'n' {
			return &misfit{err: errors.New("null in a column that is declared not null")}
		}
		return set(s)
	}
}

func newJSONValueSetter(b array.Builder, strict strictness) (jsonSetter, error) {
	switch b := b.(type) {
	case *array.StructBuilder:
		return structSetter(b, strict)
	case *array.MapBuilder:
		return mapSetter(b, strict)
	case *array.FixedSizeListBuilder:
		return fixedListSetter(b, strict)
	case array.ListLikeBuilder:
		return listSetter(b, strict)
	case interface{ StorageBuilder() array.Builder }:
		if eb := b.(array.Builder); eb.Type().(arrow.ExtensionType).ExtensionName() == "arrow.json" {
			return documentSetter(b.StorageBuilder())
		}
	}
	set, err := newSetter(b, strict)
	if err != nil {
		return nil, err
	}
	return scalarSetter(b.Type(), set, strict), nil
}

// documentSetter keeps any value as its JSON text.
func documentSetter(storage array.Builder) (jsonSetter, error) {
	set, err := newSetter(storage, fixed)
	if err != nil {
		return nil, err
	}
	var buf []byte
	return func(s *jsonScanner) error {
		raw, err := s.raw()
		if err != nil {
			return err
		}
		buf = appendCompact(buf[:0], raw)
		return set(buf)
	}, nil
}

// scalarSetter reads one token and hands its text on. Strictly, a type takes
// only its own kind of token: numbers and booleans as they are, the rest as strings.
func scalarSetter(t arrow.DataType, set setter, strict strictness) jsonSetter {
	id := t.ID()
	isText := t.ID() == arrow.STRING || id == arrow.LARGE_STRING || id == arrow.STRING_VIEW || id == arrow.DICTIONARY
	isNumber := arrow.IsInteger(id) || arrow.IsFloating(id)
	var buf []byte
	return func(s *jsonScanner) error {
		c := s.peek()
		text, err := s.token(&buf)
		if err != nil {
			return err
		}
		ok := true
		if strict {
			switch {
			case c == '"':
				ok = !arrow.IsInteger(id) && id != arrow.BOOL && (!isNumber || !numberSyntax(text))
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
			return &misfit{err: fmt.Errorf("%s is not %s", tokenText(c, text), withArticle(TypeText(t)))}
		}
		if err := set(text); err != nil {
			return &misfit{err: err}
		}
		return nil
	}
}

func tokenText(c byte, text []byte) string {
	if c == '"' {
		return fmt.Sprintf("the string %q", clip(string(text)))
	}
	return clip(string(text))
}

// token reads any value: a string as what it means, others as their text.
func (s *jsonScanner) token(buf *[]byte) ([]byte, error) {
	switch s.peek() {
	case '"':
		return s.str()
	case '{', '[':
		raw, err := s.raw()
		*buf = appendCompact((*buf)[:0], raw)
		return *buf, err
	}
	return s.raw()
}

func structSetter(b *array.StructBuilder, strict strictness) (jsonSetter, error) {
	fields := b.Type().(*arrow.StructType).Fields()
	members, err := newMembers(fields, b.FieldBuilder, func(int) strictness { return strict })
	if err != nil {
		return nil, err
	}
	return func(s *jsonScanner) error {
		if s.peek() != '{' {
			return s.wrongToken(b.Type())
		}
		b.Append(true)
		return members.read(s)
	}, nil
}

// wrongToken is the misfit of the next value, which it skips.
func (s *jsonScanner) wrongToken(t arrow.DataType) error {
	c := s.peek()
	raw, err := s.raw()
	if err != nil {
		return err
	}
	if c == '"' {
		raw = raw[1 : len(raw)-1]
	}
	return &misfit{err: fmt.Errorf("%s is not %s", tokenText(c, raw), withArticle(TypeText(t)))}
}

// members reads the members of an object into one builder each.
type members struct {
	fields   []arrow.Field
	builders []array.Builder
	set      []jsonSetter
	index    map[string]int
	seen     []uint64 // number of the object that had the member last
	object   uint64
}

func newMembers(fields []arrow.Field, builder func(int) array.Builder, strict func(int) strictness) (*members, error) {
	m := &members{fields: fields, index: make(map[string]int, len(fields)), seen: make([]uint64, len(fields))}
	for i, f := range fields {
		b := builder(i)
		set, err := newJSONSetter(b, strict(i))
		if err != nil {
			return nil, fmt.Errorf("field %q: %w", f.Name, err)
		}
		if _, twice := m.index[f.Name]; twice {
			return nil, fmt.Errorf("field %q is listed twice, which a JSON object cannot have", f.Name)
		}
		m.index[f.Name] = i
		m.builders = append(m.builders, b)
		m.set = append(m.set, required(f, set))
	}
	return m, nil
}

// read reads an object. Members that it does not have become null.
func (m *members) read(s *jsonScanner) error {
	m.object++
	count, next := 0, 0
	err := s.object(func(key []byte) error {
		i := next
		if i >= len(m.fields) || m.fields[i].Name != string(key) {
			var ok bool
			if i, ok = m.index[string(key)]; !ok {
				return &misfit{err: fmt.Errorf("key %q is not in the schema, nor in the sample it was inferred from", clip(string(key))), path: "." + string(key)}
			}
		}
		next = i + 1
		if m.seen[i] == m.object {
			return &misfit{err: fmt.Errorf("key %q comes twice in one object", clip(string(key))), path: "." + string(key)}
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
			return &misfit{err: errors.New("missing, but declared not null"), path: "." + m.fields[i].Name}
		}
		b.AppendNull()
	}
	return nil
}

func listSetter(b array.ListLikeBuilder, strict strictness) (jsonSetter, error) {
	t := b.Type().(arrow.ListLikeType)
	values := b.ValueBuilder()
	set, err := newJSONSetter(values, strict)
	if err != nil {
		return nil, err
	}
	set = required(t.ElemField(), set)
	view, isView := b.(interface{ AppendDimensions(offset, size int) })
	return func(s *jsonScanner) error {
		if s.peek() != '[' {
			return s.wrongToken(b.Type())
		}
		from := values.Len()
		if !isView {
			b.Append(true)
		}
		if err := s.array(func() error { return set(s) }); err != nil {
			return under("[]", err)
		}
		if isView {
			view.AppendDimensions(from, values.Len()-from)
		}
		return nil
	}, nil
}

func fixedListSetter(b *array.FixedSizeListBuilder, strict strictness) (jsonSetter, error) {
	t := b.Type().(*arrow.FixedSizeListType)
	values := b.ValueBuilder()
	set, err := newJSONSetter(values, strict)
	if err != nil {
		return nil, err
	}
	set = required(t.ElemField(), set)
	return func(s *jsonScanner) error {
		if s.peek() != '[' {
			return s.wrongToken(t)
		}
		b.Append(true)
		from := values.Len()
		if err := s.array(func() error { return set(s) }); err != nil {
			return under("[]", err)
		}
		if n := values.Len() - from; n != int(t.Len()) {
			return &misfit{err: fmt.Errorf("a list of %d values in a column of lists of %d", n, t.Len())}
		}
		return nil
	}, nil
}

// mapSetter reads [{"key":…,"value":…}, …], and objects where keys are text.
func mapSetter(b *array.MapBuilder, strict strictness) (jsonSetter, error) {
	t := b.Type().(*arrow.MapType)
	fields := []arrow.Field{t.KeyField(), t.ItemField()}
	fields[0].Name, fields[1].Name, fields[0].Nullable = "key", "value", false
	builders := []array.Builder{b.KeyBuilder(), b.ItemBuilder()}
	pair, err := newMembers(fields, func(i int) array.Builder { return builders[i] }, func(int) strictness { return strict })
	if err != nil {
		return nil, err
	}
	key, err := newSetter(b.KeyBuilder(), fixed)
	if err != nil {
		key = nil
	}
	return func(s *jsonScanner) error {
		switch c := s.peek(); {
		case c == '[':
			b.Append(true)
			return under("[]", s.array(func() error { return pair.read(s) }))
		case c == '{' && key != nil:
			b.Append(true)
			return s.object(func(k []byte) error {
				if err := key(k); err != nil {
					return &misfit{err: err}
				}
				return under("[]", pair.set[1](s))
			})
		}
		return s.wrongToken(t)
	}, nil
}
