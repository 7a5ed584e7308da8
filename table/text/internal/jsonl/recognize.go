package jsonl

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/amudai/amudai-go/internal/base/advice"
	"github.com/amudai/amudai-go/internal/text"
	"github.com/amudai/amudai-go/internal/text/jsontext"
	"github.com/amudai/amudai-go/table/text/internal/records"
)

// Limits of what is looked at to recognize the layout of records.
const (
	mostEntries  = 20
	leastEntries = 2
	maxPaths     = 5
)

// recognize finds where the records are in a stream that starts with sample. whole means that it ends there.
func (s *source) recognize(sample []byte, whole, lines bool) {
	s.layout = layout{lines: lines, entries: s.o.Records == Entries, arrays: s.o.Records == Arrays}
	if s.o.Unnest != "" {
		s.layout.path = strings.Split(s.o.Unnest, ".")
	}
	defer func() {
		s.layout.keyName = s.keyName(sample)
		s.layout.keep = s.keptFields(sample)
	}()
	s.found = nil
	if s.o.Records != RecordsAuto || len(s.layout.path) > 0 {
		return
	}
	body := bytes.TrimLeft(bytes.TrimPrefix(sample, []byte("\xef\xbb\xbf")), " \t\r\n")
	switch {
	case len(body) == 0:
	case body[0] == '[' && !lines:
		s.layout.arrays = hasNames(sample)
	case body[0] == '{':
		s.recognizeObject(body, whole, lines)
	}
}

// recognizeObject looks at the only object of a stream: its values may be the records, or arrays of them.
func (s *source) recognizeObject(body []byte, whole, lines bool) {
	end := valueEnd{}
	n, err := end.find(body)
	if err != nil || n == 0 && whole || n > 0 && len(bytes.TrimSpace(body[n:])) > 0 || n > 0 && !whole && n == len(body) {
		return
	}
	if n > 0 {
		body = body[:n]
	}
	s.layout.entries = (!lines || bytes.IndexByte(body, '\n') >= 0) && areEntries(body)
	if !s.layout.entries {
		s.found = arraysOfObjects(body)
	}
}

// hasNames reports whether the elements of an array are arrays, the first one of names: other strings than that the
// columns below them have other values, too.
func hasNames(sample []byte) bool {
	in := newScanner(bytes.NewReader(sample), layout{}, 0)
	var names []string
	for rows := 0; rows < mostEntries; rows++ {
		rec, err := in.next()
		if err != nil {
			return false
		}
		var scan jsontext.Scanner
		scan.Reset(rec)
		if scan.Peek() != '[' {
			return false
		}
		n, others := 0, false
		err = scan.Array(func() error {
			n++
			c := scan.Peek()
			start := scan.At()
			if err := scan.Skip(); err != nil {
				return err
			}
			if v := string(scan.Since(start)); rows == 0 {
				if c != '"' || v == `""` || slices.Contains(names, v) {
					return errors.New("no name")
				}
				names = append(names, v)
			}
			others = others || c != '"' && c != 'n'
			return nil
		})
		if err != nil || n != len(names) || n == 0 {
			return false
		}
		if others {
			return true
		}
	}
	return false
}

// areEntries reports whether the values of an object are objects alike: each has half of the keys of the first, or more.
// The object may be cut off.
func areEntries(body []byte) bool {
	in := newScanner(bytes.NewReader(body), layout{entries: true, keyName: "key"}, 0)
	var first []string
	n := 0
	for ; n < mostEntries; n++ {
		rec, err := in.next()
		if err != nil {
			break
		}
		keys, ok := keysOf(rec)
		if !ok {
			return false
		}
		keys = keys[1:] // that of the entry
		if n == 0 {
			first = keys
		}
		common := 0
		for _, k := range keys {
			if slices.Contains(first, k) {
				common++
			}
		}
		if common == 0 || 2*common < len(first) || in.made[len(in.made)-1] != '}' {
			return false
		}
	}
	return n >= leastEntries
}

