package change

import (
	"context"
	"errors"
	"strings"

	"github.com/amudai/amudai-go/cmd/amudai/internal/files"
	"github.com/amudai/amudai-go/cmd/amudai/internal/formats"
	"github.com/amudai/amudai-go/cmd/amudai/internal/terminal"
	"github.com/amudai/amudai-go/cmd/amudai/internal/usage"
	"github.com/amudai/amudai-go/rntuple"
)

// mergeNTuples merges the ntuples of ROOT files.
func (a group) mergeNTuples(ctx context.Context, locations []string, output string, o rntuple.MergeOptions) error {
	if err := files.CheckOutput(output, a.Force || o.Append); err != nil {
		return err
	}
	all, err := a.Opener.Inputs(ctx, locations, &formats.ReadFlags{From: formats.NTuple})
	if err != nil {
		return err
	}
	for _, location := range all {
		if file, name, ok := strings.Cut(location, ".root:"); ok {
			return usage.Errorf("--table "+name, "merge takes files as a whole: %s.root", file)
		}
		if location == "-" {
			return usage.Errorf("save it to a file first", "merge reads no standard input")
		}
	}
	p := terminal.Start(a.Bars(), "rows")
	o.Overwrite, o.Progress = a.Force, p.Set
	r, err := rntuple.Merge(ctx, output, all, o)
	if err = errors.Join(err, p.End()); err != nil {
		return err
	}
	if len(r.Missing) > 0 {
		a.Noticef("some files lack %s: their entries have zeros there", strings.Join(r.Missing, ", "))
	}
	if len(r.LeftOut) > 0 {
		a.Noticef("left out, as only ntuples are merged: %s", strings.Join(r.LeftOut, ", "))
	}
	to := " → "
	if o.Append {
		to = " behind "
	}
	did := terminal.Plural(len(all), "file") + to + output + ": " + terminal.Plural(len(r.NTuples), "ntuple") + ", " + terminal.Plural(int(r.Entries), "row")
	if !o.DryRun {
		did += "; " + terminal.Plural(int(r.Copied), "page") + " copied, " + terminal.Count(r.Encoded) + " packed anew"
	}
	return a.report(o.DryRun, map[string]any{
		"location": output, "files": len(all), "ntuples": list(r.NTuples), "rows": r.Entries, "copied_pages": r.Copied, "encoded_pages": r.Encoded,
		"missing": list(r.Missing), "left_out": list(r.LeftOut),
	}, did)
}
