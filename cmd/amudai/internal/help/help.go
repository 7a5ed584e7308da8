// Package help makes the help of a command, and its manual page, from the descriptions of its flags. Flags that are only
// for some formats stand together, under the name of the formats.
package help

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/amudai/amudai-go/cmd/amudai/internal/terminal"
)

// section is a list of flags under a title.
type section struct {
	title string
	flags []flag
}

// flag is a flag as help shows it.
type flag struct {
	names string // "-n, --limit N"
	text  string // its description, on one line
}

// indent of descriptions: flags that are longer have a line of their own.
const indent = 30

// prefixes of descriptions are the formats that a flag is for, in the order of the sections, with their titles.
var prefixes = []struct{ prefix, title string }{
	{"", "Flags"},
	{"CSV and JSON", "CSV and JSON"},
	{"CSV", "CSV"},
	{"JSON", "JSON"},
	{"shard", "Shards"},
	{"shard of another writer", "Shards of other writers"},
	{"Parquet", "Parquet"},
	{"RNTuple", "RNTuples"},
}

// sections are the flags of a command that are not hidden.
func sections(flags *pflag.FlagSet) []section {
	all := make([]section, len(prefixes))
	for i, p := range prefixes {
		all[i].title = p.title
	}
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Hidden {
			return
		}
		value, text := pflag.UnquoteUsage(f)
		if f.Name == "help" {
			text = "print this help"
		}
		i := 0
		if prefix, rest, found := strings.Cut(text, ": "); found {
			for k, p := range prefixes {
				if p.prefix == prefix {
					i, text = k, rest
				}
			}
		}
		names := "    --" + f.Name
		if f.Shorthand != "" {
			names = "-" + f.Shorthand + ", --" + f.Name
		}
		if word := valueWord(value); word != "" {
			names += " " + word
		}
		all[i].flags = append(all[i].flags, flag{names, text + defaultOf(f)})
	})
	return slices.DeleteFunc(all, func(s section) bool { return len(s.flags) == 0 })
}

// valueWord is a word for the value of a flag. Descriptions may have one of their own, in back quotes.
func valueWord(kind string) string {
	switch kind {
	case "string", "stringArray":
		return "TEXT"
	case "strings":
		return "LIST"
	case "int", "int64", "uint", "float", "uint64", "ints":
		return "N"
	case "duration":
		return "TIME"
	case "count":
		return ""
	}
	return kind
}

// defaultOf is the default of a flag, unless it is empty or the description tells it.
func defaultOf(f *pflag.Flag) string {
	switch f.DefValue {
	case "", "0", "-1", "false", "[]", "0s":
		return ""
	}
	if strings.Contains(f.Usage, "(default") {
		return ""
	}
	return " (default " + f.DefValue + ")"
}

// Text is the help of a command, for a screen of a number of columns.
func Text(cmd *cobra.Command, width int) string {
	var b strings.Builder
	about := cmp.Or(cmd.Long, cmd.Short)
	if about != "" {
		fmt.Fprintf(&b, "%s\n\n", strings.TrimSpace(strings.ReplaceAll(about, "\t", "  ")))
	}
	b.WriteString(Usage(cmd, width))
	return b.String()
}

// Usage is the part of the help behind the description.
func Usage(cmd *cobra.Command, width int) string {
	var b strings.Builder
	b.WriteString("Usage:\n")
	if cmd.Runnable() {
		fmt.Fprintf(&b, "  %s\n", cmd.UseLine())
	}
	if cmd.HasAvailableSubCommands() {
		fmt.Fprintf(&b, "  %s COMMAND\n", cmd.CommandPath())
	}
	if cmd.HasExample() {
		fmt.Fprintf(&b, "\nExamples:\n%s\n", cmd.Example)
	}
	names := 0
	for _, c := range cmd.Commands() {
		names = max(names, len(c.Name()))
	}
	groups := cmd.Groups()
	if len(groups) == 0 {
		groups = []*cobra.Group{{Title: "Commands:"}}
	} else {
		groups = append(slices.Clone(groups), &cobra.Group{Title: "Further commands:"})
	}
	for _, g := range groups {
		title := "\n" + g.Title + "\n"
		for _, c := range cmd.Commands() {
			if c.GroupID == g.ID && (c.IsAvailableCommand() || c.Name() == "help") {
				b.WriteString(title)
				entry(&b, c.Name(), c.Short, names+4, width)
				title = ""
			}
		}
	}
	for _, s := range sections(cmd.Flags()) {
		fmt.Fprintf(&b, "\n%s:\n", s.title)
		for _, f := range s.flags {
			entry(&b, f.names, f.text, indent, width)
		}
	}
	if cmd.HasAvailableSubCommands() {
		fmt.Fprintf(&b, "\n%s COMMAND --help describes a command.\n", cmd.CommandPath())
	}
	return b.String()
}

