// Package app is one run of the command: its environment and settings, what it says to people, and the rows that it prints. Packages of
// groups of commands make these with it.
package app

import (
	"cmp"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/amudai/amudai-go/cmd/amudai/internal/formats"
	"github.com/amudai/amudai-go/cmd/amudai/internal/session"
	"github.com/amudai/amudai-go/cmd/amudai/internal/terminal"
	"github.com/amudai/amudai-go/cmd/amudai/internal/usage"
	"github.com/amudai/amudai-go/internal/inputs"
	"github.com/amudai/amudai-go/internal/text"
	"github.com/amudai/amudai-go/shard"
	"github.com/amudai/amudai-go/storage"
)

// Exit codes.
const (
	ExitOK          = 0
	ExitFailure     = 1
	ExitUsage       = 2
	ExitUnchecked   = 3 // of verify: no problem was found, but not everything could be checked
	ExitChanged     = 4 // something was changed meanwhile, by another writer for one
	ExitInterrupted = 130
)

// Env is the environment of a command.
type Env struct {
	Args   []string // without the name of the program
	Stdin  io.Reader
	Stdout io.Writer
	Stderr io.Writer
	Getenv func(string) string // nil: no variable is set

	// Program is the name of this program in proposed commands, amudai by default.
	Program string

	// Width is the width of stdout if it is a terminal, else 0. Progress reports whether stderr is a terminal.
	Width    int
	Progress bool
}

// OSEnv is the environment of this process.
func OSEnv() Env {
	e := Env{Args: os.Args[1:], Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Getenv: os.Getenv}
	if fd := int(os.Stdout.Fd()); term.IsTerminal(fd) {
		e.Width = 80
		if w, _, err := term.GetSize(fd); err == nil && w > 20 {
			e.Width = w
		}
	}
	if strings.Contains(filepath.ToSlash(os.Args[0]), "/go-build") {
		e.Program = "go run ./cmd/amudai"
	}
	e.Progress = term.IsTerminal(int(os.Stderr.Fd()))
	return e
}

// App is one run of the command.
type App struct {
	Env
	Quiet bool // the flag --quiet: no progress, no summaries, and no notices but warnings
	Force bool // the flag --force: an existing output is replaced

	Out      terminal.Screen // stdout, for people
	Errs     terminal.Screen // stderr
	Opener   *formats.Opener // of inputs
	Memory   *session.Memory // for batches in Arrow streams; nil unless it is shared
	Versions *inputs.Versions
	Parallel int // threads that a variable sets; 0: one per CPU
	Policy   shard.Policy

	said sync.Map // notices
}

// New returns an App. memory and versions are those of a session, or nil. After an error, the App can report it.
func New(env Env, memory *session.Memory, versions map[string]storage.Version) (*App, error) {
	a := &App{Env: env, Memory: memory, Versions: inputs.NewVersions(versions)}
	if a.Getenv == nil {
		a.Getenv = func(string) string { return "" }
	}
	a.Program = cmp.Or(a.Program, "amudai")
	onTerminal := a.Width > 0 // before a variable sets the width
	set, err := a.settings()
	a.Out = terminal.Screen{Out: env.Stdout, Width: a.Width, Color: set.colors(onTerminal)}
	a.Errs = terminal.Screen{Out: redacted(env), Color: set.colors(a.Progress)}
	a.Parallel, a.Policy = set.parallel, set.policy
	return a, err
}

// Notice prints a message that is not an error, unless the command is to be quiet.
func (a *App) Notice(text string) {
	if !a.Quiet {
		a.Remark(text)
	}
}

// Noticef is Notice with a format.
func (a *App) Noticef(format string, args ...any) { a.Notice(fmt.Sprintf(format, args...)) }

// Remark prints a message that is not an error, but that data may be misread.
func (a *App) Remark(text string) {
	if _, said := a.said.LoadOrStore(text, true); said { // by the first run of a command that runs again, for one
		return
	}
	a.Errs.Printf("%s\n", a.Errs.Paint(terminal.Dim, "note: "+text))
}

// Summarizes reports whether a command prints what it did, for people.
func (a *App) Summarizes() bool { return a.Progress && !a.Quiet }

// Bars is the output for progress bars, nil for none.
func (a *App) Bars() io.Writer {
	if !a.Summarizes() {
		return nil
	}
	return a.Stderr
}

// Wants checks the number of arguments. A negative most means any number.
func Wants(least, most int, what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) >= least && (most < 0 || len(args) <= most) {
			return nil
		}
		return usage.Errorf("", "usage: %s (%s)", cmd.UseLine(), what)
	}
}

// WantsFirst checks that inputs follow a first argument, a query for example. missing tells what is missing without them.
func WantsFirst(what, hint, missing string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) == 1 {
			return usage.Errorf(hint, "usage: %s: %s", cmd.UseLine(), missing)
		}
		return Wants(2, -1, what)(cmd, args)
	}
}

// NoArgs accepts no arguments.
func NoArgs(cmd *cobra.Command, args []string) error {
	if len(args) > 0 && cmd.HasSubCommands() {
		return usage.Errorf(cmd.CommandPath()+" --help lists the commands", "unknown command %q%s", args[0], text.Suggest(args[0], commandNames(cmd)))
	}
	return Wants(0, 0, "no arguments")(cmd, args)
}

// commandNames are the listed commands below cmd.
func commandNames(cmd *cobra.Command) iter.Seq[string] {
	return func(yield func(string) bool) {
		for _, c := range cmd.Commands() {
			if c.IsAvailableCommand() && !yield(c.Name()) {
				return
			}
		}
	}
}

// Group is a command that only has others below it.
func Group(use, short, long string, commands ...*cobra.Command) *cobra.Command {
	cmd := &cobra.Command{Use: use, Short: short, Long: long, Args: NoArgs, RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() }}
	cmd.AddCommand(commands...)
	return cmd
}
