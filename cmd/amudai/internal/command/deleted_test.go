package command_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/cmd/amudai/internal/app"
	"github.com/amudai/amudai-go/cmd/amudai/internal/formats"
	"github.com/amudai/amudai-go/internal/testing/sweep"
)

// secret reports whether a row has values that no other row has, and which betray it in any output. All of these rows are deleted. Others
// are deleted at random: their values are those of rows that stay.
func secret(id int) bool { return id%7 == 3 }

// betrayal is a value of a secret row.
var betrayal = regexp.MustCompile(`hush|77000\d{5}|7\.7\d*e\+?09|2099-|-1234567`)

const sweptTypes = "id:int64,line:utf8,kind:utf8,num:int64,f:float64,day:date32,flag:bool,price:decimal128(14,2),tags:list<utf8>,s:struct<a:int64,b:utf8>"

// sweptRow is a row as JSON.
func sweptRow(id int) string {
	row := map[string]any{
		"id": id, "line": fmt.Sprintf("line %d of k%d", id, id%4), "kind": fmt.Sprint("k", id%4), "num": id % 50, "f": float64(id%90) / 8, "day": fmt.Sprintf("2020-01-%02d", 1+id%28),
		"flag": id%2 == 0, "price": fmt.Sprintf("%d.5", id%33), "tags": []string{fmt.Sprint("t", id%5), fmt.Sprint("t", id%3)}[:id%3], "s": map[string]any{"a": id % 9, "b": fmt.Sprint("b", id%6)},
	}
	if secret(id) {
		n := 7_700_000_000 + int64(id)
		row["line"], row["kind"], row["num"], row["f"], row["day"] = fmt.Sprintf("hush %d of k%d", id, id%4), "hush", n, n, "2099-01-02"
		row["price"], row["tags"], row["s"] = fmt.Sprint(n), []string{"hush", "t1"}, map[string]any{"a": n, "b": "hush"}
		if id%2 == 0 {
			row["num"], row["f"], row["kind"] = -1234567, -1234567, "a hush"
		}
	} else {
		for k, name := range []string{"kind", "num", "f", "day", "flag", "price", "s"} {
			if id%(9+k) == k {
				row[name] = nil
			}
		}
	}
	b, _ := json.Marshal(row)
	return string(b)
}

// writeSwept writes rows as Arrow, without the help of a shard.
func writeSwept(t *testing.T, location string, ids []int) {
	t.Helper()
	var b strings.Builder
	for _, id := range ids {
		b.WriteString(sweptRow(id) + "\n")
	}
	require.NoError(t, os.WriteFile("rows.jsonl", []byte(b.String()), 0o600))
	ok(t, "convert", "-q", "-f", "rows.jsonl", location, "--schema", sweptTypes, "--columns", "id,line,kind,num,f,day,flag,price,tags,s")
}

// swept is a shard with deleted rows, and what it has to show.
type swept struct {
	t       *testing.T
	r       *rand.Rand
	shard   string
	ids     []int // by position
	deleted []bool
	added   bool // of the column twice
}

func (s *swept) do(args ...string) { s.t.Helper(); ok(s.t, append(args, "-q")...) }

// write makes a shard of some rows, all of which are shown.
func (s *swept) write(location string, from, to int) {
	var ids []int
	for id := from; id < to; id++ {
		ids = append(ids, id)
	}
	writeSwept(s.t, "all.arrow", ids)
	args := []string{"convert", "-f", "all.arrow", location, "--stripe-rows", strconv.Itoa(40 + s.r.IntN(120)), "--profile", []string{"plain", "balanced", "minimal-size"}[s.r.IntN(3)]}
	layouts := [][]string{{"--nulls-apart", "--offsets-apart"}, {"--pack-columns", "num,price,day", "--index", "line"}, {"--pack-columns", "*"}, {"--layout", "two-level", "--index", "line"}, {"--alternative", "2026:minimal-size"}}
	args = append(args, layouts[s.r.IntN(len(layouts))]...)
	s.do(args...)
	s.shard, s.ids, s.deleted = location, append(s.ids, ids...), append(s.deleted, make([]bool, len(ids))...)
}

