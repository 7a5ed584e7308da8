package main

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/jedib0t/go-pretty/v6/table"

	"github.com/amudai/amudai-go/bench/report"
	"github.com/amudai/amudai-go/internal/bench/measure"
)

// unseen are tables of public repositories that nobody had seen before they were first measured: files below the folder of data, and titles.
var unseen = []struct{ set, title string }{
	{"unseen2/tweets", "messages"},
	{"unseen/congress", "members of a parliament by age"},
	{"unseen/raptor", "ratings of players"},
	{"unseen/birdstrikes", "birds that aircraft hit"},
	{"unseen/zipcodes", "postcodes with places"},
	{"unseen3/indicators", "indicators of countries"},
	{"unseen3/genes", "genes"},
	{"unseen3/weather", "weather"},
	{"unseen3/charges", "charges of hospitals"},
	{"unseen3/departures", "departures of planes"},
	{"unseen4/deaths", "deaths of police officers"},
	{"unseen4/polls", "polls"},
	{"unseen4/comics", "characters of comics"},
	{"unseen4/movies", "movies with ratings"},
	{"unseen4/survey", "a survey of voters, 119 columns"},
	{"unseen5/wind", "wind on a grid"},
	{"unseen5/animals", "reports of animals to a city"},
	{"unseen5/shootings", "police officers and dogs shot"},
	{"unseen5/wells", "oil and gas wells"},
	{"unseen5/quakes", "earthquakes"},
	{"unseen6/diamonds", "prices of diamonds"},
	{"unseen6/taxis", "rides in taxis"},
	{"unseen6/seaice", "ice on the sea by day"},
	{"unseen6/pollution", "pollution of air by hour"},
	{"unseen6/adults", "a census of adults"},
	{"unseen7/routes", "routes of airlines"},
	{"unseen7/airports", "airports"},
	{"unseen7/artworks", "works of art with addresses"},
	{"unseen7/artists", "artists"},
	{"unseen8/thefts", "thefts of vehicles"},
	{"unseen8/players", "players of baseball"},
	{"unseen8/pets", "licences of pets"},
	{"unseen8/electricity", "demand for electricity by half hour"},
	{"unseen8/pizzas", "pizzas sold"},
	{"unseen9/concentrations", "concentrations of a drug, 122 columns"},
	{"unseen9/hotels", "rates of hotels"},
	{"unseen9/stops", "people whom police stopped"},
	{"unseen9/tests", "tests for a virus"},
	{"unseen9/cells", "measures of cells in pictures"},
	{"unseen10/loans_full_schema", "loans, 56 columns"},
	{"unseen10/tissue_gene_expression", "189 samples of 500 genes"},
	{"unseen10/FBICriminal_tbl_df", "crimes by agency and year"},
	{"unseen10/hfi", "freedom of countries by year, 124 columns"},
	{"unseen10/DJIA", "an index of shares by day"},
}

// unseenContenders are those of their table.
var unseenContenders = append([]string{ours + balanced, ours + high, ours + minimalSize}, anyOther...)

// unseenColumn is a figure of a profile over the least of some others, and what it is to be at most.
type unseenColumn struct {
	title, profile, op string
	others             []string
	goal               float64
}

var (
	anyOther      = []string{baseName, pyarrowName, vortexName, lanceName}
	unseenColumns = []unseenColumn{
		{"size", balanced, measure.OpSize, anyOther, 1.05},
		{"scan", balanced, measure.OpScan, anyOther, 1.5},
		{"1,000 rows", balanced, measure.OpTake, anyOther, 1.5},
		{"write, to pyarrow", balanced, measure.OpWrite, []string{pyarrowName}, 1.5},
		{"to Lance", balanced, measure.OpWrite, []string{lanceName}, 1.5},
		{"High, to arrow-go", high, measure.OpWrite, []string{baseName}, 2.5},
		{"Minimal", minimalSize, measure.OpWrite, []string{baseName}, 6},
	}
)

// of is the figure for a table, 0 if it is not known.
func (c unseenColumn) of(r *measure.Result) float64 {
	least := math.Inf(1)
	for _, name := range c.others {
		if f := r.Of(name); f != nil && figure(f, c.op) > 0 {
			least = min(least, figure(f, c.op))
		}
	}
	f := r.Of(ours + c.profile)
	if f == nil {
		return 0
	}
	return figure(f, c.op) / least
}

// printUnseen writes the figures of unseen tables, those that are furthest from a goal first.
func printUnseen(w io.Writer, results []*measure.Result) {
	type line struct {
		row  table.Row
		most float64
	}
	var lines []line
	logs := make([]float64, len(unseenColumns))
	for _, u := range unseen {
		at := slices.IndexFunc(results, func(r *measure.Result) bool { return r.Set == u.set })
		if at < 0 {
			continue
		}
		l := line{row: table.Row{u.title, results[at].Rows}}
		for i, c := range unseenColumns {
			v := c.of(results[at])
			l.row, l.most, logs[i] = append(l.row, shortRatio(v)), max(l.most, v/c.goal), logs[i]+math.Log(v)
		}
		lines = append(lines, l)
	}
	if len(lines) == 0 {
		return
	}
	slices.SortStableFunc(lines, func(a, b line) int { return cmp.Compare(b.most, a.most) })
	header, mean, goals := table.Row{"table", "rows"}, table.Row{"*geometric mean*", ""}, table.Row{"*at most, as a goal*", ""}
	for i, c := range unseenColumns {
		header = append(header, c.title)
		mean, goals = append(mean, shortRatio(math.Exp(logs[i]/float64(len(lines))))), append(goals, shortRatio(c.goal))
	}
	t := report.Table(header)
	for _, l := range lines {
		t.AppendRow(l.row)
	}
	t.AppendRows([]table.Row{mean, goals})
	fmt.Fprintf(w, "\n%s\n", t.RenderMarkdown())
}

// unseenSets are the names of the sets.
func unseenSets() (names []string) {
	for _, u := range unseen {
		names = append(names, u.set)
	}
	return names
}
