package predicate

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

// A path that goes on behind a column of JSON texts names a value in each text. The literal that it is compared with decides which values it has: strings,
// numbers or booleans. Those of another kind are null, as is what is missing or not valid JSON. So each kind is a column of its own, made of the texts.

// jsonKind is the kind of the values of a column within JSON texts.
type jsonKind uint8

const (
	jsonAny jsonKind = iota // whether there is a value other than null
	jsonString
	jsonNumber
	jsonBool
	jsonText // any value but null, as text: strings without their quotes
)

var jsonDomains = [...]*valueset.Domain{
	jsonAny:    valueset.DomainOf(arrow.FixedWidthTypes.Boolean),
	jsonString: named(valueset.DomainOf(arrow.BinaryTypes.LargeString), "string"),
	jsonNumber: valueset.Numbers,
	jsonBool:   valueset.DomainOf(arrow.FixedWidthTypes.Boolean),
	jsonText:   named(valueset.DomainOf(arrow.BinaryTypes.LargeString), "string"),
}

// named is a domain with another name in messages.
func named(d *valueset.Domain, name string) *valueset.Domain {
	d.Name = name
	return d
}

// jsonKindOf is the kind of values that a literal is compared with.
func jsonKindOf(l ast.Literal) jsonKind {
	switch l.Kind {
	case ast.LitNumber:
		return jsonNumber
	case ast.LitBool:
		return jsonBool
	case ast.LitString, ast.LitBytes:
		return jsonString
	}
	return jsonAny
}

// Values are the values of the column, of an array of the field that [Column.Index] leads to: the array itself, or what is within its JSON texts. The caller releases
// them.
func (c Column) Values(arr arrow.Array) (arrow.Array, error) {
	if c.Inside == nil {
		arr.Retain()
		return arr, nil
	}
	plain, err := arrowutil.Plain(memory.DefaultAllocator, arr)
	if err != nil {
		return nil, fmt.Errorf("filter: %w", err)
	}
	defer plain.Release()
	texts, ok := valuesOf(plain)
	if !ok || texts.off32 == nil && texts.off64 == nil && texts.n > 0 {
		return nil, fmt.Errorf("filter: array of type %s has no JSON", arr.DataType())
	}
	return c.extract(plain, func(i int) []byte {
		if texts.off32 != nil {
			return texts.data[texts.off32[i]:texts.off32[i+1]]
		}
		return texts.data[texts.off64[i]:texts.off64[i+1]]
	}), nil
}

// extract makes the array of the values within JSON texts.
func (c Column) extract(arr arrow.Array, at func(i int) []byte) arrow.Array {
	b := array.NewBuilder(memory.DefaultAllocator, c.domain.Type)
	defer b.Release()
	b.Reserve(arr.Len())
	var s jsontext.Scanner
	var room []byte
	for i := range arr.Len() {
		if arr.IsValid(i) {
			s.Reset(at(i))
			if s.Find(c.Inside) && c.appendValue(b, &s, &room) {
				continue
			}
		}
		b.AppendNull()
	}
	return b.NewArray()
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
		if c.kind == jsonText && next != 'n' {
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
		return appendTruth(b, s, next, c.kind == jsonAny)
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

// FindArrays finds the first array on a path in each text of a column.
func FindArrays(arr arrow.Array, path []string) (*Arrays, error) {
	plain, err := arrowutil.Plain(memory.DefaultAllocator, arr)
	if err != nil {
		return nil, fmt.Errorf("filter: %w", err)
	}
	defer plain.Release()
	texts, ok := valuesOf(plain)
	if !ok {
		return nil, fmt.Errorf("filter: array of type %s has no JSON", arr.DataType())
	}
	a := &Arrays{Valid: make([]byte, (arr.Len()+7)/8), Ends: make([]int, 1, arr.Len()+1), depth: make([]int, arr.Len())}
	for i := range arr.Len() {
		if plain.IsValid(i) && a.find(i, texts.value(i), path) {
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

// Elements are the values of a column within the elements of arrays: its path goes on behind that to the array.
func (c Column) Elements(a *Arrays, common int) (arrow.Array, error) {
	b := array.NewBuilder(memory.DefaultAllocator, c.domain.Type)
	defer b.Release()
	b.Reserve(len(a.elements))
	var s jsontext.Scanner
	var room []byte
	for i, depth := range a.depth {
		for _, json := range a.elements[a.Ends[i]:a.Ends[i+1]] {
			s.Reset(json)
			if !s.Find(c.Inside[min(depth, common):]) || !c.appendValue(b, &s, &room) {
				b.AppendNull()
			}
		}
	}
	return b.NewArray(), nil
}

// Part is a part of the elements of a list, null where a struct around it is: what is at an index within them. The caller releases it.
func (c Column) Part(elements arrow.Array, index []int) (arrow.Array, error) {
	field, err := Child(elements, index)
	if err != nil || c.Inside == nil {
		return field, err
	}
	defer field.Release()
	return c.Values(field)
}
