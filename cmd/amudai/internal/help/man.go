package help

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
)

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
