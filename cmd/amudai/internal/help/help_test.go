package help_test

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/cmd/amudai/internal/help"
)

// command has flags of all kinds, and texts that need escapes in a manual page.
func command() *cobra.Command {
	root := &cobra.Command{Use: "amudai"}
	cmd := &cobra.Command{
		Use:   "cut IN... OUT",
		Short: "Cut a table",
		Long: `cut cuts tables.
.Dots and 'quotes at the start of a line stay.

  \d{4,}-x    digits

The end.`,
		Example: `  amudai cut a.csv b.csv`,
		Run:     func(*cobra.Command, []string) {},
	}
	f := cmd.Flags()
	f.StringSlice("columns", nil, "only these columns")
	f.Int64P("limit", "n", -1, "maximum number of rows, which is a text of more than one line on narrow screens")
	f.String("rows", "", "rows by position, as in `A:B`")
	f.String("a-flag-with-a-very-long-name", "x", "its default is shown")
	f.Bool("no-header", false, "CSV: the first record is data")
	f.String("profile", "balanced", "shard: plain or balanced (default: balanced)")
	f.Bool("secret", false, "not shown")
	_ = f.MarkHidden("secret")
	root.AddCommand(cmd)
	return cmd
}

// TestUsage lists flags by format, and wraps their descriptions.
func TestUsage(t *testing.T) {
	require.Equal(t, `Usage:
  amudai cut IN... OUT [flags]

Examples:
  amudai cut a.csv b.csv

Flags:
      --a-flag-with-a-very-long-name TEXT
                              its default is shown
                              (default x)
      --columns LIST          only these columns
  -n, --limit N               maximum number of rows,
                              which is a text of more
                              than one line on narrow
                              screens
      --rows A:B              rows by position, as in A:B

CSV:
      --no-header             the first record is data

Shards:
      --profile TEXT          plain or balanced (default:
                              balanced)
`, help.Usage(command(), 57))
}

// TestMan has requests and escape sequences only where they are meant.
func TestMan(t *testing.T) {
	page := help.Man(command(), "1.0")
	require.Contains(t, page, "\n\\&.Dots and 'quotes")
	require.Contains(t, page, "\n.nf\n  \\ed{4,}\\-x    digits\n")
	require.Contains(t, page, ".SH \"OPTIONS: SHARDS\"\n.TP\n.B \\-\\-profile TEXT\n")
	require.Contains(t, page, ".SH SEE ALSO\n.BR amudai (1)\n")
	if _, err := exec.LookPath("groff"); err != nil {
		t.Skip("groff is not installed: the page was not formatted")
	}
	cmd := exec.Command("groff", "-man", "-ww", "-Tascii", "-P-c")
	cmd.Stdin = strings.NewReader(page)
	var warnings strings.Builder
	cmd.Stderr = &warnings
	out, err := cmd.Output()
	require.NoError(t, err)
	require.Empty(t, warnings.String())
	require.Contains(t, string(out), `\d{4,}-x    digits`)
}