// entry writes a name and its description, which is wrapped.
func entry(b *strings.Builder, name, text string, indent, width int) {
	b.WriteString("  " + name)
	column := 2 + len(name)
	if column >= indent && text != "" {
		b.WriteString("\n")
		column = 0
	}
	lines := terminal.Wrap(strings.Join(strings.Fields(text), " "), width-indent)
	b.WriteString(strings.Repeat(" ", max(0, indent-column)) + strings.Join(lines, "\n"+strings.Repeat(" ", indent)))
	b.WriteString("\n")
}

// Man is the manual page of a command, in the language of man(7). Its name is that of the command with dashes:
// amudai-index-add. version is that of the program.
func Man(cmd *cobra.Command, version string) string {
	var b strings.Builder
	name := Page(cmd)
	fmt.Fprintf(&b, ".TH %s 1 \"\" %s\n", strings.ToUpper(name), quote("amudai "+version))
	fmt.Fprintf(&b, ".SH NAME\n%s \\- %s\n", escape(name), escape(cmd.Short))
	fmt.Fprintf(&b, ".SH SYNOPSIS\n.B %s\n", escape(cmd.UseLine()))
	if cmd.Long != "" {
		b.WriteString(".SH DESCRIPTION\n")
		text(&b, cmd.Long)
	}
	if cmd.HasAvailableSubCommands() {
		b.WriteString(".SH COMMANDS\n")
		for _, c := range cmd.Commands() {
			if c.IsAvailableCommand() {
				fmt.Fprintf(&b, ".TP\n.BR %s (1)\n%s\n", escape(Page(c)), escape(c.Short))
			}
		}
	}
	for _, s := range sections(cmd.Flags()) {
		title := "OPTIONS"
		if s.title != "Flags" {
			title += ": " + strings.ToUpper(s.title)
		}
		fmt.Fprintf(&b, ".SH %s\n", quote(title))
		for _, f := range s.flags {
			fmt.Fprintf(&b, ".TP\n.B %s\n%s\n", escape(strings.TrimSpace(f.names)), escape(f.text))
		}
	}
	if cmd.HasExample() {
		b.WriteString(".SH EXAMPLES\n")
		text(&b, cmd.Example)
	}
	if cmd.HasParent() {
		fmt.Fprintf(&b, ".SH SEE ALSO\n.BR %s (1)\n", escape(Page(cmd.Parent())))
	}
	return b.String()
}

// Page is the name of the manual page of a command.
func Page(cmd *cobra.Command) string { return strings.ReplaceAll(cmd.CommandPath(), " ", "-") }

// text writes paragraphs, and indented lines as they are.
func text(b *strings.Builder, s string) {
	literal := false
	for line := range strings.SplitSeq(strings.Trim(s, "\n"), "\n") {
		if indented := strings.HasPrefix(line, "  "); indented != literal {
			if literal = indented; literal {
				b.WriteString(".PP\n.nf\n")
			} else {
				b.WriteString(".fi\n.PP\n")
			}
		}
		switch {
		case line == "" && !literal:
			b.WriteString(".PP\n")
		default:
			b.WriteString(escape(line) + "\n")
		}
	}
	if literal {
		b.WriteString(".fi\n")
	}
}

// escape makes text literal: a backslash begins an escape sequence, a dot or quote at the start of a line a request, and a
// dash is a hyphen.
func escape(s string) string {
	s = strings.NewReplacer(`\`, `\e`, "-", `\-`).Replace(s)
	if strings.HasPrefix(s, ".") || strings.HasPrefix(s, "'") {
		s = `\&` + s
	}
	return s
}

// quote makes text one argument of a request.
func quote(s string) string { return `"` + strings.ReplaceAll(escape(s), `"`, `""`) + `"` }
