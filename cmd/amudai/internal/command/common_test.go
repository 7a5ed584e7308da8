package command

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/cmd/amudai/internal/app"
)

// TestCommonFlags has the commands that create files and those that are silent: all others read something, of which they may have to
// tell something.
func TestCommonFlags(t *testing.T) {
	creating := strings.Fields("agg cat convert distinct head import merge pack recover relocate sample scan sort split sql stats tail take top bench blockpack-merge blockpack-drop-traces")
	silent := strings.Fields("blockpack column completion demo help index index-list index-stats man pack recover session version bench-peak")
	a, err := app.New(app.Env{Stdout: &bytes.Buffer{}, Stderr: &bytes.Buffer{}}, nil, nil)
	require.NoError(t, err)
	root := run{a}.root()
	refuseUnknown(root)
	addCommonFlags(a, root)
	var visit func(c *cobra.Command)
	visit = func(c *cobra.Command) {
		name := strings.ReplaceAll(strings.TrimPrefix(c.CommandPath(), "amudai "), " ", "-")
		check := func(flag, short string, wanted bool) {
			f := c.Flags().Lookup(flag)
			require.Equal(t, wanted, f != nil, "--%s of %s", flag, name)
			if f != nil {
				require.Equal(t, short, f.Shorthand, "--%s of %s", flag, name)
			}
		}
		check("force", "f", slices.Contains(creating, name))
		check("quiet", "q", !slices.Contains(silent, name) && !strings.HasPrefix(name, "completion-"))
		c.Flags().VisitAll(func(f *pflag.Flag) {
			require.True(t, f.Shorthand != "q" || f.Name == "quiet", "-q of %s is --%s", name, f.Name)
			require.True(t, f.Shorthand != "f" || f.Name == "force", "-f of %s is --%s", name, f.Name)
		})
		for _, below := range c.Commands() {
			visit(below)
		}
	}
	for _, c := range root.Commands() {
		visit(c)
	}
}
