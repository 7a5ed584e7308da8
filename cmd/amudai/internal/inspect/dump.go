package inspect

import (
	"fmt"
	"strings"

	"github.com/amudai/amudai-go/cmd/amudai/internal/terminal"
	"github.com/amudai/amudai-go/shard"
)

// noOffset takes the place of the offset in a line.
const noOffset = "          "

func dumpLine(out terminal.Screen, l shard.DumpLine) error {
	title, indent := terminal.Printable(l.Title), strings.Repeat(" ", l.Indent)
	switch l.Kind {
	case shard.DumpArtifact:
		return out.Printf("%s\n", out.Paint(terminal.Bold, title))
	case shard.DumpGap:
		return out.Printf("\n%08x  %s\n", l.Offset, out.Paint(terminal.Dim, terminal.Plural(l.Bytes, "byte")+" without a reference: padding, or a recovery record"))
	case shard.DumpRegion:
		return out.Printf("\n%08x  %s, %s\n", l.Offset, out.Paint(terminal.Cyan, title), terminal.Plural(l.Bytes, "byte"))
	case shard.DumpBlock:
		if l.Bytes == 0 {
			return out.Printf("%08x  %s\n", l.Offset, out.Paint(terminal.Bold, title))
		}
		return out.Printf("%08x  %s %s from %s, %s\n", l.Offset, out.Paint(terminal.Bold, title+":"),
			terminal.Plural(l.Values, "value"), terminal.Count(l.First), terminal.Plural(l.Bytes, "byte"))
	case shard.DumpMore:
		return out.Printf("%s%s… %s more\n", noOffset, indent, terminal.Plural(l.Bytes, "byte"))
	case shard.DumpMessage:
		return out.Printf("%s%s\n", noOffset, out.Paint(terminal.Dim, l.Text))
	case shard.DumpError:
		return out.Printf("%s%s\n", noOffset, out.Paint(terminal.Red, "! "+l.Text))
	case shard.DumpTree: // the line has its offset in the block
		return out.Printf("      %s\n", l.Text)
	}
	if l.Data == nil {
		return out.Printf("%08x  %s%s\n", l.Offset, indent, title)
	}
	hexLines(out, l.Data, l.Offset, indent)
	return nil
}

// hexLines prints 16 bytes per line, in hexadecimal and as characters.
func hexLines(out terminal.Screen, b []byte, at int64, indent string) {
	for i := 0; i < len(b); i += 16 {
		line := b[i:min(i+16, len(b))]
		chars := make([]byte, len(line))
		for k, c := range line {
			if chars[k] = c; c < 0x20 || c > 0x7e {
				chars[k] = '.'
			}
		}
		out.Printf("%08x  %s%-47s  %s\n", at+int64(i), indent, fmt.Sprintf("% x", line), string(chars))
	}
}
