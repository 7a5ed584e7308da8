// Package plan prints how an engine can divide the reading of tables: their stripes, the rows and bytes that a condition
// leaves of each, and what is recorded of the columns.
package plan

import (
	"bytes"
	"errors"
	"strconv"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/spf13/cobra"

	"github.com/amudai/amudai-go/cmd/amudai/internal/app"
	"github.com/amudai/amudai-go/cmd/amudai/internal/formats"
	"github.com/amudai/amudai-go/cmd/amudai/internal/terminal"
	"github.com/amudai/amudai-go/internal/text"
	"github.com/amudai/amudai-go/internal/text/values"
	"github.com/amudai/amudai-go/storage"
	"github.com/amudai/amudai-go/table"
)

// Version is that of the JSON of a [Plan]. Fields may be added to it, not changed.
const Version = 1

// Plan describes the reading of inputs as one table. The names of its JSON are in docs/engines.md.
type Plan struct {
	Version     int     `json:"version"`
	Rows        *int64  `json:"rows"` // of all inputs, without hidden ones; nil if one of them does not record them
	Bytes       *int64  `json:"bytes"`
	Schema      []Field `json:"schema"`
	ArrowSchema []byte  `json:"arrow_schema"` // an IPC stream without batches
	Inputs      []Input `json:"inputs"`
}

// Field is a column of the result.
type Field struct {
	Name     string `json:"name"`
	Type     string `json:"type"`
	Nullable bool   `json:"nullable"`
}

// Input is one of the inputs.
type Input struct {
	Location   string   `json:"location"`
	Format     string   `json:"format"`
	Identity   string   `json:"identity,omitempty"` // of its bytes, as far as the store knows it
	Rows       *int64   `json:"rows"`               // without hidden ones
	Bytes      *int64   `json:"bytes"`
	Stripes    []Stripe `json:"stripes"`
	Statistics []Column `json:"statistics"`
}

// Stripe is a part of an input that can be read alone. A format without parts has one.
type Stripe struct {
	Stripe   int    `json:"stripe"`
	FirstRow int64  `json:"first_row"` // of the input
	Rows     *int64 `json:"rows"`      // that have numbers, hidden ones included
	// SelectedRows is the most rows that the condition leaves, SelectedBytes what the columns take that are read for them.
	SelectedRows  *int64 `json:"selected_rows"`
	SelectedBytes *int64 `json:"selected_bytes"`
}

// Column is what an input records of a column. Nil numbers are not recorded.
type Column struct {
	Column           string `json:"column"`
	Type             string `json:"type"`
	Nulls            *int64 `json:"nulls"`
	Distinct         *int64 `json:"distinct"`
	DistinctEstimate bool   `json:"distinct_is_estimate,omitempty"`
	Min              value  `json:"min"`
	Max              value  `json:"max"`
	Exact            bool   `json:"exact"` // min and max are values of the column, not only bounds
	Bytes            *int64 `json:"bytes"`
}

// value is the first value of an array as JSON.
type value struct{ arrow.Array }

// MarshalJSON implements [encoding/json.Marshaler].
func (v value) MarshalJSON() ([]byte, error) {
	if v.Array == nil {
		return []byte("null"), nil
	}
	return values.JSON(v.Array)(nil, 0), nil
}

// Of is the plan of a table as it is printed.
func Of(t *table.Plan) (*Plan, error) {
	out := &Plan{Version: Version, Schema: []Field{}, Inputs: make([]Input, len(t.Parts))}
	for _, f := range t.Schema.Fields() {
		out.Schema = append(out.Schema, Field{f.Name, text.Type(f.Type), f.Nullable})
	}
	var stream bytes.Buffer
	w := ipc.NewWriter(&stream, ipc.WithSchema(t.Schema))
	if err := w.Close(); err != nil {
		return nil, err
	}
	out.ArrowSchema = stream.Bytes()
	for i := range t.Parts {
		out.Inputs[i] = inputOf(&t.Parts[i])
	}
	out.sum()
	return out, nil
}

// sum adds up rows and bytes, if all are known.
func (p *Plan) sum() {
	rows, bytes := int64(0), int64(0)
	p.Rows, p.Bytes = &rows, &bytes
	for _, in := range p.Inputs {
		if in.Rows == nil {
			p.Rows = nil
		} else {
			rows += *in.Rows
		}
		if in.Bytes == nil {
			p.Bytes = nil
		} else {
			bytes += *in.Bytes
		}
	}
}

