// Package command is the command amudai: flags, progress and tables on the
// terminal. The packages below it process the data; main only calls
// [Main].
//
// Data goes to stdout, everything for people (notices, progress, errors) to
// stderr. Tables are aligned for reading; colours, and widths cut to the screen, are used on a terminal only, and
// colours not if NO_COLOR is set. An error is one line, cause first.
//
// Exit codes:
//
//	0    done
//	1    failed, or verify found problems
//	2    wrong usage: unknown command, flag or format
//	     (search: 1 if nothing is found, 2 after an error)
//	130  interrupted
package command

import (
	"context"
	"errors"
	"io"
	"iter"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"golang.org/x/term"

	"github.com/amudai/amudai-go/cmd/amudai/internal/complete"
	"github.com/amudai/amudai-go/cmd/amudai/internal/formats"
	"github.com/amudai/amudai-go/cmd/amudai/internal/help"
	"github.com/amudai/amudai-go/cmd/amudai/internal/session"
	"github.com/amudai/amudai-go/cmd/amudai/internal/terminal"
	"github.com/amudai/amudai-go/cmd/amudai/internal/usage"
	"github.com/amudai/amudai-go/internal/inputs"
	"github.com/amudai/amudai-go/internal/text"
	"github.com/amudai/amudai-go/storage"
)

// Exit codes of [Main].
const (
	ExitOK          = 0
	ExitFailure     = 1
	ExitUsage       = 2
	ExitUnchecked   = 3 // of verify: no problem was found, but not everything could be checked
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

// app is one run of the command.
type app struct {
	Env
	out    terminal.Screen // stdout, for people
	errs   terminal.Screen // stderr
	opener *formats.Opener // of inputs
	memory *session.Memory // for batches in Arrow streams; nil unless it is shared
	inputs *inputs.Versions
	said   *sync.Map // notices
}

// Main runs the command and returns its exit code. When ctx is cancelled, the command stops soon and leaves no
// partial output behind.
func Main(ctx context.Context, env Env) int { return run(ctx, env, nil, nil) }

// run is Main with memory for batches, or nil, and the versions that inputs had before.
func run(ctx context.Context, env Env, memory *session.Memory, versions map[string]storage.Version) int {
	a := &app{Env: env, said: new(sync.Map), memory: memory, inputs: inputs.NewVersions(versions)}
	if a.Getenv == nil {
		a.Getenv = func(string) string { return "" }
	}
	if a.Program == "" {
		a.Program = "amudai"
	}
	onTerminal := a.Width > 0 // before a variable sets the width
	set, err := a.settings()
	a.out = terminal.Screen{Out: env.Stdout, Width: a.Width, Color: set.colors(onTerminal)}
	a.errs = terminal.Screen{Out: redacted(env), Color: set.colors(a.Progress)}
	if err != nil {
		return a.report(ctx, err)
	}
	if set.parallel > 0 {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(set.parallel))
	}
	return a.report(ctx, a.execute(ctx))
}

// executeOnce runs the command. With allRows, types of text are inferred from all rows of an input.
func (a *app) executeOnce(ctx context.Context, allRows bool) error {
	a.opener = formats.NewOpener(a.Stdin, a.notice)
	a.opener.AllRows, a.opener.Versions = allRows, a.inputs
	root := a.root()
	root.SetArgs(a.Args)
	root.SetIn(a.Stdin)
	root.SetOut(a.Stdout)
	root.SetErr(a.Stderr)
	refuseUnknown(root)
	a.completeFlags(root)
	return root.ExecuteContext(ctx)
}

