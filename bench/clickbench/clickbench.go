// Package clickbench has the questions of ClickBench, in SQL and in the words of tables.
package clickbench

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"math"
	"regexp"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/amudai/amudai-go/bench/synthetic"
	"github.com/amudai/amudai-go/filter"
	"github.com/amudai/amudai-go/table"
)

// Question is one of ClickBench's questions, in SQL and in the words of the command. Both have the same columns in the same order.
type Question struct {
	sql  string // without its order and limit
	by   string // values to group by; with calls, a question to groups
	call string // aggregates

	columns       string // of a question without aggregates
	where, having string
	order         string // as of [table.SortOptions], by names of the result
	ties          string // more to order by when results are compared: equal counts may come in any order
	limit, offset int64
}

// hitSums is question 30.
func hitSums() Question {
	var sql, call []string
	for i := range 90 {
		sql = append(sql, fmt.Sprintf("sum(ResolutionWidth + %d)", i))
		call = append(call, fmt.Sprintf("sum(ResolutionWidth + %d) as s%d", i, i))
	}
	return Question{sql: "SELECT " + strings.Join(sql, ", ") + " FROM t", call: strings.Join(call, ", ")}
}

const ofSite = "CounterID = 62 and EventDate >= '2013-07-01' and EventDate <= '2013-07-31'"

