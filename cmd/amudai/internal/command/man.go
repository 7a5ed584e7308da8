package command

import (
	"errors"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/amudai/amudai-go/cmd/amudai/internal/app"
	"github.com/amudai/amudai-go/cmd/amudai/internal/help"
)

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