func (a *app) root() *cobra.Command {
	root := &cobra.Command{
		Use:   "amudai",
		Short: "Read, write and check Amudai shards",
		Long: `amudai converts tables to Amudai shards and back, and shows their contents.

Files are recognised by their extension or first bytes; "-" is stdin or stdout. Inputs may
also be http(s) URLs.

Variables of the environment: AMUDAI_COLOR (auto, always, never), NO_COLOR, AMUDAI_WIDTH (columns
of a table; 0: not cut), AMUDAI_PARALLEL (threads; default: one per CPU).`,
		SilenceUsage: true, SilenceErrors: true,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		message, _, _ := strings.Cut(err.Error(), ": strconv.")
		var unknown *pflag.NotExistError
		if errors.As(err, &unknown) && unknown.GetSpecifiedShortnames() == "" {
			message += text.Suggest("--"+unknown.GetSpecifiedName(), flagNames(cmd))
		}
		return usage.Errorf(cmd.CommandPath()+" --help lists the flags", "%s", message)
	})
	root.AddGroup(&cobra.Group{ID: "data", Title: "Data:"}, &cobra.Group{ID: "look", Title: "Inspection:"}, &cobra.Group{ID: "traces", Title: "Traces:"})
	for _, c := range []*cobra.Command{a.convert(), a.cat(), a.head(), a.tail(), a.sample(), a.count(), a.take(), a.browse(), a.scan(), a.agg(), a.top(), a.sort(), a.distinct(), a.diff(), a.search(), a.inferSchema()} {
		c.GroupID = "data"
		root.AddCommand(c)
	}
	for _, c := range append(a.lookers(), a.plan(), a.demo(), a.bench(), a.benchPeak()) {
		c.GroupID = "look"
		root.AddCommand(c)
	}
	for _, c := range []*cobra.Command{a.trace(), a.query(), a.blockpack()} {
		c.GroupID = "traces"
		root.AddCommand(c)
	}
	root.AddCommand(a.man(), a.session(), a.version())
	root.SetHelpFunc(func(cmd *cobra.Command, _ []string) {
		a.out.Printf("%s", terminal.Lines(help.Text(cmd, a.helpWidth())))
	})
	root.SetUsageFunc(func(cmd *cobra.Command) error {
		return a.out.Printf("%s", terminal.Lines(help.Usage(cmd, a.helpWidth())))
	})
	printVersion := root.Flags().Bool("version", false, "print the version")
	root.RunE = func(cmd *cobra.Command, _ []string) error {
		if *printVersion { // Cobra's own flag needs a template
			return a.out.Printf("%s\n", versionText())
		}
		return cmd.Help()
	}
	return root
}

// refuseUnknown makes unknown arguments of Cobra's own commands usage errors, instead of a reason to print help.
// These commands keep their current output.
func refuseUnknown(root *cobra.Command) {
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd("completion") // otherwise Cobra adds it only when it is used
	for _, c := range root.Commands() {
		switch c.Name() {
		case "completion":
			c.Short = "Print a script that completes commands, files, columns and values in a shell"
			c.Args = noArgs
			c.RunE = func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
			if bash, _, err := c.Find([]string{"bash"}); err == nil && bash != c {
				bash.Short, bash.Long = "Print the script for bash", "Print the script for bash 4.4 or later. Its first lines say where to put it."
				bash.ResetFlags()
				bash.RunE = func(cmd *cobra.Command, _ []string) error {
					_, err := cmd.OutOrStdout().Write([]byte(complete.Bash)) // not escaped, as text for people is
					return err
				}
			}
		case "help":
			c.Short = "Print the help of a command"
			c.Args = func(_ *cobra.Command, args []string) error {
				if found, _, err := root.Find(args); err != nil || found == root && len(args) > 0 {
					return noArgs(root, args)
				}
				return nil
			}
		}
	}
}

// wants checks the number of arguments. A negative most means any number.
func wants(least, most int, what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) >= least && (most < 0 || len(args) <= most) {
			return nil
		}
		return usage.Errorf("", "usage: %s (%s)", cmd.UseLine(), what)
	}
}

// noArgs accepts no arguments.
func noArgs(cmd *cobra.Command, args []string) error {
	if len(args) > 0 && cmd.HasSubCommands() {
		return usage.Errorf(cmd.CommandPath()+" --help lists the commands", "unknown command %q%s", args[0], text.Suggest(args[0], commandNames(cmd)))
	}
	return wants(0, 0, "no arguments")(cmd, args)
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

// flagNames are the flags of cmd, with their dashes.
func flagNames(cmd *cobra.Command) iter.Seq[string] {
	var names []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			names = append(names, "--"+f.Name)
		}
	})
	return slices.Values(names)
}
