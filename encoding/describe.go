package encoding

import (
	"fmt"
	"io"
	"strings"
)

// Tree is an encoding tree, or a raw part of one. Offsets are relative to the start of the described bytes.
type Tree struct {
	Name     string // role in the parent: "run values", "codes"; empty at the top
	Code     Code   // 0 of a raw part
	Params   string // parameters of the encoding, such as the bit width; "" without any
	Type     string // element type: i8 .. f64, or bytes
	Len      int    // number of values
	Offset   int
	Size     int
	Fields   []TreeField // header and other bytes outside of children, in order
	Children []Tree      // trees and raw parts, in the order of their bytes
	Err      error       // the first error in it; the rest is described as far as it can be read
}

// TreeField is a range of bytes with a meaning.
type TreeField struct {
	Offset, Size int
	Name         string
	Text         string // the value as text, "" for none
}

// Field adds a field.
func (n *Tree) Field(offset, size int, name, text string) {
	n.Fields = append(n.Fields, TreeField{offset, size, name, text})
}

// Label returns the name of the encoding with its parameters, such as FFOR[12]. It is raw for a raw part, and - for
// an absent one.
func (n *Tree) Label() string {
	switch {
	case n.Code == 0 && n.Len == 0 && n.Size == 0:
		return "-"
	case n.Code == 0:
		return "raw"
	case n.Params != "":
		return n.Code.String() + "[" + n.Params + "]"
	}
	return n.Code.String()
}

// String returns the whole tree in one line, such as RunLength(raw,FLBitPack[2]).
func (n *Tree) String() string {
	if len(n.Children) == 0 {
		return n.Label()
	}
	parts := make([]string, len(n.Children))
	for i := range n.Children {
		parts[i] = n.Children[i].String()
	}
	return n.Label() + "(" + strings.Join(parts, ",") + ")"
}

// FirstErr returns the first error of the tree or a part of it, or nil.
func (n *Tree) FirstErr() error {
	if n.Err != nil {
		return n.Err
	}
	for i := range n.Children {
		if err := n.Children[i].FirstErr(); err != nil {
			return err
		}
	}
	return nil
}

// maxBytes is the number of bytes of a field in a dump.
const maxBytes = 64

// Dump writes data, which n describes, as hexadecimal lines with their meaning. Long fields are shortened.
func Dump(w io.Writer, data []byte, n *Tree) error {
	d := dumper{w: w, data: data}
	d.node(n, 0)
	return d.err
}

type dumper struct {
	w    io.Writer
	data []byte
	err  error
}

func (d *dumper) printf(format string, args ...any) {
	if d.err == nil {
		_, d.err = fmt.Fprintf(d.w, format, args...)
	}
}

func (d *dumper) node(n *Tree, depth int) {
	indent := strings.Repeat("  ", depth)
	name := n.Name
	if name != "" {
		name += ": "
	}
	d.printf("%04x  %s%s%s, %d %s, %d bytes\n", n.Offset, indent, name, n.Label(), n.Len, n.Type, n.Size)
	fields, children := n.Fields, n.Children
	for len(fields) > 0 || len(children) > 0 {
		if len(children) == 0 || len(fields) > 0 && fields[0].Offset < children[0].Offset {
			d.field(fields[0], indent)
			fields = fields[1:]
			continue
		}
		d.node(&children[0], depth+1)
		children = children[1:]
	}
	if n.Err != nil {
		d.printf("%s      ! %v\n", indent, n.Err)
	}
}

func (d *dumper) field(f TreeField, indent string) {
	const perLine = 16
	label := f.Name
	if f.Text != "" {
		label += " " + f.Text
	}
	end := min(f.Offset+f.Size, len(d.data))
	shown := min(end, f.Offset+maxBytes)
	for at := f.Offset; at < shown; at += perLine {
		d.printf("%04x  %s  %-47s  %s\n", at, indent, fmt.Sprintf("% x", d.data[at:min(at+perLine, shown)]), label)
		label = ""
	}
	if shown < end {
		d.printf("      %s  ... %d bytes more\n", indent, end-shown)
	}
}
