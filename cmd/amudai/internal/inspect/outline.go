package inspect

import (
	"context"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/amudai/amudai-go/cmd/amudai/internal/terminal"
	"github.com/amudai/amudai-go/table/provider"
)

// outline prints what a format tells of a file: facts, lists, then bytes.
func outline(ctx context.Context, out terminal.Screen, o *provider.Outline) error {
	width := 12
	for _, f := range o.Facts {
		width = max(width, utf8.RuneCountInString(terminal.Printable(f.Name)))
	}
	for _, f := range o.Facts {
		out.Printf("%s %s\n", out.Paint(terminal.Dim, fmt.Sprintf("%-*s", width, terminal.Printable(f.Name))), cell(f.Value))
	}
	for i, l := range o.Lists {
		if i > 0 || len(o.Facts) > 0 {
			out.Printf("\n")
		}
		if len(o.Lists) > 1 || len(o.Facts) > 0 {
			out.Printf("%s\n", out.Paint(terminal.Bold, terminal.Printable(l.Name)))
		}
		printList(out, l)
	}
	for _, r := range o.Bytes {
		if err := dump(ctx, out, r); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// cell is a value as text.
func cell(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		return terminal.OneLine(v)
	case bool:
		if v {
			return "yes"
		}
		return "no"
	case int:
		return terminal.Count(v)
	case int64:
		return terminal.Count(v)
	case uint64:
		return terminal.Count(v)
	}
	return fmt.Sprint(v)
}

// printList prints a list as a table. A column with a number in it is one of numbers.
func printList(out terminal.Screen, l provider.List) {
	t := terminal.NewTable()
	t.Narrowest = 16
	for k, name := range l.Columns {
		number := false
		for _, row := range l.Rows {
			switch row[k].(type) {
			case int, int64, uint64, int32, uint32:
				number = true
			}
		}
		if number {
			t.Numbers(name)
		} else {
			t.Text(name)
		}
	}
	for _, row := range l.Rows {
		cells := make([]string, len(row))
		for k, v := range row {
			cells[k] = cell(v)
		}
		t.Texts(cells...)
	}
	out.TableOr(t, "", "--json shows all")
}

// outlineJSON prints what a format tells of a file for programs. Bytes have their places and names only.
func outlineJSON(out terminal.Screen, location string, o *provider.Outline) error {
	j := map[string]any{"location": location}
	facts := []map[string]any{}
	for _, f := range o.Facts {
		facts = append(facts, map[string]any{"name": f.Name, "value": f.Value})
	}
	j["facts"] = facts
	lists := map[string]any{}
	for _, l := range o.Lists {
		rows := []map[string]any{}
		for _, r := range l.Rows {
			row := map[string]any{}
			for k, v := range r {
				if v != nil {
					row[l.Columns[k]] = v
				}
			}
			rows = append(rows, row)
		}
		lists[l.Name] = rows
	}
	j["lists"] = lists
	if len(o.Bytes) > 0 {
		bytes := []map[string]any{}
		for _, r := range o.Bytes {
			bytes = append(bytes, map[string]any{"offset": r.Offset, "bytes": r.Size, "name": r.Name})
		}
		j["bytes"] = bytes
	}
	return terminal.JSON(out.Out, j)
}

// dump prints the bytes of a region with their meaning, or the error if they cannot be read.
func dump(ctx context.Context, out terminal.Screen, r provider.Region) error {
	out.Printf("\n%08x  %s, %s\n", r.Offset, out.Paint(terminal.Cyan, terminal.Printable(r.Name)), terminal.Plural(r.Size, "byte"))
	if r.Dump == nil {
		return nil
	}
	d, err := r.Dump(ctx)
	if err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return out.Printf("          %s\n", out.Paint(terminal.Red, "! "+terminal.OneLine(err.Error())))
	}
	at := r.Offset
	if d.Packed {
		at = 0
		out.Printf("          %s\n", out.Paint(terminal.Dim, "unpacked to "+terminal.Plural(len(d.Data), "byte")))
	}
	end := 0
	for _, p := range d.Parts {
		if p.Offset > end {
			hexLines(out, d.Data[end:p.Offset], at+int64(end), "")
		}
		indent := strings.Repeat("  ", p.Depth)
		text := out.Paint(terminal.Dim, terminal.Clip(terminal.Printable(p.Text), 100))
		if b := d.Data[p.Offset : p.Offset+p.Size]; len(b) <= 8 {
			out.Printf("%08x  %s%-24s %s\n", at+int64(p.Offset), indent, fmt.Sprintf("% x", b), text)
		} else {
			out.Printf("%08x  %s%s\n", at+int64(p.Offset), indent, text)
			hexLines(out, b, at+int64(p.Offset), indent)
		}
		end = max(end, p.Offset+p.Size)
	}
	hexLines(out, d.Data[end:], at+int64(end), "")
	return nil
}
