package command_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestComplete proposes what the scripts of shells ask for: columns of the inputs, and values of flags.
func TestComplete(t *testing.T) {
	t.Chdir(t.TempDir())
	require.NoError(t, os.WriteFile("cities.csv", []byte("name,people\nOslo,1\nO'Brien,2\nOslo,3\nLima,4\n"), 0o644))
	require.NoError(t, os.WriteFile("t.jsonl", []byte(`{"id":1,"at":{"lat":1.5,"lon":2},"a.b":3}`+"\n"), 0o644))
	for typed, want := range map[string]string{
		"cat t.jsonl --columns |":             `id at at.lat at.lon a\.b`,
		"cat t.jsonl --columns id,a|":         `id,at id,at.lat id,at.lon id,a\.b`,
		"cat t.jsonl --columns at.la|":        "at.lat",
		"cat missing.csv --columns |":         "",
		"cat https://localhost/t --columns |": "",
		"cat t.jsonl --ticks |":               "auto ns us raw",
		"hea|":                                "head",
	} {
		args := append([]string{"__completeNoDesc"}, strings.Split(strings.TrimSuffix(typed, "|"), " ")...)
		lines := strings.Split(ok(t, args...), "\n")
		require.Equal(t, want, strings.Join(lines[:len(lines)-2], " "), typed) // without the directive
	}
	for typed, want := range map[string][]string{
		"pe":                           {"people"},
		"people i":                     {"people in (", "people is null", "people is not null"},
		"name = 'O":                    {"name = 'Oslo'", "name = 'O''Brien'"},
		"people > 2 and name <> 'li":   {"people > 2 and name <> 'Lima'"},
		"people between 1 and":         {},
		"people in (":                  {"people in (1", "people in (2", "people in (3", "people in (4"},
		"name is not null or people >": {"name is not null or people >="},
	} {
		lines := strings.Split(ok(t, "__completeNoDesc", "head", "cities.csv", "--where", typed), "\n")
		require.Equal(t, want, lines[:len(lines)-2], typed)
	}
}

// TestInteropCompletion completes lines in bash, also within quotes. AMUDAI_PROGRAM is the command.
func TestInteropCompletion(t *testing.T) {
	program := os.Getenv("AMUDAI_PROGRAM")
	if program == "" {
		t.Skip("AMUDAI_PROGRAM names no command")
	}
	t.Chdir(t.TempDir())
	require.NoError(t, os.WriteFile("cities.csv", []byte("name,people,trace:id\nOslo,1,a\nO Brien,2,b\nA\"$,3,c\n"), 0o644))
	for line, want := range map[string]string{
		`amudai hea`:                                       `head`,
		`amudai cat cities.csv --columns `:                 `name people trace:id`,
		`amudai cat cities.csv --columns name,pe`:          `name,people`,
		`amudai cat cities.csv --columns=pe`:               `people`,
		`amudai cat cities.csv --columns trace:`:           `id`, // bash keeps what is before the colon
		`amudai cat cities.csv --where "na`:                `name`,
		`amudai cat cities.csv --where="na`:                `name`,
		`amudai cat cities.csv --where 'people > 1 and na`: `people > 1 and name`,
		`amudai cat cities.csv --where "name = 'Os`:        `name = 'Oslo'`,
		`amudai cat cities.csv --where "name = 'o b`:       `name = 'O Brien'`,
		`amudai cat cities.csv --where 'name = '\''Os`:     `name = '\''Oslo'\''`,
		`amudai cat cities.csv --where "name = 'A`:         `name = 'A\"\$'`,
		`amudai cat $HOME/no.csv --column`:                 `--columns`,
		`amudai cat $(touch run) --column`:                 ``,
		"amudai cat `touch run` --column":                  ``,
		`amudai cat <(touch run) --column`:                 ``,
		`amudai cat "$(touch run)" --column`:               ``,
	} {
		script := `shopt -u expand_aliases; PATH=` + filepath.Dir(program) + `:$PATH; compopt() { :; }; source <(amudai completion bash)
			COMP_LINE=$1 COMP_POINT=${#1}; _amudai; for c in "${COMPREPLY[@]}"; do [[ $c == *…* ]] || printf '%s\n' "$c"; done`
		out, err := exec.Command("bash", "-c", script, "bash", line).CombinedOutput()
		require.NoError(t, err, string(out))
		require.Equal(t, want, strings.Join(strings.Split(strings.TrimSuffix(string(out), "\n"), "\n"), " "), line)
		require.NoFileExists(t, "run", "a completion runs nothing of the line")
	}
}
