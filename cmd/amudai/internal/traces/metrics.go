package traces

import (
	"context"
	"encoding/json"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/amudai/amudai-go/cmd/amudai/internal/app"
	"github.com/amudai/amudai-go/cmd/amudai/internal/terminal"
	"github.com/amudai/amudai-go/cmd/amudai/internal/usage"
	"github.com/amudai/amudai-go/traceql"
)

// runMetrics prints the time series of a query.
func (a group) runMetrics(ctx context.Context, q *traceql.Query, sources []traceql.Source, f queryFlags) (err error) {
	if f.explain || f.analyze {
		return usage.Errorf("leave out the function at its end", "--explain and --analyze are about queries that find traces")
	}
	o := f.metrics
	if o.Step < 0 || o.Exemplars < 0 {
		return usage.Errorf("", "--step and --exemplars need a value above 0")
	}
	if o.Start, err = justBefore(f.since); err != nil {
		return err
	}
	if o.End, err = justBefore(f.until); err != nil {
		return err
	}
	list, err := traceql.Metrics(ctx, q, sources, o)
	if err != nil {
		return err
	}
	if len(list) == 0 {
		return app.Printed{Code: app.ExitFailure, Text: "nothing found"}
	}
	switch {
	case f.prometheus:
		return a.printJSON(prometheus(list))
	case a.Width == 0 || f.json:
		return a.printJSON(map[string]any{"series": list})
	}
	a.printSeries(list)
	return nil
}

// justBefore is the nanosecond before a time of --since or --until, as the bounds of metrics are the ends of intervals.
func justBefore(flag any) (time.Time, error) {
	switch v := flag.(type) {
	case time.Time:
		return v.Add(-1), nil
	case string:
		t, err := arrow.TimestampFromString(v, arrow.Nanosecond)
		return t.ToTime(arrow.Nanosecond).Add(-1), err
	}
	return time.Time{}, nil
}

func (a group) printJSON(v any) error {
	line, err := json.Marshal(v)
	if err != nil {
		return err
	}
	_, err = a.Stdout.Write(append(line, '\n'))
	return err
}

// prometheus are time series in the form of Prometheus' API: a matrix, or a vector of instants.
func prometheus(list []traceql.TimeSeries) any {
	type metric struct {
		Labels map[string]string `json:"metric"`
		Values [][2]any          `json:"values,omitzero"`
		Value  *[2]any           `json:"value,omitempty"`
	}
	result, form := []metric{}, "matrix"
	for _, s := range list {
		m := metric{map[string]string{}, [][2]any{}, nil}
		for _, l := range s.Labels {
			m.Labels[l.Name] = l.Value.Plain()
		}
		for _, x := range s.Samples {
			m.Values = append(m.Values, [2]any{float64(x.Time.UnixMilli()) / 1e3, strconv.FormatFloat(x.Value, 'g', -1, 64)})
		}
		if s.Instant {
			if form = "vector"; len(m.Values) == 0 {
				continue
			}
			m.Value, m.Values = &m.Values[0], nil
		}
		result = append(result, m)
	}
	return map[string]any{"status": "success", "data": map[string]any{"resultType": form, "result": result}}
}

// Widths of charts.
const (
	widestChart    = 60
	narrowestChart = 10
	numbersWidth   = 32 // of the columns beside a chart
	barsOfASeries  = 40 // samples of a single series that have a line each
)

// printSeries prints a chart of each series, or a line for each sample if there is only one with a few.
func (a group) printSeries(list []traceql.TimeSeries) {
	first, last := time.Time{}, time.Time{}
	most := 0
	for _, s := range list {
		if n := len(s.Samples); n > 0 {
			if first.IsZero() || s.Samples[0].Time.Before(first) {
				first = s.Samples[0].Time
			}
			if s.Samples[n-1].Time.After(last) {
				last = s.Samples[n-1].Time
			}
			most = max(most, n)
		}
	}
	if len(list) == 1 && most <= barsOfASeries && most > 1 {
		a.printSamples(list[0])
		return
	}
	t := terminal.NewTable().Text("series").Numbers("least", "last", "greatest")
	t.Narrowest = 12
	if most > 1 {
		t.Text("chart")
	}
	width := widestChart
	for _, s := range list {
		width = min(width, a.Width-terminal.Width(labelsOf(s))-numbersWidth)
	}
	for _, s := range list {
		values := make([]float64, len(s.Samples))
		for i, x := range s.Samples {
			values[i] = x.Value
		}
		if len(values) == 0 {
			t.Texts(labelsOf(s))
			continue
		}
		t.Texts(labelsOf(s), number(slices.Min(values)), number(values[len(values)-1]), number(slices.Max(values)), chart(s, first, last, max(width, narrowestChart)))
	}
	a.Out.Table(t, "")
	if most > 1 {
		const layout = "2006-01-02T15:04:05.999Z07:00"
		a.Out.Printf("%s\n", a.Out.Paint(terminal.Dim, "charts are from "+first.UTC().Format(layout)+" to "+last.UTC().Format(layout)))
	}
}

// chart draws the samples of a series at their places between two times. The greatest of several at a place is drawn.
func chart(s traceql.TimeSeries, first, last time.Time, width int) string {
	values := make([]float64, width)
	for _, x := range s.Samples {
		at := int(float64(x.Time.Sub(first)) / float64(last.Sub(first)+1) * float64(width))
		values[at] = max(values[at], x.Value)
	}
	return strings.TrimRight(terminal.Spark(values, false), " ")
}

// printSamples prints a line with a bar for each sample.
func (a group) printSamples(s traceql.TimeSeries) {
	a.Out.Printf("%s\n", a.Out.Paint(terminal.Bold, labelsOf(s)))
	most := 0.0
	for _, x := range s.Samples {
		most = max(most, x.Value)
	}
	t := terminal.NewTable().Text("time").Numbers("value").Text("")
	for _, x := range s.Samples {
		t.Texts(x.Time.Format("2006-01-02T15:04:05.999Z"), number(x.Value), terminal.Bar(max(x.Value, 0), most, min(widestChart, a.Width-numbersWidth)))
	}
	a.Out.Table(t, "")
}

func labelsOf(s traceql.TimeSeries) string {
	if len(s.Labels) == 1 && s.Labels[0].Name == "__name__" {
		return s.Labels[0].Value.Plain()
	}
	return attributes(s.Labels)
}

// number is a number for people: with four digits.
func number(v float64) string {
	if v == math.Trunc(v) && math.Abs(v) < 1e15 {
		return terminal.Count(int64(v))
	}
	return strconv.FormatFloat(v, 'g', 4, 64)
}
