package inspect

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/amudai/amudai-go/cmd/amudai/internal/app"
	"github.com/amudai/amudai-go/cmd/amudai/internal/files"
	"github.com/amudai/amudai-go/cmd/amudai/internal/formats"
	"github.com/amudai/amudai-go/internal/base/seq"
	"github.com/amudai/amudai-go/internal/inputs"
	"github.com/amudai/amudai-go/shard"
)

func (a group) pack() *cobra.Command {
	var out string
	cmd := &cobra.Command{
		Use:   "pack SHARD... -o OUT",
		Short: "Copy shards into one file, or one of them out of it",
		Long: `pack copies shards into one file, one behind the other, with their indexes and properties; encoded
values stay as they are. FILE:0 is the first shard in a file, FILE:1 the next one, in every command,
and FILE alone the last one. pack takes all shards of a FILE; pack FILE:0 -o OUT unpacks one.`,
		Args: app.Wants(1, -1, "shards"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.runPack(cmd.Context(), args, out)
		},
	}
	cmd.Flags().StringVarP(&out, "output", "o", "", "the new file")
	_ = cmd.MarkFlagRequired("output")
	return cmd
}

func (a group) runPack(ctx context.Context, locations []string, out string) (err error) {
	if err := files.CheckOutput(out, a.Force); err != nil {
		return err
	}
	var shards []*shard.Shard
	defer func() { err = errors.Join(err, seq.CloseAll(shards)) }()
	for _, location := range locations {
		file, name := formats.All().SplitTable(location)
		found, err := shard.Directories(ctx, file, name, shard.OpenOptions{})
		if err != nil {
			return inputs.Missing(location, err)
		}
		for i := range found {
			s, err := shard.Open(ctx, file, shard.OpenOptions{Directory: &found[i], Policy: a.Policy})
			if err != nil {
				return err
			}
			shards = append(shards, s)
		}
	}
	return files.CreateError(out, shard.Pack(ctx, out, shard.PackOptions{Overwrite: a.Force}, shards...))
}
