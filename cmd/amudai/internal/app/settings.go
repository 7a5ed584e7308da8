package app

import (
	"strconv"
	"strings"

	"github.com/amudai/amudai-go/cmd/amudai/internal/usage"
	"github.com/amudai/amudai-go/shard"
	"github.com/amudai/amudai-go/storage"
)

// settings are what variables of the environment set.
type settings struct {
	color    string // auto, always or never
	parallel int    // threads; 0: one per CPU
	policy   shard.Policy
}

// settings reads the variables. AMUDAI_WIDTH replaces the width of stdout.
func (a *App) settings() (s settings, err error) {
	s.color = "auto"
	if a.Getenv("NO_COLOR") != "" || a.Getenv("TERM") == "dumb" {
		s.color = "never"
	}
	switch v := a.Getenv("AMUDAI_COLOR"); v {
	case "":
	case "auto", "always", "never":
		s.color = v
	default:
		return s, usage.Errorf("", "AMUDAI_COLOR=%s: use auto, always or never", v)
	}
	for _, number := range []struct {
		name        string
		to          *int
		least, most int
		what        string
	}{
		{"AMUDAI_WIDTH", &a.Width, 0, 10_000, "columns, or 0 for the layout of a pipe"}, {"AMUDAI_PARALLEL", &s.parallel, 1, 4096, "threads"},
	} {
		if v := a.Getenv(number.name); v != "" {
			n, err := strconv.Atoi(v)
			if err != nil || n < number.least || n > number.most {
				return s, usage.Errorf("", "%s=%s: use a number of %s", number.name, v, number.what)
			}
			*number.to = n
		}
	}
	if v := a.Getenv("AMUDAI_ALLOW"); v != "" {
		var folders []string
		for folder := range strings.SplitSeq(v, ",") {
			url, err := storage.URL(strings.TrimSpace(folder))
			if err != nil {
				return s, usage.Errorf("", "AMUDAI_ALLOW=%s: %w", v, err)
			}
			folders = append(folders, strings.TrimSuffix(url, "/")+"/")
		}
		s.policy = s.policy.With(folders...)
	}
	return s, nil
}

// colors reports whether a stream has colours.
func (s settings) colors(isTerminal bool) bool {
	return s.color == "always" || s.color == "auto" && isTerminal
}

// HelpWidth is the width of help texts, which are hard to read in longer lines.
func (a *App) HelpWidth() int {
	if a.Width == 0 {
		return 100
	}
	return min(a.Width, 100)
}
