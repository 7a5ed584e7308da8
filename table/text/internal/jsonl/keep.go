package jsonl

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/amudai/amudai-go/internal/base/advice"
	"github.com/amudai/amudai-go/internal/text"
	"github.com/amudai/amudai-go/internal/text/jsontext"
)

// kept is a field beside the path of the records that is repeated in each of them.
//
//	{"order": 1, "items": [{"x": 1}, {"x": 2}]}  →  {"order":1,"x": 1} {"order":1,"x": 2}
type kept struct {
	path string // with dots
	name string // of the column, which no record has
}

// readKept takes a value of the stream with its fields to keep and its records.
func (s *scanner) readKept() error {
	rec, err := s.bytes()
	if err != nil {
		return err
	}
	k := keeper{scanner: s, values: make([][]byte, len(s.keep))}
	k.scan.Reset(bytes.Clone(rec))
	if err := k.object(0, ""); err != nil {
		return err
	}
	if err := k.scan.End(); err != nil || k.records == nil || string(k.records) == "null" {
		return err
	}
	s.head = append(s.head[:0], '{')
	for i, v := range k.values {
		if v != nil {
			s.head = append(jsontext.AppendString(s.head, s.keep[i].name), ':')
			s.head = append(append(s.head, v...), ',')
		}
	}
	s.inner = newScanner(bytes.NewReader(k.records), layout{entries: s.entries, arrays: s.arrays, keyName: s.keyName}, len(k.records)+1)
	return nil
}

// keeper goes through a value to its records.
type keeper struct {
	*scanner
	scan    jsontext.Scanner
	values  [][]byte // of the fields to keep; nil for one that the value lacks
	records []byte
}

func (k *keeper) object(depth int, prefix string) error {
	return k.scan.Object(func(key []byte) error {
		path := prefix + string(key)
		c := k.scan.Peek()
		on := string(key) == k.path[depth] && k.records == nil
		if on && depth+1 < len(k.path) && c == '{' {
			return k.object(depth+1, path+".")
		}
		start := k.scan.At()
		if err := k.scan.Skip(); err != nil {
			return err
		}
		v := k.scan.Since(start)
		switch {
		case on && depth+1 == len(k.path):
			k.records = v
		case on && c != 'n':
			return fmt.Errorf("%q is in no object: %q", strings.Join(k.path[:depth+2], "."), text.Clip(string(v)))
		case !on:
			k.field(path, v)
		}
		return nil
	})
}

func (k *keeper) field(path string, v []byte) {
	for i, f := range k.keep {
		if f.path == path {
			if k.seen[i] = true; k.values[i] == nil {
				k.values[i] = v
			}
			return
		}
	}
	k.leave(path)
}

// innerRecord returns the next record of the value in memory with the fields to keep, or nil at its end.
func (s *scanner) innerRecord() ([]byte, error) {
	rec, err := s.inner.next()
	if err == io.EOF {
		s.inner = nil
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if len(s.head) == 1 { // nothing to keep in this value
		return rec, nil
	}
	for _, f := range s.keep {
		if rec[0] == '{' && has(rec, f.name) {
			return nil, fmt.Errorf("a record has the field %q, as the column of the field %q that is kept beside it", f.name, f.path)
		}
	}
	s.made = appendFields(append(s.made[:0], s.head...), rec)
	return s.made, nil
}

// notKept is the error of a field to keep that no value of the sample has.
func (s *source) notKept(in *scanner) error {
	i := slices.Index(in.seen, false)
	if i < 0 {
		return nil
	}
	err := s.Wrap(fmt.Errorf("there is no field %q beside %q (--keep)", s.o.Keep[i], s.o.Unnest))
	if len(in.left) == 0 {
		return err
	}
	return advice.WithHint(err, "there are %s", quotedNames(in.left))
}

// has reports whether an object has a field. Invalid JSON is found by others.
func has(rec []byte, name string) (found bool) {
	_ = eachKey(rec, func(key []byte) { found = found || string(key) == name })
	return found
}

// eachKey calls f for the keys of an object.
func eachKey(rec []byte, f func(key []byte)) error {
	var scan jsontext.Scanner
	scan.Reset(rec)
	return scan.Object(func(key []byte) error {
		f(key)
		return scan.Skip()
	})
}

// keptFields are the fields to keep. A column has the name of its field, with underscores behind it if records of the sample have the name.
func (s *source) keptFields(sample []byte) (list []kept) {
	for _, path := range s.o.Keep {
		list = append(list, kept{path: path, name: path})
	}
	if len(list) == 0 {
		return nil
	}
	l := s.layout
	l.keep = nil
	in := newScanner(bytes.NewReader(sample), l, 0)
	taken := map[string]bool{"value": false}
	for {
		rec, err := in.next()
		if err != nil {
			break
		}
		if rec[0] != '{' {
			taken["value"] = true
			continue
		}
		_ = eachKey(rec, func(key []byte) { taken[string(key)] = true })
	}
	for i := range list {
		for taken[list[i].name] {
			list[i].name += "_"
		}
		taken[list[i].name] = true
	}
	return list
}