// index builds some indexes.
func (s *swept) index() {
	all := [][]string{
		{"--columns", "line"}, {"--columns", "line", "--phrases", "--per-stripe"}, {"--columns", "kind", "--type", "hash"}, {"--columns", "s,id", "--type", "hash", "--per-stripe"},
		{"--key", "kind,num", "--type", "hash"}, {"--columns", "line,kind", "--type", "range"}, {"--columns", "line", "--coarse", "16"}, {"--columns", "line,kind", "--scores"},
	}
	for _, i := range s.r.Perm(len(all))[:2] {
		r := run(s.t, append([]string{"index", "add", "-q", s.shard}, all[i]...)...)
		require.True(s.t, r.code == 0 || strings.Contains(r.errout, "already"), r.errout)
	}
}

// deleteSome deletes the secret rows, and others, in all ways.
func (s *swept) deleteSome() {
	s.do("delete", s.shard, "--where", "line like 'hush%'")
	s.mark(func(i int) bool { return secret(s.ids[i]) })
	from := s.r.IntN(len(s.ids))
	to := min(from+s.r.IntN(200), len(s.ids)) // perhaps all rows of a stripe
	s.do("delete", s.shard, "--rows", fmt.Sprintf("%d:%d", from, to))
	s.mark(func(i int) bool { return i >= from && i < to })
	var keys strings.Builder
	keys.WriteString("id\n")
	k := 2 + s.r.IntN(9)
	for id := range 2000 {
		if id%k == 1 {
			fmt.Fprintln(&keys, id)
		}
	}
	require.NoError(s.t, os.WriteFile("keys.csv", []byte(keys.String()), 0o600))
	s.do("delete", s.shard, "--matching", "keys.csv", "--on", "id")
	s.mark(func(i int) bool { return s.ids[i]%k == 1 })
}

func (s *swept) mark(chosen func(i int) bool) {
	for i := range s.ids {
		s.deleted[i] = s.deleted[i] || chosen(i)
	}
}

// change makes one of the changes that keep deleted rows, or drop them.
func (s *swept) change() {
	switch s.r.IntN(7) {
	case 0: // some come back
		s.do("undelete", s.shard, "--where", "num > 20 and num < 30")
		for i, id := range s.ids {
			if n := id % 50; !secret(id) && n > 20 && n < 30 && id%10 != 1 {
				s.deleted[i] = false
			}
		}
	case 1:
		s.do("column", "rename", s.shard, "kind", "sort")
		s.do("column", "rename", s.shard, "sort", "kind")
	case 2:
		stripes := s.stripes()
		k := s.r.IntN(len(stripes))
		s.do("compact", s.shard, "--stripes", fmt.Sprintf("0-%d", k))
		end := stripes[k].FirstRow + stripes[k].Rows
		ids := s.ids[end:]
		for i := end - 1; i >= 0; i-- {
			if !s.deleted[i] {
				ids = append([]int{s.ids[i]}, ids...)
			}
		}
		s.deleted = append(make([]bool, len(ids)-len(s.ids)+end), s.deleted[end:]...)
		s.ids = ids
	case 3:
		old := swept{t: s.t, r: s.r}
		old.write("more.amudai.shard", 1000, 1100)
		old.deleteSome()
		if s.added {
			s.do("column", "add", old.shard, "twice = id * 2")
		}
		to := "merged-" + s.shard
		s.do("merge", s.shard, old.shard, "-o", to)
		s.shard, s.ids, s.deleted = to, append(s.ids, old.ids...), append(s.deleted, old.deleted...)
	case 4:
		if !s.added {
			s.do("column", "add", s.shard, "twice = id * 2")
			s.added = true
		}
	case 5:
		dir := "in-" + strings.TrimSuffix(s.shard, ".amudai.shard")
		require.NoError(s.t, os.MkdirAll(dir, 0o755))
		to := filepath.Join(dir, "moved.amudai.shard")
		s.do("relocate", s.shard, "-o", to, "--layout", []string{"single", "two-level"}[s.r.IntN(2)])
		s.shard = strings.ReplaceAll(to, string(filepath.Separator), "-")
		s.do("relocate", to, "-o", s.shard)
	case 6:
		s.index()
	}
}

type sweptStripe struct {
	FirstRow int `json:"first_row"`
	Rows     int
}

