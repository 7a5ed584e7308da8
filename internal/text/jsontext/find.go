package jsontext

import "errors"

// Find moves the scanner from the beginning of an object to the value at names, which lead through objects. Of equal names in an object the
// first counts. It reports whether there is a value. What is behind it need not be valid.
func (s *Scanner) Find(names []string) bool {
	for _, name := range names {
		if !s.enter(name) {
			return false
		}
	}
	return s.Peek() != 0
}

// errFound ends the walk over an object at the value that was looked for.
var errFound = errors.New("found")

// enter moves to the value of a member of the object that comes next.
func (s *Scanner) enter(name string) bool {
	return s.Object(func(key []byte) error {
		if string(key) == name {
			return errFound
		}
		return s.Skip()
	}) == errFound
}

// Scalars calls yield with each string, number and boolean that is reached through objects alone: its names, its kind (the first byte of
// its text), and its text, of a string the value. It ends without an error where the text is not valid. What yield gets is valid until it returns.
func (s *Scanner) Scalars(yield func(names [][]byte, kind byte, value []byte) error) error {
	w := walk{yield: yield, names: s.names[:0]}
	w.value(s)
	s.names = w.names
	return w.err
}

// walk is a walk over the scalars of a text.
type walk struct {
	yield func(names [][]byte, kind byte, value []byte) error
	names [][]byte
	err   error // of yield
}

// value walks over the value that comes next; false ends the walk.
func (w *walk) value(s *Scanner) bool {
	switch c := s.Peek(); c {
	case '{':
		return s.Object(func(key []byte) error { return w.member(s, key) }) == nil
	case '"':
		text, err := s.Quoted()
		return err == nil && w.give(c, text)
	case 't':
		return s.Literal("true") == nil && w.give(c, nil)
	case 'f':
		return s.Literal("false") == nil && w.give(c, nil)
	case '[', 'n':
		return s.Skip() == nil
	}
	number, err := s.Number()
	return err == nil && w.give('0', number)
}

func (w *walk) give(kind byte, value []byte) bool {
	w.err = w.yield(w.names, kind, value)
	return w.err == nil
}

func (w *walk) member(s *Scanner, key []byte) error {
	n := len(w.names)
	if n < cap(w.names) {
		w.names = w.names[:n+1]
		w.names[n] = append(w.names[n][:0], key...)
	} else {
		w.names = append(w.names, append([]byte(nil), key...))
	}
	if !w.value(s) {
		return ErrEnd
	}
	w.names = w.names[:n]
	return nil
}
