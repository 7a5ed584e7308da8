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
//	3    verify could not check everything
//	4    a file was changed meanwhile
//	130  interrupted
package command

import (
	"cmp"
	"context"
	"errors"
	"io"
	"iter"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/amudai/amudai-go/cmd/amudai/internal/app"
	"github.com/amudai/amudai-go/cmd/amudai/internal/browsing"
	"github.com/amudai/amudai-go/cmd/amudai/internal/change"
	"github.com/amudai/amudai-go/cmd/amudai/internal/compare"
	"github.com/amudai/amudai-go/cmd/amudai/internal/complete"
	"github.com/amudai/amudai-go/cmd/amudai/internal/convert"
	"github.com/amudai/amudai-go/cmd/amudai/internal/diff"
	"github.com/amudai/amudai-go/cmd/amudai/internal/formats"
	"github.com/amudai/amudai-go/cmd/amudai/internal/help"
	"github.com/amudai/amudai-go/cmd/amudai/internal/inspect"
	"github.com/amudai/amudai-go/cmd/amudai/internal/plan"
	"github.com/amudai/amudai-go/cmd/amudai/internal/profile"
	"github.com/amudai/amudai-go/cmd/amudai/internal/rows"
	"github.com/amudai/amudai-go/cmd/amudai/internal/search"
	"github.com/amudai/amudai-go/cmd/amudai/internal/server"
	"github.com/amudai/amudai-go/cmd/amudai/internal/session"
	"github.com/amudai/amudai-go/cmd/amudai/internal/terminal"
	"github.com/amudai/amudai-go/cmd/amudai/internal/traces"
	"github.com/amudai/amudai-go/cmd/amudai/internal/usage"
	"github.com/amudai/amudai-go/internal/text"
	"github.com/amudai/amudai-go/storage"
	"github.com/amudai/amudai-go/table/provider"
)

// run is one run of the command.
type run struct{ *app.App }

// Main runs the command and returns its exit code. When ctx is cancelled, the command stops soon and leaves no
// partial output behind.
func Main(ctx context.Context, env app.Env) int { return runWith(ctx, env, nil, nil) }

// runWith is Main with memory for batches, or nil, and the versions that inputs had before.
func runWith(ctx context.Context, env app.Env, memory *session.Memory, versions map[string]storage.Version) int {
	a, err := app.New(env, memory, versions)
	if err != nil {
		return a.Report(ctx, err)
	}
	if a.Parallel > 0 {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(a.Parallel))
	}
	return a.Report(ctx, run{a}.execute(ctx))
}

// execute runs the command of the arguments. If a value far behind the sample does not fit the type inferred from it, the
// command runs again with types from all rows, unless it has written to stdout or read from stdin by then: files that it
// writes are not published yet.
func (a run) execute(ctx context.Context) error {
	ctx = storage.WithNotice(ctx, a.Notice)
	used, failed := a.Watch()
	err := cmp.Or(a.executeOnce(ctx, false), failed())
	var v *provider.ValueError
	if ctx.Err() != nil || !errors.As(err, &v) || !v.Inferred || used() {
		return err
	}
	a.Noticef("%v: types are inferred from all rows now (--sample all)", v)
	return cmp.Or(a.executeOnce(ctx, true), failed())
}

// executeOnce runs the command. With allRows, types of text are inferred from all rows of an input.
func (a run) executeOnce(ctx context.Context, allRows bool) error {
	a.Opener = formats.NewOpener(a.Stdin, a.Notice, a.Remark)
	a.Opener.AllRows, a.Opener.Versions, a.Opener.Policy = allRows, a.Versions, a.Policy
	root := a.root()
	root.SetArgs(a.Args)
	root.SetIn(a.Stdin)
	root.SetOut(a.Stdout)
	root.SetErr(a.Stderr)
	refuseUnknown(root)
	addCommonFlags(a.App, root)
	if len(a.Args) > 0 && strings.HasPrefix(a.Args[0], cobra.ShellCompRequestCmd) { // or cobra.ShellCompNoDescRequestCmd
		a.completeFlags(root)
	}
	return root.ExecuteContext(ctx)
}