// keysOf returns the keys of an object. ok is false for an entry whose value is no object.
func keysOf(rec []byte) (keys []string, ok bool) {
	err := eachKey(rec, func(key []byte) { keys = append(keys, string(key)) })
	return keys, err == nil && len(keys) > 1 && !(len(keys) == 2 && keys[1] == "value")
}

// keyName is the name of the column with the keys of entries, which no value has.
func (s *source) keyName(sample []byte) string {
	name := "key"
	if !s.layout.entries {
		return name
	}
	l := s.layout
	l.keyName = name
	in := newScanner(bytes.NewReader(sample), l, 0)
	for range mostEntries {
		rec, err := in.next()
		if err != nil {
			break
		}
		if keys, ok := keysOf(rec); ok {
			for slices.Contains(keys[1:], name) {
				name += "_"
			}
		}
	}
	return name
}

// arraysOfObjects returns the paths of arrays of objects in an object, which may be cut off. It does not look into
// arrays.
func arraysOfObjects(body []byte) (paths []string) {
	var scan jsontext.Scanner
	scan.Reset(body)
	var object func(prefix string, depth int) error
	object = func(prefix string, depth int) error {
		return scan.Object(func(key []byte) error {
			path := prefix + string(key)
			c := scan.Peek()
			rest := bytes.TrimLeft(body[min(scan.At()+1, len(body)):], " \t\r\n")
			if c == '[' && len(rest) > 0 && rest[0] == '{' && len(paths) < maxPaths {
				paths = append(paths, path)
			}
			if c == '{' && depth < 5 {
				return object(path+".", depth+1)
			}
			return scan.Skip()
		})
	}
	_ = object("", 0) // an object that is cut off has an error at its end
	return paths
}

// tell gives notices of the layout.
func (s *source) tell() {
	switch auto := s.o.Records == RecordsAuto; {
	case auto && s.layout.entries:
		s.Options.Warning(fmt.Sprintf("%s is one object: its entries are the rows, with their keys as column %q (--records)", s.In.Name, s.layout.keyName))
	case auto && s.layout.arrays:
		s.Options.Warning(s.In.Name + " has arrays as records: the first one has the names of the columns (--records)")
	case len(s.found) > 0:
		s.Options.Warning(fmt.Sprintf("%s is one object, which is the only row: %s makes rows of the elements of an array in it", s.In.Name, unnestFlags(s.found)))
	}
	if len(s.left) > 0 {
		are, them := "is", "it"
		if len(s.left) > 1 {
			are, them = "are", "them"
		}
		s.Options.Warning(fmt.Sprintf("%s: beside %q, the %s %s %s left out: --keep %s repeats %s in each row", s.In.Name, s.o.Unnest, text.Plural(len(s.left), "field"), quotedNames(s.left),
			are, records.ShellQuote(strings.Join(slices.Concat(s.o.Keep, s.left), ",")), them))
	}
}

func unnestFlags(paths []string) string {
	flags := make([]string, len(paths))
	for i, p := range paths {
		flags[i] = "--unnest " + records.ShellQuote(p)
	}
	return strings.Join(flags, " or ")
}

func quotedNames(names []string) string {
	quoted := make([]string, len(names))
	for i, n := range names {
		quoted[i] = fmt.Sprintf("%q", n)
	}
	list := strings.Join(quoted, ", ")
	if len(names) == maxLeft {
		list += ", …"
	}
	return list
}

// nothingAt is the error of a path that leads nowhere, with those that do in the first record.
func (s *source) nothingAt(sample []byte) error {
	err := s.Wrap(fmt.Errorf("no record has anything at the path %q", s.o.Unnest))
	body := bytes.TrimLeft(bytes.TrimPrefix(sample, []byte("\xef\xbb\xbf")), " \t\r\n[")
	if paths := arraysOfObjects(body); len(paths) > 0 {
		return advice.WithHint(err, "arrays of objects are at %s", unnestFlags(paths))
	}
	return err
}

// withPaths adds the paths of arrays to an error about a record that is too long.
func (s *source) withPaths(err error) error {
	if len(s.found) == 0 {
		return err
	}
	return advice.WithHint(err, "%s makes rows of the elements of an array in it", unnestFlags(s.found))
}