// stripes are those of the shard, with their positions.
func (s *swept) stripes() []sweptStripe {
	var plan struct {
		Rows   int
		Inputs []struct{ Stripes []sweptStripe }
	}
	require.NoError(s.t, json.Unmarshal([]byte(ok(s.t, "plan", s.shard, "--json")), &plan))
	require.Len(s.t, s.shown(), plan.Rows)
	return plan.Inputs[0].Stripes
}

// shown are the rows that are not deleted.
func (s *swept) shown() (ids []int) {
	for i, id := range s.ids {
		if !s.deleted[i] {
			ids = append(ids, id)
		}
	}
	return ids
}

// rank is the number of shown rows before a position.
func (s *swept) rank(position int) (n int) {
	for _, gone := range s.deleted[:min(position, len(s.deleted))] {
		if !gone {
			n++
		}
	}
	return n
}

// position is that of a shown row, or the last one.
func (s *swept) position(rank int) int {
	rank = min(rank, len(s.shown())-1)
	for i, gone := range s.deleted {
		if !gone {
			if rank == 0 {
				return i
			}
			rank--
		}
	}
	return len(s.deleted)
}

// sweptConditions are about all types, kinds of indexes, and values that only deleted rows have.
var sweptConditions = []string{
	"", "id >= 300 and id < 420", "id in (5, 6, 7, 11, 250, 251, 402)", "line like '%line 12%'", "line has 'k1'", "line has 'hush'", "line like 'hush%'", "kind = 'k1'", "kind in ('k2', 'hush')", "kind is null",
	"kind = 'hush'", "kind = 'k3' and num = 27", "num between 10 and 20", "num > 100", "num < 0", "not (num < 40)", "f > 5.5", "f > 1000000", "day < '2020-01-10'", "day > '2098-12-31'", "flag", "price > 20.25", "price > 1000",
	"contains(tags, 't1')", "any(tags = 'hush')", "len(tags) = 1", "s.a = 3", "s.a > 100", "s.b like 'b2%'", "s.b = 'hush'", "s is null", "length(line) > 15", "lower(kind) >= 'k2'", "num * 2 > 80 or kind = 'a hush'",
	"kind is not null and day is not null", "num <> 7", "kind <> 'k1'",
}

