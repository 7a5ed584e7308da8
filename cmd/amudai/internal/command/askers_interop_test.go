package command_test

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/cmd/amudai/internal/app"
)

// asker answers questions about the table at the location that stands for @ in them, and the spans at that of #.
type asker struct {
	name      string
	questions []string
	sum       string // the question of the number of rows, and the sum of column n
	stride    int    // faults are at each request, or at every so many of an asker that takes seconds, no multiple of the number of faults
	ask       func(question string) (answer string, err error)
}

// commandQuestions are those of commands that read.
var commandQuestions = []string{
	"count @ --where n=7", "schema @", "head -n 3 @", "tail -n 3 @", "take @ 123456", "sample 5 --seed 1 @", "cat --columns n --limit 9 @", "scan @ --where n=7",
	"agg @ count(),sum(n)", "top @ --by s --limit 3", "sort @ --by -n --limit 3", "distinct @ --columns n --limit 4", "stats @", "diff -q @ six.amudai.shard",
	"search ccc @ --limit 3", "inspect @", "verify @", "log @", "query {status=error} # --limit 2",
	"trace 4bf92f3577b34da6a3ce929d0e0e4736 #",
}

// notAsked are the commands without a question, and why.
var notAsked = map[string]string{
	"browse":  "it needs a terminal, and asks a table.Table what others ask",
	"sql":     "it is an asker of its own",
	"convert": "interopFaults", "import": "it writes, as convert does", "infer-schema": "it reads a stream, as convert does", "pack": "it copies whole files",
	"plan":  "it tells the identity of an object, by what opening reads",
	"bench": "it measures", "demo": "it writes its own table", "recover": "it is for damaged files, by the reader of verify",
	"column": "lifetest", "compact": "lifetest", "delete": "lifetest", "gc": "lifetest", "index": "lifetest", "keep": "lifetest", "merge": "lifetest", "relocate": "lifetest",
	"restore": "lifetest", "split": "lifetest", "undelete": "lifetest",
	"blockpack": "it merges, as convert does", "serve": "it has a folder of its own",
	"completion": "it reads no table", "help": "it reads no table", "man": "it reads no table", "version": "it reads no table",
}

// Each command is asked of stores that fail and lie, or there is a reason.
func TestCommandsAskedOfStores(t *testing.T) {
	asked := map[string]bool{}
	for _, question := range commandQuestions {
		name, _, _ := strings.Cut(question, " ")
		asked[name] = true
	}
	all := regexp.MustCompile(`(?m)^  ([a-z-]+)  +[A-Z]`).FindAllStringSubmatch(ok(t, "help"), -1)
	require.Len(t, all, len(asked)+len(notAsked))
	for _, c := range all {
		require.True(t, asked[c[1]] != (notAsked[c[1]] != ""), c[1])
	}
}

// allAskers are the command, in this process, and programs: its engine of SQL, the Python package, and Spark. AMUDAI_PROGRAM is the command, with amudai-sql
// beside it; AMUDAI_PYTHON has what python/requirements.txt lists.
func allAskers(t *testing.T) []asker {
	commands := asker{
		name:      "commands",
		questions: commandQuestions,
		sum:       "agg @ count(),sum(n)",
		stride:    1,
		ask: func(question string) (string, error) {
			r := run(t, strings.Fields(question)...)
			if r.code != app.ExitOK {
				return "", errors.New(r.errout)
			}
			return r.out, nil
		},
	}
	program, python := os.Getenv("AMUDAI_PROGRAM"), os.Getenv("AMUDAI_PYTHON")
	if program == "" || python == "" {
		t.Log("without SQL, Python and Spark: AMUDAI_PROGRAM and AMUDAI_PYTHON are not both set, as make interop-stores does")
		return []asker{commands}
	}
	sql := asker{
		name: "sql",
		questions: []string{
			"select count(*), sum(n) from '@' where s like 'a%'", "select * from '@' where n = 7 order by all limit 5",
			"select a.n, count(*) from '@' a join '@' b using (n) where a.n < 20 and b.s = 'b' group by a.n order by a.n",
		},
		sum:    "select count(*), sum(n) from '@'",
		stride: 1,
		ask: func(question string) (string, error) {
			cmd := exec.CommandContext(t.Context(), program, "sql", "--format", "csv", question)
			var errout strings.Builder
			cmd.Stderr = &errout
			out, err := cmd.Output()
			if err != nil {
				return "", fmt.Errorf("%w: %s", err, errout.String())
			}
			return string(out), nil
		},
	}
	return []asker{
		commands, sql,
		{
			name: "python",
			questions: []string{
				"open('@').num_rows", "open('@').schema", "open('@').head(3)", "open('@').take([123456]).to_pylist()", "open('@').to_arrow(where='n = 7').to_pylist()",
				"open('@').to_pandas().n.sum()", "scan_polars('@').filter(pl.col('n') == 7).select('s').collect().rows()",
				"sql(\"select count(*), sum(n) from '@' where n > 7000\").fetchall()", "open('@').count('n = 7')",
			},
			sum:    "scan_polars('@').select(pl.len(), pl.col('n').sum()).collect().rows()",
			stride: 1,
			ask:    asksPython(t, python, "python"),
		},
		{
			name:      "spark",
			questions: []string{"load('@').where('n < 9').selectExpr('count(*)', 'sum(n)').collect()"},
			sum:       "load('@').selectExpr('count(*)', 'sum(n)').collect()",
			stride:    3,
			ask:       asksPython(t, python, "spark"),
		},
	}
}

// asksPython has testdata/ask.py answer questions, in a process that begins with the first one and ends with the test.
func asksPython(t *testing.T, python, kind string) func(question string) (string, error) {
	script, err := filepath.Abs("testdata/ask.py")
	require.NoError(t, err)
	packages, err := filepath.Abs("../../../../python/src")
	require.NoError(t, err)
	var in io.Writer
	var out *bufio.Reader
	return func(question string) (string, error) {
		if in == nil {
			cmd := exec.Command(python, script, kind)
			cmd.Env = append(os.Environ(), "PYTHONPATH="+packages)
			stdin, err := cmd.StdinPipe()
			require.NoError(t, err)
			stdout, err := cmd.StdoutPipe()
			require.NoError(t, err)
			require.NoError(t, cmd.Start())
			t.Cleanup(func() {
				_ = stdin.Close() // the process ends by itself
				_ = cmd.Wait()
			})
			in, out = stdin, bufio.NewReader(stdout)
		}
		_, err := fmt.Fprintf(in, "%s\n", question)
		require.NoError(t, err)
		line, err := out.ReadBytes('\n')
		require.NoError(t, err, "the process has ended")
		var a struct{ Answer, Error string }
		require.NoError(t, json.Unmarshal(line, &a))
		if a.Error != "" {
			return "", errors.New(a.Error)
		}
		return a.Answer, nil
	}
}
