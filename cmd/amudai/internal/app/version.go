package app

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/amudai/amudai-go/internal/format/edition"
)

// Version is the version of this program.
const Version = "0.1.0"

// Writer is the name that shards have of their writer.
const Writer = "amudai " + Version

// VersionText is the version, and the toolchain and revision it was built from.
func VersionText() string {
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