// sweptCases are command lines of all commands that read rows. {} is the table; {A:B} are the rows between two shares of the table, in percent; {#A} is the
// number of a row that is shown; {where} is each of the sweptConditions; {to.x} is an output, whose rows are printed; a line that begins with ~ shows the shard itself, so
// that only secrets are looked for.
var sweptCases = map[string][]string{
	"cat": {
		"cat {}", "cat {} --where {where}", "cat {} --rows {20:60}", "cat {} --rows {20:60} --where 'num > 20' --limit 7", "cat {} --rows -30:", "cat {} --rows :-30", "cat {} --limit 13", "cat {} --columns s.a,tags",
		"cat {} {} --columns id,kind --format jsonl", "cat {} {} --where {where} --columns id", "cat {} --strings dictionary --format arrow --output {to.arrow}", "cat {} --format md", "cat {} --format table", "~cat {} --stripes 1",
	},
	"head":  {"head {}", "head {} --limit 400", "head {} --where {where} -n 3", "head {} --rows {30:50}", "head {} --columns kind", "head {} --strings large", "head {} --format json --output {to.json}", "~head {} --stripes 0"},
	"tail":  {"tail {}", "tail {} --limit 400", "tail {} --strings dictionary --columns kind --limit 9", "tail {} --limit 5000", "tail {} --limit 0", "tail {} --where {where} -n 4", "tail {} --rows {10:50} -n 7", "tail {} --rows -50: -n 9", "tail {} {} -n 300 --columns id", "tail {} --format csv --output {to.csv}", "~tail {} --stripes 1"},
	"count": {"count {}", "count {} --where {where}", "count {} {} --where {where}", "count {} --rows {10:70}", "count {} --rows {10:70} --where {where}", "count {} --rows -70:", "count {} --limit 20", "count {} --strings dictionary", "count {} --columns kind", "~count {} --stripes 1"},
	"scan": {
		"scan {}", "scan {} --where {where} --format jsonl", "scan {} --count --where {where}", "scan {} --count --rows {5:15}", "scan {} --limit 3 --where {where}", "scan {} --columns tags --output {to.jsonl}", "~scan {} --explain --where {where}",
		"~scan {} --analyze --where {where}", "~scan {} --stripes 1", "scan {} --strings view --format jsonl",
	},
	"take": {"take {} {#0} {#30} {#10} {#10} {#99}", "take {} {#50} --columns line,s", "take {} --rows-from rows.txt --format jsonl", "take {} {#7} --output {to.csv}", "~take {} 3", "~take {} 0 1 2 3 4 5 6 7 8 9 10"},
	"sample": {
		"sample 20 {} --seed 5", "sample 1 {} --seed 6 --columns line", "sample 100000 {} --seed 1", "sample 20 {} --seed 5 --where {where}", "sample 20 {} --seed 5 --rows {10:60}", "sample 20 {} --seed 5 --limit 50", "sample 30 {} {} --seed 2", "sample 9 {} --seed 3 --output {to.jsonl}",
		"sample 9 {} --seed 3 --format jsonl --strings string", "~sample 5 {} --stripes 0 --seed 1",
	},
	"agg": {
		"agg {}", "agg {} 'min(id), max(id), min(num), max(num), min(f), max(f), min(day), max(day), min(line), max(line), min(kind), max(kind), min(price), max(price)'", "agg {} 'min(num)'", "agg {} 'max(line)'", "agg {} 'max(s.a), min(s.b)'",
		"agg {} 'count(), count(id), count(kind), count(num), count(day), count(s), count(tags), count(distinct kind), count(distinct num), count(distinct line)'", "agg {} 'count(kind)'", "agg {} 'sum(num), avg(f), sum(price), stddev(num), median(num), quantile(day, 0.9), approx_quantile(f, 0.5)'",
		"agg {} 'approx_distinct(line), approx_distinct(kind), bool_and(flag), bool_or(flag)'", "agg {} 'first(kind), last(kind), any_value(line), list(num), string_agg(kind, ''+'')' --format jsonl", "agg {} 'sum(length(line)), max(length(line)), sum(len(tags))'",
		"agg {} --by kind 'count(), min(num), max(f), count(distinct day)'", "agg {} --by flag,kind", "agg {} --by year(day)", "agg {} --by num --having 'count > 3' --sort -count,num --limit 12", "agg {} --by kind --strings dictionary", "agg {} --by s.b 'max(s.a)'", "agg {} --by line --limit 5",
		"agg {} --where {where} 'count(), count(distinct kind), max(num), min(line)'", "agg {} --rows {20:80} 'count(), min(num), max(kind)'", "agg {} --rows -40: 'count(), max(num)'", "agg {} --limit 2 --by kind", "agg {} {} --by kind 'count(), max(num)'", "agg {} {} 'min(num), max(num), count(num)'",
		"agg {} 'count() filter (where num > 40), max(num) filter (where flag)'", "agg {} --by kind --output {to.jsonl}", "agg {} --by kind --format jsonl", "~agg {} --explain 'max(num)'", "~agg {} --stripes 1 'max(num)'",
	},
	"top":      {"top {} --by kind", "top {} --by line --limit 4", "top {} --by kind --strings dictionary", "top {} --by 'flag, s.b' --limit -1", "top {} --by day --where {where}", "top {} --by kind --rows {0:50}", "top {} --by tags --format jsonl", "top {} --by num --output {to.csv}", "~top {} --stripes 1 --by num"},
	"distinct": {"distinct {} --columns kind", "distinct {} --columns kind --strings dictionary --output {to.arrow}", "distinct {} --columns kind,flag --count", "distinct {} --columns s.b", "distinct {} --columns tags", "distinct {} --columns num --where {where}", "distinct {} --columns day --limit 4", "distinct {} --columns kind --rows {10:40}", "distinct {}", "distinct {} {} --columns kind", "distinct {} --columns kind --format jsonl", "distinct {} --columns day --output {to.csv}", "~distinct {} --columns kind --stripes 1"},
	"sort":     {"sort {} --by -num,id", "sort {} --by kind,id --strings dictionary --output {to.arrow}", "sort {} --by num --limit 5", "sort {} --by -num --limit 5", "sort {} --by line --limit 5 --where {where}", "sort {} --by -day,id --nulls-first --limit 20", "sort {} --by kind,-id --columns id", "sort {} --by id --rows {40:60}", "sort {} --by -f,id -n 3 --output {to.csv}", "sort {} --by -f,id -n 3 --format jsonl", "~sort {} --by -num --stripes 1"},
	"diff":     {"diff {} kept.arrow", "diff kept.arrow {} --key id", "diff {} {}", "~diff {} kept.arrow --strings dictionary", "diff {} other.arrow --key id", "diff other.arrow {} --limit 3", "diff {} other.arrow --key id --format jsonl", "diff {} other.arrow --where {where} --columns id,num --key id", "~diff {} other.arrow --rows 0:30 --key id", "diff {} other.arrow -q", "~diff {} kept.amudai.shard --storage", "diff {} other.arrow --tolerance 1 --columns f", "~diff {} other.arrow --stripes 1"},
	"search": {
		"search line {}", "search hush {}", "search k1 {} --count", "search 'line 12' {} --line-number", "~search k2 {} --line-number --context 2", "~search k2 {} --before-context 1", "~search k3 {} --after-context 1 --limit 5", "search k2 {} --json", "search --files-with-matches hush {}", "search --files-with-matches k1 {}", "search --regex 'li.e 2\\d' {}", "search --regex --ignore-case 'HUSH|LINE 3' {}",
		"search hush {} --in kind,s.b", "search hush {} {} --with-filename", "search k1 {} {} --columns id,kind --no-filename", "search k1 {} --in line,kind --since 2020-01-10 --until 2020-01-20 --time day", "search k1 {} -q", "search hush {} -q",
		"search 'lnie~ OR hsuh~2' {}", "search --rank 'lnie~ OR hsuh~2' {} --limit 30", "search --by kind hush {}", "search --by kind 'k1 OR line' {} {} --json", "search --rank --by kind 'k1 OR 12' {}", "search --rank hush {}", "search --rank 'k1 OR 12 OR 3*' {} --limit 20 --columns id --snippet 20", "search --rank 'k1 OR 12' {} --in line,kind --boost kind=2 --json", "search --rank 'lines OR k2' {} --tokenizer english --columns id",
	},
	"stats": {
		"stats {} --where 'id >= 0' --json", "stats {} --where 'id >= 0' --profile", "stats {} --where 'id >= 0' --plot num", "stats {} --where 'id >= 0'", "stats {} --rows {10:60} --profile", "stats {} --limit 30 --json", "stats {} --columns num,kind --where 'flag' --profile", "~stats {}", "~stats {} --details", "~stats {} --json", "~stats {} --profile", "~stats {} --plot num",
		"~stats {} --html {to.html}", "~stats {} {} --json", "~stats {} --stripes 1",
	},
	"convert": {
		"convert -q {} {to.jsonl} --where {where}", "convert -q {} {to.jsonl} --rows {30:70} --columns kind,tags", "convert -q {} {to.arrow} --limit 40", "convert -q {} {to.arrow} --strings dictionary", "convert -q {} {to.parquet} --strings dictionary",
		"convert -q {} {to.csv} --to csv", "~convert -q {} {to.csv} --stripes 1", "convert -q {} {} {to.amudai.shard}",
	},
	"delete":       {"~delete {} --where 'num > 100' --dry-run"},
	"schema":       {"schema {}", "~schema {} --stored"},
	"infer-schema": {"infer-schema {}"},
	"plan":         {"~plan {} --json", "~plan {} --where {where} --json", "~plan {}", "~plan {} --columns num"},
	"inspect":      {"~inspect {}", "~inspect {} --verbose", "~inspect {} -vv", "~inspect {} -v --json", "~inspect {} -v --stripe 1 --column num"},
	"verify":       {"~verify {}", "~verify {} --json", "~verify {} --quick", "~verify {} --max 1", "~verify {} --metadata"},
	"index list":   {"~index list {}", "~index list {} --json"},
	"log":          {"~log {}", "~log {} --json"},
	"split":        {"~split {} --by kind --dry-run --output {part}", "~split {} --rows 50 --json --output {part}", "~split {} --bytes 20KiB --dry-run --output {part}"},
	"recover":      {"~recover {} {to.amudai.shard}", "~recover {} {to.amudai.shard} --json"},
	"pack":         {"~pack {} --output {to.amudai.shard}"},
	"bench":        {"~bench {} --rounds 1 --columns num,kind --limit 50 --json bench.json --where 'num = 3'"},
}

