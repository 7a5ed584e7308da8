package change

import (
	"context"
	"errors"
	"time"

	"github.com/spf13/cobra"

	"github.com/amudai/amudai-go/cmd/amudai/internal/app"
	"github.com/amudai/amudai-go/cmd/amudai/internal/files"
	"github.com/amudai/amudai-go/cmd/amudai/internal/formats"
	"github.com/amudai/amudai-go/cmd/amudai/internal/terminal"
	"github.com/amudai/amudai-go/cmd/amudai/internal/usage"
	"github.com/amudai/amudai-go/shard"
)

// versionInfo is a version of a shard in JSON.
type versionInfo struct {
	Version int64     `json:"version"`
	Time    time.Time `json:"time"`
	Rows    int64     `json:"rows"` // that are shown
	Deleted int64     `json:"deleted"`
	Change  string    `json:"change,omitempty"`
}

func (a group) log() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "log SHARD",
		Short: "List the versions of a shard that can be read",
		Long: `log lists the versions of a shard, the newest first: the number, the time, the rows, and what was changed. Earlier versions are there if the
shard keeps them, as amudai keep tells it. The flag --at of commands that read shards chooses one, by number or time, and amudai restore brings it back.`,
		Example: "  amudai log flights.amudai.shard\n  amudai count flights.amudai.shard --at 3",
		Args:    app.Wants(1, 1, "one shard"),
		RunE:    func(cmd *cobra.Command, args []string) error { return a.runLog(cmd.Context(), args[0]) },
	}
	cmd.Flags().BoolVar(a.json, "json", false, "print JSON")
	return cmd
}

func (a group) runLog(ctx context.Context, location string) error {
	all, err := a.versions(ctx, location, formats.At{})
	if err != nil {
		return err
	}
	infos := []versionInfo{}
	for _, v := range all {
		infos = append(infos, versionInfo{v.Number, v.Time.UTC(), v.Rows - v.Deleted, v.Deleted, v.Change})
	}
	if *a.json {
		return terminal.JSON(a.Stdout, infos)
	}
	t := terminal.NewTable().Numbers("version").Text("time").Numbers("rows", "deleted").Text("change")
	for _, v := range infos {
		t.Row(v.Version, v.Time.Format(time.DateTime), terminal.Count(v.Rows), terminal.Count(v.Deleted), v.Change)
	}
	a.Out.Table(t, "")
	return nil
}

func (a group) keep() *cobra.Command {
	var versions int
	var age time.Duration
	cmd := &cobra.Command{
		Use:   "keep SHARD --versions N",
		Short: "Say how many earlier versions a shard keeps",
		Long: `keep has a shard keep its last earlier versions from now on, of which each change makes one. 0 keeps none. A version takes the space of its
metadata, and of the data that only it refers to. amudai gc removes what no version needs.`,
		Example: "  amudai keep flights.amudai.shard --versions 10\n  amudai keep flights.amudai.shard --versions 100 --age 720h",
		Args:    app.Wants(1, 1, "one shard"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if !cmd.Flags().Changed("versions") {
				return usage.Errorf("--versions 10, for example", "say how many versions to keep")
			}
			if err := files.CheckShard(args[0]); err != nil {
				return err
			}
			return shard.KeepVersions(cmd.Context(), args[0], shard.EditOptions{Open: shard.OpenOptions{Policy: a.Policy}}, versions, age)
		},
	}
	cmd.Flags().IntVar(&versions, "versions", 0, "the number of earlier versions")
	cmd.Flags().DurationVar(&age, "age", 0, "only versions up to this age, such as 720h (default: of any age)")
	return cmd
}

func (a group) restore() *cobra.Command {
	var at formats.At
	cmd := &cobra.Command{
		Use:     "restore SHARD --at VERSION",
		Short:   "Bring back an earlier version of a shard",
		Long:    `restore makes an earlier version of a shard the newest one. The versions after it stay, as far as the shard keeps them.`,
		Example: "  amudai restore flights.amudai.shard --at 3",
		Args:    app.Wants(1, 1, "one shard"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if at == (formats.At{}) {
				return usage.Errorf("amudai log lists the versions", "--at says which version to restore")
			}
			return a.runRestore(cmd.Context(), args[0], at)
		},
	}
	usage.Parsed(cmd, &at, "at", "", "the version, by its number or a time", formats.ParseAt)
	return cmd
}

func (a group) runRestore(ctx context.Context, location string, at formats.At) error {
	all, err := a.versions(ctx, location, at)
	if err != nil {
		return err
	}
	version := all[0].Number
	if err := files.CheckShard(location); err != nil {
		return err
	}
	if err := shard.Restore(ctx, location, shard.EditOptions{Open: shard.OpenOptions{Policy: a.Policy}}, version); err != nil {
		return err
	}
	if a.Summarizes() {
		return a.Errs.Printf("%s: version %d is restored\n", location, version)
	}
	return nil
}

// versions are those that can be read from one of a shard on, the newest first.
func (a group) versions(ctx context.Context, location string, at formats.At) ([]shard.Version, error) {
	s, err := a.Opener.Shard(ctx, location, shard.OpenOptions{Version: at.Version, AsOf: at.Time})
	if err != nil {
		return nil, err
	}
	all, err := s.Versions(ctx)
	return all, errors.Join(err, s.Close())
}