// Hits are the 43 questions. Numbers that must be reached, and those of rows that are skipped, are a hundredth of those for 100 million rows.
func Hits() []Question {
	page := strconv.FormatInt(synthetic.HitsHash(synthetic.HitsPage), 10)
	user := strconv.FormatInt(synthetic.HitsUser(), 10)
	group := func(by, call, where string) Question {
		q := Question{by: by, call: call, where: where, limit: 10}
		q.sql = "SELECT " + strings.Join(slicesOf(by, call), ", ") + " FROM t"
		if where != "" {
			q.sql += " WHERE " + where
		}
		if by != "" {
			q.sql += " GROUP BY ALL"
		}
		return q
	}
	top := func(by, call, where, order, ties string) Question {
		q := group(by, call, where)
		q.order, q.ties = order, ties
		return q
	}
	skip := func(q Question, n int64) Question {
		q.offset = n
		return q
	}
	having := func(q Question, condition string) Question {
		q.having, q.limit, q.sql = condition, 25, q.sql+" HAVING "+condition
		return q
	}
	rows := func(columns, where, order, ties string) Question {
		q := Question{columns: columns, where: where, order: order, ties: ties, limit: 10}
		q.sql = "SELECT " + cmp.Or(columns, "*") + " FROM t WHERE " + where
		return q
	}
	all := func(q Question) Question {
		q.limit = 0
		return q
	}
	const site = "regexp_replace(Referer, '^https?://(?:www\\.)?([^/]+)/.*$', '\\1')"
	return []Question{
		group("", "count() as c", ""),
		group("", "count() as c", "AdvEngineID <> 0"),
		group("", "sum(AdvEngineID) as s, count() as c, avg(ResolutionWidth) as a", ""),
		group("", "avg(UserID) as a", ""),
		group("", "count(distinct UserID) as c", ""),
		group("", "count(distinct SearchPhrase) as c", ""),
		group("", "min(EventDate) as a, max(EventDate) as b", ""),
		all(top("AdvEngineID", "count() as c", "AdvEngineID <> 0", "-c", "AdvEngineID")),
		top("RegionID", "count(distinct UserID) as u", "", "-u", "RegionID"),
		top("RegionID", "sum(AdvEngineID) as s, count() as c, avg(ResolutionWidth) as a, count(distinct UserID) as u", "", "-c", "RegionID"),
		top("MobilePhoneModel", "count(distinct UserID) as u", "MobilePhoneModel <> ''", "-u", "MobilePhoneModel"),
		top("MobilePhone, MobilePhoneModel", "count(distinct UserID) as u", "MobilePhoneModel <> ''", "-u", "MobilePhone,MobilePhoneModel"),
		top("SearchPhrase", "count() as c", "SearchPhrase <> ''", "-c", "SearchPhrase"),
		top("SearchPhrase", "count(distinct UserID) as u", "SearchPhrase <> ''", "-u", "SearchPhrase"),
		top("SearchEngineID, SearchPhrase", "count() as c", "SearchPhrase <> ''", "-c", "SearchEngineID,SearchPhrase"),
		top("UserID", "count() as c", "", "-c", "UserID"),
		top("UserID, SearchPhrase", "count() as c", "", "-c", "UserID,SearchPhrase"),
		top("UserID, SearchPhrase", "count() as c", "", "", "UserID,SearchPhrase"),
		top("UserID, minute(EventTime) as m, SearchPhrase", "count() as c", "", "-c", "UserID,m,SearchPhrase"),
		all(rows("UserID", "UserID = "+user, "", "UserID")),
		group("", "count() as c", "URL like '%google%'"),
		top("SearchPhrase", "min(URL) as u, count() as c", "URL like '%google%' and SearchPhrase <> ''", "-c", "SearchPhrase"),
		top("SearchPhrase", "min(URL) as a, min(Title) as b, count() as c, count(distinct UserID) as u",
			"Title like '%Google%' and URL not like '%.google.%' and SearchPhrase <> ''", "-c", "SearchPhrase"),
		rows("", "URL like '%google%'", "EventTime", "WatchID"),
		rows("SearchPhrase", "SearchPhrase <> ''", "EventTime", "SearchPhrase"),
		rows("SearchPhrase", "SearchPhrase <> ''", "SearchPhrase", ""),
		rows("SearchPhrase", "SearchPhrase <> ''", "EventTime,SearchPhrase", ""),
		having(top("CounterID", "avg(length(URL)) as l, count() as c", "URL <> ''", "-l", "CounterID"), "c > 1000"),
		having(top(site+" as k", "avg(length(Referer)) as l, count() as c, min(Referer) as r", "Referer <> ''", "-l", "k"), "c > 1000"),
		hitSums(),
		top("SearchEngineID, ClientIP", "count() as c, sum(IsRefresh) as s, avg(ResolutionWidth) as a", "SearchPhrase <> ''", "-c", "SearchEngineID,ClientIP"),
		top("WatchID, ClientIP", "count() as c, sum(IsRefresh) as s, avg(ResolutionWidth) as a", "SearchPhrase <> ''", "-c", "WatchID,ClientIP"),
		top("WatchID, ClientIP", "count() as c, sum(IsRefresh) as s, avg(ResolutionWidth) as a", "", "-c", "WatchID,ClientIP"),
		top("URL", "count() as c", "", "-c", "URL"),
		top("1 as one, URL", "count() as c", "", "-c", "URL"),
		top("ClientIP, ClientIP - 1 as i, ClientIP - 2 as j, ClientIP - 3 as k", "count() as c", "", "-c", "ClientIP"),
		top("URL", "count() as c", ofSite+" and DontCountHits = 0 and IsRefresh = 0 and URL <> ''", "-c", "URL"),
		top("Title", "count() as c", ofSite+" and DontCountHits = 0 and IsRefresh = 0 and Title <> ''", "-c", "Title"),
		skip(top("URL", "count() as c", ofSite+" and IsRefresh = 0 and IsLink <> 0 and IsDownload = 0", "-c", "URL"), 10),
		skip(top("TraficSourceID, SearchEngineID, AdvEngineID, case when SearchEngineID = 0 and AdvEngineID = 0 then Referer else '' end as src, URL",
			"count() as c", ofSite+" and IsRefresh = 0", "-c", "TraficSourceID,SearchEngineID,AdvEngineID,src,URL"), 10),
		skip(top("URLHash, EventDate", "count() as c", ofSite+" and IsRefresh = 0 and TraficSourceID in (-1, 6) and RefererHash = "+page, "-c", "URLHash,EventDate"), 1),
		skip(top("WindowClientWidth, WindowClientHeight", "count() as c", ofSite+" and IsRefresh = 0 and DontCountHits = 0 and URLHash = "+page,
			"-c", "WindowClientWidth,WindowClientHeight"), 100),
		skip(top("date_trunc('minute', EventTime) as m", "count() as c",
			"CounterID = 62 and EventDate >= '2013-07-14' and EventDate <= '2013-07-15' and IsRefresh = 0 and DontCountHits = 0", "m", ""), 10),
	}
}

