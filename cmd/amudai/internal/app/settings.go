package app

import (
	"strconv"

	"github.com/amudai/amudai-go/cmd/amudai/internal/usage"
)

// settings are what variables of the environment set.
type settings struct {
	color    string // auto, always or never
	parallel int    // threads; 0: one per CPU
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
	if v := a.Getenv("AMUDAI_WIDTH"); v != "" {
		n, err := strconv.Atoi(v)
		if err != nil || n < 0 || n > 10_000 {
			return s, usage.Errorf("", "AMUDAI_WIDTH=%s: use a number of columns, or 0 for the layout of a pipe", v)
		}
		a.Width = n
	}
	if v := a.Getenv("AMUDAI_PARALLEL"); v != "" {
		n, err := strconv.Atoi(v)
		if err != nil || n < 1 || n > 4096 {
			return s, usage.Errorf("", "AMUDAI_PARALLEL=%s: use a number of threads", v)
		}
		s.parallel = n
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