// sweptNot are the commands that show no rows of a shard: why.
var sweptNot = map[string]string{
	"trace": "TestDeletedSpans", "query": "TestDeletedSpans", "browse": "needs a terminal; package browsing has its own test", "demo": "reads no table", "import": "reads Parquet only", "man": "", "serve": "", "sql": "TestDeletedRows of the module sql", "version": "", "help": "", "blockpack": "", "column": "", "completion": "", "index": "",
	"index add": "part of the changes", "index drop": "", "index rebuild": "part of the changes", "column add": "part of the changes", "column cast": "TestErrorsAboutDeletedRows", "column drop": "", "column order": "", "column rename": "part of the changes", "column set": "prints no values",
	"compact": "part of the changes", "delete": "part of the changes", "undelete": "part of the changes", "gc": "", "keep": "", "merge": "part of the changes", "relocate": "part of the changes", "restore": "part of TestLife",
	"blockpack merge": "", "blockpack drop-traces": "", "completion bash": "", "completion fish": "", "completion powershell": "", "completion zsh": "",
}

// TestDeletedRowsAreNotShown asks shards with deleted rows everything, and compares the answers with those of a table without the rows.
func TestDeletedRowsAreNotShown(t *testing.T) {
	for seed := range uint64(sweep.Count(3, 40)) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Chdir(t.TempDir())
			s := &swept{t: t, r: rand.New(rand.NewPCG(seed, 1))}
			s.write("x.amudai.shard", 0, 300+s.r.IntN(200))
			s.index()
			s.deleteSome()
			for range seed {
				s.change()
			}
			if seed == 1 {
				s.do("delete", s.shard, "--all")
				s.mark(func(int) bool { return true })
			}
			s.check()
		})
	}
}