// slicesOf are those texts that are not empty.
func slicesOf(texts ...string) (out []string) {
	for _, s := range texts {
		if s != "" {
			out = append(out, s)
		}
	}
	return out
}

var descending = regexp.MustCompile(`-(\w+)`)

// SQL is the question in SQL. If results are compared, their order leaves nothing open.
func (q Question) SQL(compared bool) string {
	order := q.order
	if compared {
		order = strings.Join(slicesOf(order, q.ties), ",")
	}
	sql := strings.ReplaceAll(q.sql, "count()", "count(*)")
	if order != "" {
		sql += " ORDER BY " + descending.ReplaceAllString(order, "$1 DESC")
	}
	if q.limit > 0 {
		sql += fmt.Sprintf(" LIMIT %d OFFSET %d", q.limit, q.offset)
	}
	return sql
}

// asked is how many questions had a filter. Each has another one, as an open shard remembers the rows that a filter has found: what is measured is the first time.
var asked atomic.Int64

// rows asks a table.
func (q Question) rows(ctx context.Context, t *table.Table, compared bool) (iter.Seq2[arrow.RecordBatch, error], error) {
	order, limit := q.order, q.limit
	if compared {
		order = strings.Join(slicesOf(order, q.ties), ",")
	}
	if limit > 0 {
		limit += q.offset
	}
	var where filter.Expr
	if q.where != "" {
		var err error
		if where, err = filter.Parse(fmt.Sprintf("(%s) and GoodEvent <> -%d", q.where, asked.Add(1))); err != nil {
			return nil, err
		}
	}
	var columns []string
	if q.columns != "" {
		columns = strings.Split(q.columns, ",")
	}
	switch {
	case q.call != "":
		return t.Group(ctx, table.GroupOptions{By: q.by, Aggregates: q.call, Having: q.having, Sort: order, Filter: where, Limit: limit}), nil
	case order == "":
		return t.Scan(ctx, table.ScanOptions{Columns: columns, Filter: where, Limit: limit}), nil
	}
	return t.Sort(ctx, table.SortOptions{By: order, Columns: columns, Filter: where, Limit: limit}), nil
}

// Answer has the values of the answer as texts, if they are asked for.
func (q Question) Answer(ctx context.Context, t *table.Table, compared bool) (values [][]string, err error) {
	rows, err := q.rows(ctx, t, compared)
	if err != nil {
		return nil, err
	}
	var at int64
	for b, err := range rows {
		if err != nil {
			return nil, err
		}
		for i := range int(b.NumRows()) {
			if at++; at <= q.offset || !compared {
				continue
			}
			var row []string
			for _, col := range b.Columns() {
				row = append(row, valueText(col, i))
			}
			values = append(values, row)
		}
	}
	return values, nil
}

// valueText is a value in the spelling of Python.
func valueText(col arrow.Array, i int) string {
	if a, ok := col.(*array.Timestamp); ok {
		return a.Value(i).ToTime(a.DataType().(*arrow.TimestampType).Unit).Format("2006-01-02 15:04:05")
	}
	return col.ValueStr(i)
}

// Same is the first difference between two answers.
func Same(ours, theirs [][]string) error {
	if len(ours) != len(theirs) {
		return fmt.Errorf("%d rows for %d", len(ours), len(theirs))
	}
	for i := range ours {
		if len(ours[i]) != len(theirs[i]) {
			return fmt.Errorf("row %d has %d values for %d", i, len(ours[i]), len(theirs[i]))
		}
		for j, x := range ours[i] {
			y := theirs[i][j]
			f, err := strconv.ParseFloat(x, 64)
			g, err2 := strconv.ParseFloat(y, 64)
			if near := err == nil && err2 == nil && strings.ContainsAny(x+y, ".e") && math.Abs(f-g) <= 1e-9*math.Abs(f); x != y && !near {
				return fmt.Errorf("row %d: %q for %q", i, x, y)
			}
		}
	}
	return nil
}
