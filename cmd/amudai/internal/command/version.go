package command

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/amudai/amudai-go/internal/format/edition"
)

// Version is the version of this program.
const Version = "0.1.0"

// program is the name that shards have of their writer.
const program = "amudai " + Version

func (a *app) version() *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: "Print the version, with toolchain and revision",
		Args: noArgs,
		RunE: func(*cobra.Command, []string) error { return a.out.Printf("%s\n", versionText()) },
	}
}

// versionText is the version, and the toolchain and revision it was built from.
func versionText() string {
	revision := ""
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" && len(s.Value) >= 12 {
				revision = ", revision " + s.Value[:12]
			}
		}
	}
	return fmt.Sprintf("amudai %s (%s %s/%s%s), editions %s and %s",
		Version, runtime.Version(), runtime.GOOS, runtime.GOARCH, revision, edition.Reference, edition.E2026)
}