func inputOf(p *table.Part) Input {
	in := Input{Location: p.Location, Format: p.Format.Name, Identity: string(p.Version), Bytes: known(p.Bytes), Statistics: []Column{}}
	x := p.Explanation
	if x == nil {
		in.Stripes = []Stripe{{SelectedBytes: in.Bytes}}
		return in
	}
	rows := int64(0)
	in.Rows, in.Bytes, in.Stripes = &rows, &x.Bytes, []Stripe{}
	for i := range x.Stripes {
		s := &x.Stripes[i]
		rows += s.Rows - s.Hidden
		left := s.Left()
		in.Stripes = append(in.Stripes, Stripe{s.Stripe, s.First, &s.Rows, &left, &s.Bytes})
	}
	if p.Statistics == nil {
		return in
	}
	hidden := p.Statistics.Hidden > 0
	for _, c := range p.Statistics.Columns {
		nulls := c.Nulls
		if hidden && nulls > 0 { // some may be in hidden rows
			nulls = -1
		}
		in.Statistics = append(in.Statistics, Column{
			Column: c.Path, Type: text.Type(c.Type), Nulls: known(nulls), Distinct: known(c.Distinct), DistinctEstimate: c.DistinctEstimated || hidden,
			Min: value{c.Min}, Max: value{c.Max}, Exact: c.Exact, Bytes: known(c.Bytes),
		})
	}
	return in
}

// known is a number that is negative if it is not known.
func known(n int64) *int64 {
	if n < 0 {
		return nil
	}
	return &n
}

// Text prints the stripes as a table for people.
func (p *Plan) Text(out terminal.Screen) {
	t := terminal.NewTable().Text("input").Numbers("stripe", "first row", "rows", "selected", "bytes").Optional("first row")
	for _, in := range p.Inputs {
		for _, s := range in.Stripes {
			size := "?"
			if s.SelectedBytes != nil {
				size = terminal.Size(*s.SelectedBytes)
			}
			t.Row(storage.Redact(in.Location), s.Stripe, s.FirstRow, count(s.Rows), count(s.SelectedRows), size)
		}
	}
	out.Table(t, "")
}

func count(n *int64) string {
	if n == nil {
		return "?"
	}
	return strconv.FormatInt(*n, 10)
}

type group struct{ *app.App }

// Commands make the commands of the package.
func Commands(a *app.App) []func() *cobra.Command { return []func() *cobra.Command{group{a}.plan} }

func (a group) plan() *cobra.Command {
	var t formats.TableFlags
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "plan IN...",
		Short: "Print the parts of tables that can be read apart",
		Long: `plan prints the stripes of tables, and the rows and bytes that --where and --columns leave of each, so that an engine
can divide the work: amudai cat IN --stripes 3 reads one part. The clusters of ROOT files, the row groups of Parquet and the
blocks of Blockpack are stripes, too; other formats are one part. Only metadata and indexes are read. --json adds the
schema and what is recorded of the columns; docs/engines.md describes it.`,
		Example: `  amudai plan flights.amudai.shard --where "origin = 'SFO'"
  amudai plan 'logs/*.amudai.shard' --columns time,level --json`,
		Args: app.Wants(1, -1, "one or more tables"),
		RunE: func(cmd *cobra.Command, args []string) error { return a.runPlan(cmd, args, &t, asJSON) },
	}
	t.Read.Register(cmd, true)
	t.Rows.RegisterWhere(cmd)
	cmd.Flags().BoolVar(&asJSON, "json", false, "print everything as JSON, for programs")
	return cmd
}

func (a group) runPlan(cmd *cobra.Command, args []string, t *formats.TableFlags, asJSON bool) (err error) {
	ctx := cmd.Context()
	u, err := a.Opener.Union(ctx, args, t)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, u.Close()) }()
	parts, err := u.Plan(ctx, u.Scan)
	if err != nil {
		return err
	}
	p, err := Of(parts)
	if err != nil {
		return err
	}
	if asJSON {
		return terminal.JSON(a.Stdout, p)
	}
	p.Text(a.Out)
	return nil
}
