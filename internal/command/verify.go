package command

import (
	"context"
	"errors"
	"strings"

	"github.com/spf13/cobra"

	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/command/terminal"
	"github.com/amudai/amudai-go/shard"
)

type verifyFlags struct {
	metadata, json, quiet bool
	most, parallel        int
}

func (a *app) verify() *cobra.Command {
	var f verifyFlags
	cmd := &cobra.Command{
		Use:   "verify SHARD...",
		Short: "Check shards against themselves",
		Long: `verify checks every checksum, reference, count, statistic, dictionary order, filter and index of a
shard against its data, and says what it checked. Exit code 1 means that problems were found;
each is one line with its place and offset. Notes are peculiarities that make no value wrong. A shard
that cannot be opened is an error, after which the others are checked. Standard input cannot be
verified: save it to a file first.`,
		Args: wants(1, -1, "one or more shards"),
		RunE: func(cmd *cobra.Command, args []string) error {
			failed := false
			for _, location := range args {
				ok, err := a.runVerify(cmd.Context(), location, f)
				var wrong usageError
				if errors.As(err, &wrong) || isBrokenPipe(err) || cmd.Context().Err() != nil {
					return err
				}
				if err != nil {
					a.printError(err)
				}
				failed = failed || !ok || err != nil
			}
			if failed {
				return errProblems
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&f.metadata, "metadata", false, "only the metadata, without reading the data")
	cmd.Flags().BoolVar(&f.json, "json", false, "print JSON")
	cmd.Flags().BoolVarP(&f.quiet, "quiet", "q", false, "print problems only")
	cmd.Flags().IntVar(&f.most, "max", 100, "problems after which to stop")
	cmd.Flags().IntVar(&f.parallel, "parallel", 0, "columns checked at a time (default: one per CPU)")
	return cmd
}

func (a *app) runVerify(ctx context.Context, location string, f verifyFlags) (ok bool, err error) {
	if f.most <= 0 || f.parallel < 0 {
		return false, usagef("", "--max and --parallel are numbers above 0")
	}
	if err := checkShardFile(location); err != nil {
		return false, err
	}
	p := terminal.StartColumns(a.bars(f.quiet || f.json))
	report, err := shard.Verify(ctx, location, shard.VerifyOptions{
		MetadataOnly: f.metadata, MaxFindings: f.most, Parallelism: f.parallel,
		Progress: func(done, total int) { p.Set(done, total) },
	})
	err = errors.Join(err, p.End())
	if err != nil {
		return false, missing(location, err)
	}
	if f.json {
		return report.OK(), a.verifyJSON(location, report)
	}
	for _, x := range report.Problems {
		a.out.Printf("%s %s\n", a.out.Paint(terminal.Red, "problem:"), terminal.OneLine(x.String()))
	}
	if f.quiet {
		return report.OK(), nil
	}
	for _, x := range report.Notes {
		a.out.Printf("%s %s\n", a.out.Paint(terminal.Dim, "note:"), terminal.OneLine(x.String()))
	}
	a.verdict(location, report, f)
	return report.OK(), nil
}

// verdict prints the outcome with the number of checks.
func (a *app) verdict(location string, r *shard.Report, f verifyFlags) {
	var parts []string
	add := func(n int, one string) {
		if n > 0 {
			parts = append(parts, terminal.Plural(n, one))
		}
	}
	add(r.Stripes, "stripe")
	add(r.Columns, "column")
	add(r.Messages, "message")
	add(r.Buffers, "buffer")
	add(r.Blocks, "block")
	if r.Values > 0 {
		parts = append(parts, terminal.Plural(r.Values, "value"))
	}
	add(r.Constants, "constant")
	if r.Dictionaries > 0 {
		parts = append(parts, terminal.Plural(r.Dictionaries, "dictionary"))
	}
	add(r.RangeIndexes, "range index")
	add(r.Filters, "filter")
	add(r.Sketches, "sketch")
	add(r.Statistics, "descriptor")
	outcome := a.out.Paint(terminal.Green, "sound")
	switch {
	case r.Truncated:
		outcome = a.out.Paint(terminal.Red, "more than "+terminal.Plural(len(r.Problems), "problem"))
	case !r.OK():
		outcome = a.out.Paint(terminal.Red, terminal.Plural(len(r.Problems), "problem"))
	case f.metadata:
		outcome = a.out.Paint(terminal.Green, "metadata sound")
	}
	checked := "nothing could be checked"
	if len(parts) > 0 {
		checked = "checked " + strings.Join(parts, ", ")
	}
	if r.Unchecked > 0 {
		checked += "; " + terminal.Count(r.Unchecked) + " could not be checked, see the notes"
	}
	a.out.Printf("%s: %s; %s\n", location, outcome, checked)
}

// findingJSON is a finding for programs.
type findingJSON struct {
	Text     string `json:"text"`
	Artifact string `json:"artifact,omitempty"`
	Element  string `json:"element,omitempty"` // the whole place, of which the next four are parts
	Stripe   *int   `json:"stripe,omitempty"`
	Column   string `json:"column,omitempty"`
	Buffer   string `json:"buffer,omitempty"`
	Block    *int   `json:"block,omitempty"`
	Offset   *int64 `json:"offset,omitempty"`
}

func (a *app) verifyJSON(location string, r *shard.Report) error {
	return terminal.JSON(a.Stdout, map[string]any{
		"location": location, "sound": r.OK(), "truncated": r.Truncated,
		"problems": findings(r.Problems), "notes": findings(r.Notes),
		"checked": map[string]any{
			"stripes": r.Stripes, "columns": r.Columns, "messages": r.Messages, "buffers": r.Buffers, "blocks": r.Blocks,
			"values": r.Values, "dictionaries": r.Dictionaries, "range_indexes": r.RangeIndexes, "filters": r.Filters,
			"sketches": r.Sketches, "constants": r.Constants, "descriptors": r.Statistics,
		},
		"unchecked": r.Unchecked,
	})
}

func findings(list []shard.Finding) []findingJSON {
	out := []findingJSON{}
	for _, x := range list {
		j := findingJSON{Text: terminal.OneLine(x.String())}
		var e *fault.Error
		if errors.As(x.Err, &e) {
			j.Artifact, j.Element, j.Column, j.Buffer = e.Artifact, e.Place(), e.Column, e.Buffer
			if e.Stripe >= 0 {
				j.Stripe = &e.Stripe
			}
			if e.Block >= 0 {
				j.Block = &e.Block
			}
			if e.Offset >= 0 {
				j.Offset = &e.Offset
			}
		}
		out = append(out, j)
	}
	return out
}