// check runs all commands.
func (s *swept) check() {
	ids := s.shown()
	require.NotEmpty(s.t, s.stripes())
	writeSwept(s.t, "kept.arrow", ids)
	writeSwept(s.t, "other.arrow", append(slices.Clone(ids[len(ids)/3:]), 5000, 5002))
	s.do("convert", "-f", "kept.arrow", "kept.amudai.shard")
	if s.added {
		for _, name := range []string{"kept", "other"} {
			s.do("convert", "-f", name+".arrow", name+".amudai.shard")
			s.do("column", "add", name+".amudai.shard", "twice = id * 2")
			s.do("convert", "-f", name+".amudai.shard", name+".arrow")
		}
	}
	for _, f := range formats.All() {
		if f.Writer != nil && len(f.Extensions) > 0 && !f.Sparse {
			s.compare("convert -q {} {to"+f.Extensions[0]+"}", "")
		}
	}
	for _, command := range slices.Sorted(maps.Keys(sweptCases)) {
		for _, line := range sweptCases[command] {
			chosen := []string{""}
			if strings.Contains(line, "{where}") {
				for _, i := range s.r.Perm(len(sweptConditions))[:2] {
					chosen = append(chosen, sweptConditions[i])
				}
			}
			for _, where := range chosen {
				s.compare(line, where)
			}
		}
	}
}

// compare runs a command on the shard, and on the table without deleted rows.
func (s *swept) compare(line, where string) {
	line, alone := strings.CutPrefix(line, "~")
	got := s.ask(line, where, s.shard, func(position int) int { return position })
	if m := betrayal.FindString(got); m != "" {
		at := strings.Index(got, m)
		s.t.Errorf("%s (where %s) shows a deleted row: …%s…", line, where, got[max(0, at-100):min(len(got), at+100)])
	}
	if !alone && (len(s.shown()) > 0 || !strings.HasPrefix(line, "take")) {
		kept := "kept.arrow"
		if strings.HasPrefix(line, "sample") || strings.Contains(line, "--strings") {
			kept = "kept.amudai.shard" // the number of rows is known, and its flags
		}
		want := s.ask(line, where, kept, s.rank)
		if want != got {
			a, b := strings.Split(want, "\n"), strings.Split(got, "\n")
			k := 0
			for k < min(len(a), len(b))-1 && a[k] == b[k] {
				k++
			}
			s.t.Errorf("%s (where %s): line %d of %d is\n%s\nnot, of %d,\n%s", line, where, k, len(b), b[k], len(a), a[k])
		}
	}
}

