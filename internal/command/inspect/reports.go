package inspect

import (
	"errors"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/command/terminal"
	"github.com/amudai/amudai-go/shard"
	"github.com/amudai/amudai-go/table"
)

// Verdict prints the outcome of a verification with the numbers of checked elements.
func Verdict(out terminal.Screen, location string, r *shard.Report, metadataOnly bool) error {
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
	add(r.Indexes, "index")
	add(r.Filters, "filter")
	add(r.Sketches, "sketch")
	add(r.Statistics, "descriptor")
	return verdict(out, location, len(r.Problems), r.Truncated, metadataOnly, parts, r.Unchecked)
}

// TableVerdict prints the outcome of the verification of a format other than shards.
func TableVerdict(out terminal.Screen, location string, r *table.Report, metadataOnly bool) error {
	var parts []string
	for _, c := range r.Checked {
		parts = append(parts, terminal.Plural(c.N, c.Name))
	}
	return verdict(out, location, len(r.Problems), r.Truncated, metadataOnly, parts, r.Unchecked)
}

func verdict(out terminal.Screen, location string, problems int, truncated, metadataOnly bool, parts []string, unchecked int) error {
	outcome := out.Paint(terminal.Green, "sound")
	switch {
	case truncated:
		outcome = out.Paint(terminal.Red, "more than "+terminal.Plural(problems, "problem"))
	case problems > 0:
		outcome = out.Paint(terminal.Red, terminal.Plural(problems, "problem"))
	case metadataOnly:
		outcome = out.Paint(terminal.Green, "metadata sound")
	}
	checked := "nothing could be checked"
	if len(parts) > 0 {
		checked = "checked " + strings.Join(parts, ", ")
	}
	if unchecked > 0 {
		checked += "; " + terminal.Count(unchecked) + " could not be checked, see the notes"
	}
	return out.Printf("%s: %s; %s\n", location, outcome, checked)
}

// Findings are the errors of a report of any format.
func Findings(errs []error) []shard.Finding {
	list := make([]shard.Finding, len(errs))
	for i, err := range errs {
		list[i].Err = err
	}
	return list
}

// TableReportJSON prints the report of the verification of a format other than shards for programs.
func TableReportJSON(out io.Writer, location string, r *table.Report) error {
	checked := map[string]any{}
	for _, c := range r.Checked {
		checked[strings.ReplaceAll(c.Name, " ", "_")] = c.N
	}
	return terminal.JSON(out, map[string]any{
		"location": location, "sound": r.OK(), "truncated": r.Truncated,
		"problems": findings(Findings(r.Problems)), "notes": findings(Findings(r.Notes)), "checked": checked, "unchecked": r.Unchecked,
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

// VerifyJSON prints the report of a verification for programs.
func VerifyJSON(out io.Writer, location string, r *shard.Report) error {
	return terminal.JSON(out, map[string]any{
		"location": location, "sound": r.OK(), "truncated": r.Truncated,
		"problems": findings(r.Problems), "notes": findings(r.Notes),
		"checked": map[string]any{
			"stripes": r.Stripes, "columns": r.Columns, "messages": r.Messages, "buffers": r.Buffers, "blocks": r.Blocks,
			"values": r.Values, "dictionaries": r.Dictionaries, "range_indexes": r.RangeIndexes, "indexes": r.Indexes, "filters": r.Filters,
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

// problemLines is the maximum number of problems listed for a lost stripe.
const problemLines = 3

// RecoverText lists the stripes found and lost, and those saved if the new shard at path is complete.
func RecoverText(out terminal.Screen, path string, r *shard.RecoverReport, done bool) {
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
			out.Printf("      %s\n", terminal.OneLine(p.String()))
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
		out.Printf("saved %s of %d found, %s, in %s\n", terminal.Plural(r.Saved, "stripe"), r.Found, terminal.Plural(r.Rows, "row"), path)
	}
}

// RecoverJSON prints the report of a recovery to path, which returned err, for programs.
func RecoverJSON(out io.Writer, path string, r *shard.RecoverReport, err error) error {
	lost := []map[string]any{}
	for _, l := range r.Lost {
		lost = append(lost, map[string]any{"stripe": l.Stripe, "rows": l.Rows, "problems": findings(l.Problems)})
	}
	j := map[string]any{
		"out": path, "found": r.Found, "saved": r.Saved, "rows": r.Rows, "unfinished": r.Unfinished,
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
