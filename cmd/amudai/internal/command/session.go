package command

import (
	"context"
	"io"

	"github.com/spf13/cobra"

	"github.com/amudai/amudai-go/cmd/amudai/internal/app"
	"github.com/amudai/amudai-go/cmd/amudai/internal/session"
)

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