var (
	shares     = regexp.MustCompile(`\{(#?)(\d+)(?::(\d+))?\}`)
	outputs    = regexp.MustCompile(`\{to(\.[a-z.]+)\}`)
	lineNumber = regexp.MustCompile(`(?m)^(IN[:-])?(\d+)([:-])|"row":(\d+)`)
)

// ask runs a command line about a table, in which rows have other numbers.
func (s *swept) ask(line, where, location string, number func(position int) int) string {
	position := func(share string) int {
		n, _ := strconv.Atoi(share)
		return n * len(s.ids) / 100
	}
	line = shares.ReplaceAllStringFunc(line, func(m string) string {
		p := shares.FindStringSubmatch(m)
		if p[1] != "" {
			return strconv.Itoa(number(s.position(s.rank(position(p[2])))))
		}
		return fmt.Sprintf("%d:%d", number(position(p[2])), number(position(p[3])))
	})
	var rows strings.Builder
	for _, share := range []string{"3", "20", "77"} {
		fmt.Fprintln(&rows, number(s.position(s.rank(position(share)))))
	}
	require.NoError(s.t, os.WriteFile("rows.txt", []byte(rows.String()), 0o600))
	to := outputs.FindStringSubmatch(line)
	copies := strings.HasPrefix(line, "pack ") || strings.HasPrefix(line, "recover ") // what is stored
	line = outputs.ReplaceAllString(strings.ReplaceAll(line, "{}", location), "out$1")
	args := words(s.t, strings.NewReplacer("{where}", "?", "{part}", "part-{}.amudai.shard").Replace(line))
	for i := range args {
		if args[i] == "?" {
			args[i] = where
		}
	}
	if to != nil {
		args = append(args, "-f")
	}
	r := runEnv(s.t, app.Env{Args: args})
	out := r.out + r.errout
	if to != nil && to[1] == ".html" {
		page, err := os.ReadFile("out.html")
		require.NoError(s.t, err)
		out += string(page)
	} else if to != nil && r.code == 0 {
		b, err := os.ReadFile("out" + to[1])
		require.NoError(s.t, err)
		if bytes.Contains(b, []byte("hush")) && !copies {
			s.t.Errorf("%s: its output has values of deleted rows", line)
		}
		out += ok(s.t, "cat", "out"+to[1], "--format", "jsonl")
	}
	if where != "" {
		out = strings.ReplaceAll(out, where, "…")
	}
	out = fmt.Sprintf("%s[exit %d]", strings.NewReplacer(location, "IN", "kept.arrow", "IN").Replace(out), r.code)
	if strings.HasPrefix(line, "search ") && number(len(s.ids)) == len(s.ids) {
		out = lineNumber.ReplaceAllStringFunc(out, func(m string) string {
			p := lineNumber.FindStringSubmatch(m)
			n, _ := strconv.Atoi(p[2] + p[4])
			return strings.Replace(m, p[2]+p[4], strconv.Itoa(s.rank(n-1)+1), 1)
		})
	}
	return out
}

// TestErrorsAboutDeletedRows changes columns in ways that values of deleted rows forbid. They may come back, so that they have to fit, but errors do not tell them.
func TestErrorsAboutDeletedRows(t *testing.T) {
	t.Chdir(t.TempDir())
	s := &swept{t: t, r: rand.New(rand.NewPCG(1, 1))}
	s.write("x.amudai.shard", 0, 300)
	s.do("delete", s.shard, "--where", "line like 'hush%'")
	for _, args := range [][]string{{"cast", s.shard, "num", "int16"}, {"cast", s.shard, "s.a", "int8"}, {"add", s.shard, "short = cast(num as int16)"}, {"add", s.shard, "long = num * 9000000000"}} {
		r := run(t, append([]string{"column"}, args...)...)
		require.Equal(t, app.ExitFailure, r.code, args)
		require.NotRegexp(t, betrayal, r.errout)
		require.Contains(t, r.errout, "row 4 of x.amudai.shard is deleted, and a new column cannot have its value (hint: amudai compact drops deleted rows for good)")
	}
	s.do("compact", s.shard, "--profile", "Balanced")
	s.do("column", "cast", s.shard, "num", "int16")
}

