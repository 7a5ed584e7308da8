// Package inspect prints the structure of files, statistics and sizes of their columns, and reports of checks, as text and JSON.
package inspect

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/amudai/amudai-go/cmd/amudai/internal/formats"
	"github.com/amudai/amudai-go/cmd/amudai/internal/terminal"
	"github.com/amudai/amudai-go/table/provider"
)

// ErrUntold is the error of an input in a format that does not tell how it is built.
var ErrUntold = errors.New("cannot be inspected")

// Tell gives what the format of an input tells of it to a function that prints it.
func Tell(ctx context.Context, p *formats.Opener, location string, o provider.InspectOptions, print func(*provider.Outline) error) error {
	t, err := p.Table(ctx, location, "")
	if err != nil {
		return err
	}
	list, err := t.Inspect(ctx, o)
	switch {
	case err != nil:
	case list[0] == nil:
		err = formats.Untold(t, ErrUntold)
	default:
		err = print(list[0])
	}
	return errors.Join(err, t.Close())
}

// Outline prints facts, lists, then bytes. The hint is how to see columns of lists for which there is no room.
func Outline(ctx context.Context, out terminal.Screen, o *provider.Outline, hint string) error {
	printFacts(out, "", o.Facts)
	for i, l := range o.Lists {
		if i > 0 || len(o.Facts) > 0 {
			out.Printf("\n")
		}
		if len(o.Lists) > 1 || len(o.Facts) > 0 {
			out.Printf("%s\n", out.Paint(terminal.Bold, terminal.Printable(l.Name)))
		}
		printList(out, l, hint)
	}
	file := ""
	for _, r := range o.Bytes {
		if r.File != file {
			file = r.File
			out.Printf("%s\n", out.Paint(terminal.Bold, terminal.Printable(file)))
		}
		if err := dump(ctx, out, r); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// Details prints facts, then each row of the lists with a line for each of its properties.
func Details(out terminal.Screen, o *provider.Outline) {
	printFacts(out, "", o.Facts)
	for _, l := range o.Lists {
		for _, row := range l.Rows {
			name, facts := rowFacts(l, row)
			out.Printf("\n%s\n", out.Paint(terminal.Bold, name))
			printFacts(out, "  ", facts)
		}
	}
}

// printFacts prints names and values, aligned. Large numbers of bytes have a unit, too.
func printFacts(out terminal.Screen, indent string, list []provider.Fact) {
	width := 12
	for _, f := range list {
		width = max(width, utf8.RuneCountInString(terminal.Printable(f.Name)))
	}
	for _, f := range list {
		value := cell(f.Value)
		switch v := f.Value.(type) {
		case int64:
			if strings.Contains(f.Name, "bytes") && v >= 1024 {
				value += " (" + terminal.Size(v) + ")"
			}
		case uint64:
			if strings.Contains(f.Name, "bytes") && v >= 1024 {
				value += " (" + terminal.Size(v) + ")"
			}
		case []provider.Fact:
			var parts []string
			for _, p := range v {
				parts = append(parts, terminal.OneLine(p.Name)+" "+cell(p.Value))
			}
			value = strings.Join(parts, ", ")
		}
		if value != "" {
			out.Printf("%s%s %s\n", indent, out.Paint(terminal.Dim, fmt.Sprintf("%-*s", width, terminal.Printable(f.Name))), value)
		}
	}
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
	case float64:
		return strconv.FormatFloat(v, 'f', 2, 64)
	case provider.Estimate:
		return "≈" + terminal.Count(uint64(v))
	case provider.Share:
		return terminal.Percent(float64(v), 1)
	case []provider.Fact:
		return mainNames(v)
	}
	return fmt.Sprint(v)
}

// mainNames are the names of up to three facts, the first ones, but of those with numbers that do not matter.
func mainNames(list []provider.Fact) string {
	all := int64(0)
	for _, f := range list {
		n, _ := f.Value.(int64)
		all += n
	}
	var names []string
	for i, f := range list {
		if n, _ := f.Value.(int64); i > 0 && n*50 < all {
			continue
		}
		if len(names) == 3 {
			names = append(names, "…")
			break
		}
		names = append(names, terminal.OneLine(f.Name))
	}
	return strings.Join(names, ", ")
}

// rowFacts are a row of a list: its first cell as a name, and then the others with their names.
func rowFacts(l provider.List, row []any) (name string, facts []provider.Fact) {
	name = cell(row[0])
	if _, isText := row[0].(string); !isText {
		name = l.Columns[0] + " " + name
	}
	for k, v := range row[1:] {
		facts = append(facts, provider.Fact{Name: l.Columns[k+1], Value: v})
	}
	return terminal.Printable(name), facts
}

// printList prints a list as a table, without columns that are empty. A column with a number in it is one of numbers. Shares have bars if
// there is room.
func printList(out terminal.Screen, l provider.List, hint string) {
	const bars = "of all"
	t := terminal.NewTable()
	t.Narrowest = 10
	cells := make([][]string, len(l.Rows))
	for k, name := range l.Columns {
		number, share, empty := false, false, len(l.Rows) > 0
		for _, row := range l.Rows {
			switch row[k].(type) {
			case provider.Share:
				number, share = true, true
			case int, int64, uint64, int32, uint32, float64, provider.Estimate:
				number = true
			}
			empty = empty && (row[k] == nil || row[k] == "")
		}
		if empty {
			continue
		}
		if number {
			t.Numbers(name)
		} else {
			t.Text(name)
		}
		if share {
			t.Text(bars).Optional(bars)
		}
		for i, row := range l.Rows {
			cells[i] = append(cells[i], cell(row[k]))
			if share {
				part, _ := row[k].(provider.Share)
				cells[i] = append(cells[i], terminal.Bar(float64(part), 1, 16))
			}
		}
	}
	for _, row := range cells {
		t.Texts(row...)
	}
	out.TableOr(t, "", hint)
}

// OutlineJSON prints what a format tells of a file for programs. Bytes have their places and names only.
func OutlineJSON(out terminal.Screen, location string, o *provider.Outline) error {
	facts := []map[string]any{}
	for _, f := range o.Facts {
		facts = append(facts, map[string]any{"name": f.Name, "value": f.Value})
	}
	lists := map[string]any{}
	for _, l := range o.Lists {
		rows := []map[string]any{}
		for _, r := range l.Rows {
			row := map[string]any{}
			for k, v := range r {
				addJSON(row, strings.ReplaceAll(l.Columns[k], " ", "_"), v)
			}
			rows = append(rows, row)
		}
		lists[l.Name] = rows
	}
	j := map[string]any{"location": location, "facts": facts, "lists": lists}
	if len(o.Bytes) > 0 {
		bytes := []map[string]any{}
		for _, r := range o.Bytes {
			bytes = append(bytes, map[string]any{"offset": r.Offset, "bytes": r.Size, "name": r.Name})
			if r.File != "" {
				bytes[len(bytes)-1]["file"] = r.File
			}
		}
		j["bytes"] = bytes
	}
	return terminal.JSON(out.Out, j)
}

// addJSON adds a value to an object.
func addJSON(row map[string]any, name string, v any) {
	switch v := v.(type) {
	case nil:
	case provider.Estimate:
		row[name], row[name+"_is_estimate"] = v, true
	case []provider.Fact:
		parts := []map[string]any{}
		for _, p := range v {
			parts = append(parts, map[string]any{"name": p.Name, "value": p.Value})
		}
		row[name] = parts
	default:
		row[name] = v
	}
}

// noOffset takes the place of the offset in a line.
const noOffset = "          "

// dump prints the bytes of a region with their meaning, and the error if they cannot be read or understood.
func dump(ctx context.Context, out terminal.Screen, r provider.Region) error {
	out.Printf("\n%08x  %s, %s\n", r.Offset, out.Paint(terminal.Cyan, terminal.Printable(r.Name)), terminal.Plural(r.Size, "byte"))
	if r.Dump == nil {
		return nil
	}
	d, err := r.Dump(ctx)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	at := r.Offset
	if d.Packed {
		at = 0
		out.Printf("%s%s\n", noOffset, out.Paint(terminal.Dim, "unpacked to "+terminal.Plural(len(d.Data), "byte")))
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
	for _, line := range d.Text {
		out.Printf("%s%s\n", noOffset, out.Paint(terminal.Dim, terminal.Clip(terminal.Printable(line), 120)))
	}
	if err != nil {
		return out.Printf("%s%s\n", noOffset, out.Paint(terminal.Red, "! "+terminal.OneLine(err.Error())))
	}
	return nil
}

// hexLines prints 16 bytes per line, in hexadecimal and as characters.
func hexLines(out terminal.Screen, b []byte, at int64, indent string) {
	for line := range slices.Chunk(b, 16) {
		chars := make([]byte, len(line))
		for k, c := range line {
			if chars[k] = c; c < 0x20 || c > 0x7e {
				chars[k] = '.'
			}
		}
		out.Printf("%08x  %s%-47s  %s\n", at, indent, fmt.Sprintf("% x", line), string(chars))
		at += int64(len(line))
	}
}