func (a run) root() *cobra.Command {
	root := &cobra.Command{
		Use:   "amudai",
		Short: "Read, write and check Amudai shards",
		Long: `amudai converts tables to Amudai shards and back, and shows their contents.

Files are recognised by their extension or first bytes; "-" is stdin or stdout. Inputs may
also be http(s) URLs.

Variables of the environment: AMUDAI_COLOR (auto, always, never), NO_COLOR, AMUDAI_WIDTH (columns
of a table; 0: not cut), AMUDAI_PARALLEL (threads; default: one per CPU), AMUDAI_ALLOW
(folders that shards may refer to besides their own, separated by commas).`,
		SilenceUsage: true, SilenceErrors: true,
		Args: app.NoArgs,
	}
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		if wrong := (usage.Error{}); errors.As(err, &wrong) { // of a flag that parses its text
			return wrong
		}
		message, _, _ := strings.Cut(err.Error(), ": strconv.")
		var unknown *pflag.NotExistError
		if errors.As(err, &unknown) && unknown.GetSpecifiedShortnames() == "" {
			message += text.Suggest("--"+unknown.GetSpecifiedName(), flagNames(cmd))
		}
		return usage.Errorf(cmd.CommandPath()+" --help lists the flags", "%s", message)
	})
	root.AddGroup(&cobra.Group{ID: "data", Title: "Data:"}, &cobra.Group{ID: "look", Title: "Inspection:"}, &cobra.Group{ID: "life", Title: "Changes of shards:"}, &cobra.Group{ID: "traces", Title: "Traces:"})
	// A run needs one command, whose name is nearly always the first argument. The commands of sessions come first, which run many times.
groups:
	for _, g := range []struct {
		id       string
		commands []func() *cobra.Command
	}{
		{"", []func() *cobra.Command{a.session, a.version}},
		{"look", plan.Commands(a.App)},
		{"data", slices.Concat(rows.Commands(a.App), convert.Commands(a.App), browsing.Commands(a.App), diff.Commands(a.App), search.Commands(a.App))},
		{"look", slices.Concat(inspect.Commands(a.App), profile.Commands(a.App), compare.Commands(a.App))},
		{"life", change.Commands(a.App)},
		{"traces", append(traces.Commands(a.App), server.Commands(a.App)...)},
		{"", []func() *cobra.Command{a.man}}, // the pages of all others
	} {
		for _, makeCommand := range g.commands {
			c := makeCommand()
			c.GroupID = cmp.Or(c.GroupID, g.id)
			root.AddCommand(c)
			if len(a.Args) > 0 && (c.Name() == a.Args[0] || c.HasAlias(a.Args[0])) {
				break groups
			}
		}
	}
	root.SetHelpFunc(func(cmd *cobra.Command, _ []string) {
		a.Out.Printf("%s", terminal.Lines(help.Text(cmd, a.HelpWidth())))
	})
	root.SetUsageFunc(func(cmd *cobra.Command) error {
		return a.Out.Printf("%s", terminal.Lines(help.Usage(cmd, a.HelpWidth())))
	})
	printVersion := root.Flags().Bool("version", false, "print the version")
	root.RunE = func(cmd *cobra.Command, _ []string) error {
		if *printVersion { // Cobra's own flag needs a template
			return a.Out.Printf("%s\n", app.VersionText())
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
			c.Args = app.NoArgs
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
					return app.NoArgs(root, args)
				}
				return nil
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

func (a run) version() *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: "Print the version, with toolchain and revision",
		Args: app.NoArgs,
		RunE: func(*cobra.Command, []string) error { return a.Out.Printf("%s\n", app.VersionText()) },
	}
}

func (a run) man() *cobra.Command {
	return &cobra.Command{
		Use:   "man FOLDER",
		Short: "Write manual pages of all commands",
		Long: `man writes a page in the format of man(1) for each command to a folder, which it makes if there is none. The pages
have the texts of --help.`,
		Example: `  amudai man ~/.local/share/man/man1 && man amudai-convert`,
		Args:    app.Wants(1, 1, "a folder"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := os.MkdirAll(args[0], 0o777); err != nil {
				return err
			}
			return writeMan(cmd.Root(), args[0])
		},
	}
}

// writeMan writes the pages of a command and those below it.
func writeMan(cmd *cobra.Command, folder string) error {
	err := os.WriteFile(filepath.Join(folder, help.Page(cmd)+".1"), []byte(help.Man(cmd, app.Version)), 0o666)
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() {
			err = errors.Join(err, writeMan(c, folder))
		}
	}
	return err
}

// session is the command that the Python package runs.
func (a run) session() *cobra.Command {
	return &cobra.Command{
		Use:    "session",
		Short:  "Run commands that another process writes to stdin",
		Hidden: true,
		Args:   app.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return session.Serve(cmd.Context(), a.Stdin, a.Stdout, a.Getenv(session.Variable), a.runRequest)
		},
	}
}

// runRequest runs a command of a session.
func (a run) runRequest(ctx context.Context, r session.Request, stdin io.Reader, stdout, stderr io.Writer, memory *session.Memory) int {
	env := app.Env{Args: r.Arguments, Stdin: stdin, Stdout: stdout, Stderr: stderr, Getenv: a.Getenv, Program: a.Program}
	return runWith(ctx, env, memory, r.Versions)
}