// TestDeletedSpans asks a shard of spans, of which some are deleted, for traces.
func TestDeletedSpans(t *testing.T) {
	shop(t)
	for name, gone := range map[string]string{"trace": `"trace:id" = x'` + checkout + `'`, "spans": `"resource.service.name" = 'payment'`, "all": `"trace:id" is not null`} {
		for _, indexed := range []string{"none", "before", "after"} {
			ok(t, "convert", "-q", "-f", "shop.arrow", "x.amudai.shard", "--stripe-rows", "9")
			if indexed == "before" {
				ok(t, "index", "add", "-q", "x.amudai.shard", "--columns", `trace:id`, "--type", "hash")
			}
			ok(t, "delete", "-q", "x.amudai.shard", "--where", gone)
			if indexed == "after" {
				ok(t, "index", "add", "-q", "x.amudai.shard", "--columns", `trace:id`, "--type", "hash", "--per-stripe")
			}
			ok(t, "convert", "-q", "-f", "shop.arrow", "kept.arrow", "--where", "not ("+gone+")")
			for _, args := range [][]string{
				{"trace", checkout}, {"trace", checkout, "--tree"}, {"query", "{}", "--most-recent", "--limit", "100"}, {"query", `{ status = error && resource.service.name = "payment" }`}, {"query", `{ resource.service.name = "frontend" } >> { status = error }`},
				{"query", "{}", "--values", "resource.service.name"}, {"query", "{}", "--names"}, {"query", "{ span:duration > 1ms } | count() > 1"}, {"query", "{}", "--since", "2026-01-05", "--spans", "100"},
			} {
				want, got := run(t, append(args, "kept.arrow")...), run(t, append(args, "x.amudai.shard")...)
				require.Equal(t, want.out, got.out, "%s, index %s: %v", name, indexed, args)
				require.Equal(t, want.code, got.code, "%s, index %s: %v", name, indexed, args)
			}
		}
	}
}

// Every command of the program, and each of its flags that may change what is read, is in the sweep.
func TestDeletedRowsAreSoughtEverywhere(t *testing.T) {
	dir := t.TempDir()
	ok(t, "man", dir)
	pages, err := filepath.Glob(filepath.Join(dir, "amudai-*.1"))
	require.NoError(t, err)
	require.NotEmpty(t, pages)
	for _, page := range pages {
		name := strings.TrimSuffix(strings.TrimPrefix(filepath.Base(page), "amudai-"), ".1")
		for group := range strings.SplitSeq("blockpack,column,completion,index", ",") {
			name = strings.Replace(name, group+"-", group+" ", 1)
		}
		lines, swept := sweptCases[name]
		if _, not := sweptNot[name]; not {
			continue
		}
		if !assert.True(t, swept, "%s is not in the sweep", name) {
			continue
		}
		flags := strings.Fields(ok(t, append(append([]string{"__completeNoDesc"}, strings.Fields(name)...), "--")...))
		require.NotEmpty(t, flags, name)
		for _, flag := range flags {
			used := slices.ContainsFunc(lines, func(line string) bool { return strings.Contains(line+" ", flag+" ") })
			assert.True(t, used || sweptFlags[flag] || !strings.HasPrefix(flag, "--"), "%s %s is not in the sweep", name, flag)
		}
	}
}

// sweptFlags change nothing about which rows are read.
var sweptFlags = func() map[string]bool {
	m := map[string]bool{}
	for name := range strings.FieldsSeq(`at beside comment created dates decimal decimals default-types delimiter dynamics encoding escape false from help header keep line-end memory no-header no-projected
		null parallel quiet quote ragged records sample sample-bytes schema schema-of skip table thousands ticks trim true unnest force
		hex alternative block-values edition index layout nanos nulls-apart offsets-apart pack-columns profile stripe-bytes stripe-rows level row-group-rows no-nulls project rounds
		ntuple compression cluster-bytes block-spans span-order`) {
		m["--"+name] = true
	}
	return m
}()
