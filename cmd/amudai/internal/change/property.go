package change

import (
	"context"
	"errors"
	"strings"

	"github.com/spf13/cobra"

	"github.com/amudai/amudai-go/cmd/amudai/internal/app"
	"github.com/amudai/amudai-go/cmd/amudai/internal/terminal"
	"github.com/amudai/amudai-go/cmd/amudai/internal/usage"
	"github.com/amudai/amudai-go/shard"
)

func (a group) columnSet() *cobra.Command {
	var o shard.EditOptions
	var drop []string
	cmd := &cobra.Command{
		Use:   "set SHARD [COLUMN] [NAME=VALUE]...",
		Short: "Set, drop or print the properties of a column, or of the shard",
		Long: `set gives a column properties, such as a comment or a unit, or without COLUMN the shard itself. Values are text. Only metadata are written. Without NAME=VALUE and --drop
it prints the properties that there are. amudai inspect -v shows those of all columns.`,
		Example: `  amudai column set orders.amudai.shard price 'comment=without tax' unit=EUR
  amudai column set orders.amudai.shard owner=sales --drop draft
  amudai column set orders.amudai.shard price`,
		Args: app.Wants(1, -1, "one shard"),
		RunE: func(cmd *cobra.Command, args []string) error {
			location, args, column := args[0], args[1:], ""
			if len(args) > 0 && !strings.Contains(args[0], "=") {
				column, args = args[0], args[1:]
			}
			changes, names, err := propertyChanges(column, args, drop)
			switch {
			case err != nil:
				return err
			case len(changes) == 0:
				return a.printProperties(cmd.Context(), location, column)
			}
			did := "change " + strings.Join(names, ", ") + " of the shard"
			if column != "" {
				did = "change " + strings.Join(names, ", ") + " of " + column
			}
			return a.edit(cmd.Context(), location, o, did, changes...)
		},
	}
	cmd.Flags().StringSliceVar(&drop, "drop", nil, "properties to remove, by name")
	a.edits(cmd, &o, false)
	return cmd
}

// propertyChanges set and remove properties of a column, or of the shard for "".
func propertyChanges(column string, set, drop []string) (changes []shard.Change, names []string, err error) {
	for _, arg := range set {
		name, value, ok := strings.Cut(arg, "=")
		if !ok || name == "" {
			return nil, nil, usage.Errorf("unit=EUR, for example", "%q needs the form NAME=VALUE", arg)
		}
		names = append(names, name)
		if column == "" {
			changes = append(changes, shard.SetProperty(name, value))
		} else {
			changes = append(changes, shard.SetColumnProperty(column, name, value))
		}
	}
	for _, name := range drop {
		names = append(names, name)
		if column == "" {
			changes = append(changes, shard.DropProperty(name))
		} else {
			changes = append(changes, shard.DropColumnProperty(column, name))
		}
	}
	return changes, names, nil
}

func (a group) printProperties(ctx context.Context, location, column string) (err error) {
	s, err := a.Opener.Shard(ctx, location, shard.OpenOptions{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	var all []shard.Property
	if column == "" {
		var p *shard.Properties
		if p, err = s.Properties(ctx); err == nil {
			all = p.Custom
		}
	} else {
		_, all, err = s.FieldProperties(ctx, column)
	}
	if err != nil {
		return err
	}
	if *a.json {
		facts := map[string]any{}
		for _, p := range all {
			facts[p.Name] = shard.PlainValue(p.Value)
		}
		return terminal.JSON(a.Stdout, facts)
	}
	t := terminal.NewTable().Text("property", "value")
	for _, p := range all {
		t.Row(p.Name, shard.PlainValue(p.Value))
	}
	a.Out.Table(t, "")
	return nil
}
