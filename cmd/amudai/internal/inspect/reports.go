package inspect

import (
	"errors"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/amudai/amudai-go/cmd/amudai/internal/terminal"
	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/text"
	"github.com/amudai/amudai-go/shard"
	"github.com/amudai/amudai-go/table/provider"
)

// verdict prints the outcome of a verification with the numbers of checked elements.
func verdict(out terminal.Screen, location string, r *provider.Report, metadataOnly bool) error {
	outcome := out.Paint(terminal.Green, "sound")
	switch {
	case r.Truncated:
		outcome = out.Paint(terminal.Red, "more than "+terminal.Plural(len(r.Problems), "problem"))
	case len(r.Problems) > 0:
		outcome = out.Paint(terminal.Red, terminal.Plural(len(r.Problems), "problem"))
	case r.Unchecked > 0:
		outcome = out.Paint(terminal.Red, "not fully checked")
	case metadataOnly:
		outcome = out.Paint(terminal.Green, "metadata sound")
	}
	var parts []string
	for _, c := range r.Checked {
		if c.N > 0 {
			parts = append(parts, terminal.Plural(c.N, c.Name))
		}
	}
	checked := "nothing could be checked"
	if len(parts) > 0 {
		checked = "checked " + strings.Join(parts, ", ")
	}
	if r.Unchecked > 0 {
		checked += "; " + terminal.Count(r.Unchecked) + " could not be checked, see the notes"
	}
	return out.Printf("%s: %s; %s\n", location, outcome, checked)
}

// verifyJSON prints the report of a verification for programs.
func verifyJSON(out io.Writer, location string, r *provider.Report) error {
	checked := map[string]int64{}
	for _, c := range r.Checked {
		checked[strings.ReplaceAll(text.Plural(2, c.Name), " ", "_")] = c.N
	}
	return terminal.JSON(out, map[string]any{
		"location": location, "sound": r.OK(), "truncated": r.Truncated,
		"problems": findings(r.Problems), "notes": findings(r.Notes), "checked": checked, "unchecked": r.Unchecked,
	})
}

// findingJSON is a finding for programs.
type findingJSON struct {
	Text     string `json:"text"`
	Artifact string `json:"artifact,omitempty"`
	Element  string `json:"element,omitempty"` // the complete place; the next four fields are its parts
	Stripe   *int   `json:"stripe,omitempty"`
	Column   string `json:"column,omitempty"`
	Buffer   string `json:"buffer,omitempty"`
	Block    *int   `json:"block,omitempty"`
	Offset   *int64 `json:"offset,omitempty"`
}

func findings(list []error) []findingJSON {
	out := []findingJSON{}
	for _, err := range list {
		j := findingJSON{Text: terminal.OneLine(err.Error())}
		var e *fault.Error
		if errors.As(err, &e) {
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

// problemLines is the maximum number of problems listed for a lost stripe.
const problemLines = 3

// recoverText lists the stripes found and lost, and those saved if the new shard at path is complete.
func recoverText(out terminal.Screen, path string, r *shard.RecoverReport, done bool) {
	if r.OpenErr != nil {
		out.Printf("the end of the shard is damaged: %s\n", terminal.OneLine(r.OpenErr.Error()))
	}
	for _, l := range r.Lost {
		out.Printf("%s stripe %d with %s\n", out.Paint(terminal.Red, "lost:"), l.Stripe, terminal.Plural(l.Rows, "row"))
		for i, p := range l.Problems {
			if i == problemLines {
				out.Printf("      and %s\n", terminal.Plural(len(l.Problems)-i, "more problem"))
				break
			}
			out.Printf("      %s\n", terminal.OneLine(p.Error()))
		}
	}
	if len(r.Missing) > 0 {
		names := make([]string, len(r.Missing))
		for i, m := range r.Missing {
			names[i] = strconv.Itoa(m)
		}
		out.Printf("%s nothing is left of stripe %s\n", out.Paint(terminal.Red, "lost:"), strings.Join(names, ", "))
	}
	if r.Damaged > 0 {
		out.Printf("%s damaged\n", terminal.Plural(r.Damaged, "recovery record"))
	}
	if r.Left > 0 && !r.Complete {
		out.Printf("%s %s behind the last stripe that was found: probably of an incomplete stripe\n",
			out.Paint(terminal.Red, "left over:"), terminal.Plural(r.Left, "byte"))
	}
	if done {
		of := ""
		if r.Shards > 1 {
			of = terminal.Plural(r.Shards, "shard") + " with "
		}
		out.Printf("saved %s%s of %d found, %s, in %s\n", of, terminal.Plural(r.Saved, "stripe"), r.Found, terminal.Plural(r.Rows, "row"), path)
	}
}

// recoverJSON prints the report of a recovery to path, which returned err, for programs.
func recoverJSON(out io.Writer, path string, r *shard.RecoverReport, err error) error {
	lost := []map[string]any{}
	for _, l := range r.Lost {
		lost = append(lost, map[string]any{"stripe": l.Stripe, "rows": l.Rows, "problems": findings(l.Problems)})
	}
	j := map[string]any{
		"out": path, "shards": r.Shards, "found": r.Found, "saved": r.Saved, "rows": r.Rows, "unfinished": r.Unfinished,
		"lost": lost, "missing": slices.Clip(append([]int{}, r.Missing...)), "damaged_records": r.Damaged,
		"left_bytes": r.Left, "complete": r.Complete || !r.Unfinished,
	}
	if r.OpenErr != nil {
		j["end"] = terminal.OneLine(r.OpenErr.Error())
	}
	if err != nil {
		j["error"] = terminal.OneLine(err.Error())
	}
	return terminal.JSON(out, j)
}
