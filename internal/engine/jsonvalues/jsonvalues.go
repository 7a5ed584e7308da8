// Package jsonvalues finds values within JSON texts, as arrays.
//
// A path that goes on behind a column of JSON texts names a value in each text. The literal that it is compared with decides which values it
// has: strings, numbers or booleans. Those of another kind are null, as is what is missing or not valid JSON. So each kind is a column of its
// own, made of the texts.
package jsonvalues

import (
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
	"github.com/amudai/amudai-go/internal/engine/ast"
	"github.com/amudai/amudai-go/internal/engine/valueset"
	"github.com/amudai/amudai-go/internal/text"
	"github.com/amudai/amudai-go/internal/text/jsontext"
)

// Kind is the kind of the values of a column within JSON texts.
type Kind uint8

// The kinds of values.
const (
	Any Kind = iota // whether there is a value other than null
	String
	Number
	Bool
	Text // any value but null, as text: strings without their quotes
)

var domains = [...]*valueset.Domain{
	Any:    valueset.DomainOf(arrow.FixedWidthTypes.Boolean),
	String: named(valueset.DomainOf(arrow.BinaryTypes.LargeString), "string"),
	Number: valueset.Numbers,
	Bool:   valueset.DomainOf(arrow.FixedWidthTypes.Boolean),
	Text:   named(valueset.DomainOf(arrow.BinaryTypes.LargeString), "string"),
}

// named is a domain with another name in messages.
func named(d *valueset.Domain, name string) *valueset.Domain {
	d.Name = name
	return d
}

// KindOf is the kind of values that a literal is compared with.
func KindOf(l ast.Literal) Kind {
	switch l.Kind {
	case ast.LitNumber:
		return Number
	case ast.LitBool:
		return Bool
	case ast.LitString, ast.LitBytes:
		return String
	}
	return Any
}

// Domain is the domain of the values of a kind.
func (k Kind) Domain() *valueset.Domain { return domains[k] }

// Column is a column of values within JSON texts.
type Column struct {
	Path []string // names of fields, from a text to a value
	Kind Kind
}

// Extract makes the array of the values within an array of texts. The caller releases it.
func (c Column) Extract(arr arrow.Array) (arrow.Array, error) {
	texts, at, err := textsOf(arr)
	if err != nil {
		return nil, err
	}
	defer texts.Release()
	b := array.NewBuilder(memory.DefaultAllocator, c.Kind.Domain().Type)
	defer b.Release()
	b.Reserve(texts.Len())
	var s jsontext.Scanner
	var room []byte
	for i := range texts.Len() {
		if texts.IsValid(i) {
			s.Reset(at(i))
			if s.Find(c.Path) && c.appendValue(b, &s, &room) {
				continue
			}
		}
		b.AppendNull()
	}
	return b.NewArray(), nil
}

// textsOf is an array of texts without dictionaries, runs and extensions. The caller releases it.
func textsOf(arr arrow.Array) (texts arrow.Array, at func(i int) []byte, err error) {
	plain, err := arrowutil.Plain(memory.DefaultAllocator, arr)
	if err != nil {
		return nil, nil, fmt.Errorf("filter: %w", err)
	}
	if at = arrowutil.BytesOf(plain); at == nil || plain.DataType().ID() == arrow.FIXED_SIZE_BINARY {
		plain.Release()
		return nil, nil, fmt.Errorf("filter: array of type %s has no JSON", arr.DataType())
	}
	return plain, at, nil
}

// appendValue appends the value that comes next, if it is of the kind of the column.
func (c Column) appendValue(b array.Builder, s *jsontext.Scanner, room *[]byte) bool {
	next := s.Peek()
	switch b := b.(type) {
	case *array.LargeStringBuilder:
		if next == '"' {
			value, err := s.Quoted()
			if err == nil {
				b.BinaryBuilder.Append(value)
			}
			return err == nil
		}
		if c.Kind == Text && next != 'n' {
			value, err := s.Raw()
			if err == nil {
				b.BinaryBuilder.Append(jsontext.AppendCompact(nil, value))
			}
			return err == nil
		}
	case *array.BinaryBuilder:
		number, err := s.Number()
		if err != nil {
			return false
		}
		var ok bool
		if *room, ok = text.AppendOrdered((*room)[:0], number); ok {
			b.Append(*room)
		}
		return ok
	case *array.BooleanBuilder:
		return appendTruth(b, s, next, c.Kind == Any)
	}
	return false
}

// appendTruth appends a boolean, or with present true for any value but null.
func appendTruth(b *array.BooleanBuilder, s *jsontext.Scanner, next byte, present bool) bool {
	switch {
	case present && (next == 'n' || s.Skip() != nil):
		return false
	case present, next == 't' && s.Literal("true") == nil:
		b.Append(true)
		return true
	case next == 'f' && s.Literal("false") == nil:
		b.Append(false)
		return true
	}
	return false
}

// Arrays are the elements of the arrays that are found within JSON texts, one array for each text.
type Arrays struct {
	Valid []byte // a bit for each text that has an array
	Ends  []int  // of the elements of each text, from 0 on

	elements [][]byte
	depth    []int // of each text: the names of the path that lead to the array
}

// FindArrays finds the first array on a path in each text of an array.
func FindArrays(arr arrow.Array, path []string) (*Arrays, error) {
	texts, at, err := textsOf(arr)
	if err != nil {
		return nil, err
	}
	defer texts.Release()
	a := &Arrays{Valid: make([]byte, (arr.Len()+7)/8), Ends: make([]int, 1, arr.Len()+1), depth: make([]int, arr.Len())}
	for i := range arr.Len() {
		if texts.IsValid(i) && a.find(i, at(i), path) {
			a.Valid[i>>3] |= 1 << (i & 7)
		}
		a.Ends = append(a.Ends, len(a.elements))
	}
	return a, nil
}

// find adds the elements of the first array on a path. It adds none if the text is not valid JSON up to the end of the array.
func (a *Arrays) find(i int, json []byte, path []string) bool {
	var s jsontext.Scanner
	s.Reset(json)
	for ; s.Peek() != '['; a.depth[i]++ {
		if a.depth[i] == len(path) || !s.Find(path[a.depth[i]:a.depth[i]+1]) {
			return false
		}
	}
	before := len(a.elements)
	err := s.Array(func() error {
		raw, err := s.Raw()
		a.elements = append(a.elements, append([]byte(nil), raw...))
		return err
	})
	if err != nil {
		a.elements = a.elements[:before]
	}
	return err == nil
}

// Elements are the values of a column within the elements of arrays: its path goes on behind that to the array, common names long. The caller
// releases them.
func (c Column) Elements(a *Arrays, common int) arrow.Array {
	b := array.NewBuilder(memory.DefaultAllocator, c.Kind.Domain().Type)
	defer b.Release()
	b.Reserve(len(a.elements))
	var s jsontext.Scanner
	var room []byte
	for i, depth := range a.depth {
		for _, json := range a.elements[a.Ends[i]:a.Ends[i+1]] {
			s.Reset(json)
			if !s.Find(c.Path[min(depth, common):]) || !c.appendValue(b, &s, &room) {
				b.AppendNull()
			}
		}
	}
	return b.NewArray()
}
