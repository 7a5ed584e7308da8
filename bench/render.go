package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"regexp"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"

	"github.com/amudai/amudai-go/bench/report"
	"github.com/amudai/amudai-go/internal/bench/measure"
)

// figuresBlock is a part of a document that is made of figures:
//
//	<!-- figures NAME -->
//	a table
//	<!-- end of figures -->
//
// NAME is overview, texts, unseen, or that of a data set.
var figuresBlock = regexp.MustCompile(`(?s)(<!-- figures (\S+) -->\n).*?(<!-- end of figures -->)`)

// renderFiles writes the figures of a file of -json into the documents that have blocks for them.
func renderFiles(paths []string) error {
	if len(paths) < 2 {
		return errors.New("-render FIGURES.json DOCUMENT.md...")
	}
	results, err := measure.Load[*measure.Result](paths[0])
	if err != nil {
		return err
	}
	for _, path := range paths[1:] {
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		rendered, err := render(text, results)
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		if err := os.WriteFile(path, rendered, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// render is a document with new figures in all its blocks.
func render(text []byte, results []*measure.Result) ([]byte, error) {
	var missing []error
	text = figuresBlock.ReplaceAllFunc(text, func(block []byte) []byte {
		parts := figuresBlock.FindSubmatch(block)
		body := tableOf(string(parts[2]), results)
		if body == "" {
			missing = append(missing, fmt.Errorf("there are no figures of %q", parts[2]))
		}
		return []byte(string(parts[1]) + strings.TrimLeft(body, "\n") + string(parts[3]))
	})
	return text, errors.Join(missing...)
}

// tableOf is the content of a block, "" if there are no figures for it.
func tableOf(name string, results []*measure.Result) string {
	var b bytes.Buffer
	switch name {
	case "overview":
		printOverview(&b, results)
	case "texts":
		printTexts(&b, results)
	case "unseen":
		printUnseen(&b, results)
	default:
		for _, r := range results {
			if r.Set == name {
				printResult(&b, r)
			}
		}
	}
	return b.String()
}

// overviewRow is a row of the table that shows why the format is worth having.
type overviewRow struct{ title, set, profile string }

var overviewRows = []overviewRow{
	{"3 million flights", "flights", balanced},
	{"TPC-H lineitem, 6 million rows", "lineitem", balanced},
	{"2 million log lines", "logs", balanced},
	{"50,000 columns of 100 rows", "wide", balanced},
	{"*lineitem in profile MinimalSize*", "lineitem", minimalSize},
}

var overviewOps = []string{measure.OpSize, measure.OpWrite, measure.OpScan, measure.OpProject, measure.OpTake}

// printOverview writes the figures of the newest edition as ratios to the base: of whole tables, and of columns of texts their median and worst.
func printOverview(b *bytes.Buffer, results []*measure.Result) {
	t := report.Table(table.Row{"edition 2026, profile Balanced", "size", "write", "full scan", "some columns", "1,000 random rows"})
	some := false
	for _, o := range overviewRows {
		for _, r := range results {
			if r.Set != o.set {
				continue
			}
			row := table.Row{o.title}
			for _, op := range overviewOps {
				s := r.Stat(ours+o.profile, op, baseName)
				if op == measure.OpProject && !s.Known { // a column of a wide table
					s = r.Stat(ours+o.profile, measure.OpOpen, baseName)
				}
				row = append(row, shortRatio(s.Median))
			}
			t.AppendRow(row)
			some = true
		}
	}
	for _, held := range []bool{false, true} {
		list, title := textsOf(results, held), "columns of %d,%03d texts"
		if held {
			title = "more of %d,%03d that nothing was tuned on"
		}
		if len(list) == 0 {
			continue
		}
		median, worst := table.Row{fmt.Sprintf("%d "+title+", median", len(list), list[0].Rows/1000, list[0].Rows%1000)}, table.Row{"*the worst of them*"}
		for _, op := range overviewOps {
			ratios := ratiosOf(list, textColumn{contender: ours + balanced, op: op})
			median = append(median, shortRatio(measure.Median(ratios)))
			most := 0.0
			for _, v := range ratios {
				most = max(most, v)
			}
			worst = append(worst, shortRatio(most))
		}
		t.AppendRows([]table.Row{median, worst})
		some = true
	}
	if some {
		fmt.Fprintf(b, "%s\n", t.RenderMarkdown())
	}
}
