package command_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/cmd/amudai/internal/app"
	"github.com/amudai/amudai-go/cmd/amudai/internal/command"
)

// tourPages are documents with outputs of commands, and the width of their terminal. A block of a page begins with a line
// "```console". In it, a line "$ amudai …" is a command, and the lines up to the next one are what it prints, stderr included.
var tourPages = map[string]int{"README.md": 100, "docs/command-line.md": 80, "docs/life.md": 100, "docs/rntuple.md": 100, "docs/blockpack.md": 100, "docs/traceql.md": 100, "docs/stores.md": 100}

// tourWidths are further widths for the commands of docs/command-line.md, whose outputs are in testdata/tour; 0 is a pipe.
var tourWidths = map[int]string{200: "200.txt", 0: "pipe.txt"}

// TestTour runs the commands of the documents, and compares their outputs. With -update it writes them into the
// documents, and to testdata/tour.
func TestTour(t *testing.T) {
	compare := func(t *testing.T, path, want, got string) {
		if *update {
			require.NoError(t, os.WriteFile(path, []byte(got), 0o644))
			return
		}
		require.Equal(t, want, got, path)
	}
	for name, width := range tourPages {
		t.Run(strings.ReplaceAll(name, "/", "-"), func(t *testing.T) {
			path, page := readPage(t, name)
			tourFolder(t)
			compare(t, path, page, mapBlocks(page, func(lines []string) []string { return runBlock(t, lines, width) }))
		})
	}
	_, page := readPage(t, "docs/command-line.md")
	for width, name := range tourWidths {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(repository, "cmd", "amudai", "internal", "command", "testdata", "tour", name)
			want, err := os.ReadFile(path)
			require.True(t, err == nil || *update, err)
			tourFolder(t)
			var got strings.Builder
			for _, c := range tourCommands(page) {
				fmt.Fprintf(&got, "$ %s\n%s", c, shell(t, c, width))
			}
			compare(t, path, string(want), got.String())
		})
	}
}

// TestInteropTour runs the commands of the documents in terminals that tmux makes, and compares what they show.
func TestInteropTour(t *testing.T) {
	program := os.Getenv("AMUDAI_PROGRAM")
	if program == "" {
		t.Skip("AMUDAI_PROGRAM names no program: make interop sets it")
	}
	_, err := exec.LookPath("tmux")
	require.NoError(t, err, "tmux is not installed")
	for name, width := range tourPages {
		_, page := readPage(t, name)
		var shown strings.Builder
		mapBlocks(page, func(lines []string) []string {
			shown.WriteString(strings.Join(lines, "\n") + "\n")
			return lines
		})
		inTerminals(t, name, program, page, width, shown.String())
	}
	_, page := readPage(t, "docs/command-line.md")
	wide, err := os.ReadFile(filepath.Join("testdata", "tour", tourWidths[200]))
	require.NoError(t, err)
	inTerminals(t, "wide", program, page, 200, string(wide))
}

// inTerminals runs the commands of a page in terminals of a width, and compares what they show.
func inTerminals(t *testing.T, name, program, page string, width int, want string) {
	t.Run(strings.ReplaceAll(name, "/", "-"), func(t *testing.T) {
		folder := tourFolder(t)
		var got strings.Builder
		for _, c := range tourCommands(page) {
			fmt.Fprintf(&got, "$ %s\n%s", c, inTmux(t, program, folder, c, width))
		}
		require.Equal(t, trimLines(want), trimLines(got.String()))
	})
}

// trimLines drops blanks at the ends of lines, which a terminal does not keep.
func trimLines(s string) string { return regexp.MustCompile(`(?m)[ ]+$`).ReplaceAllString(s, "") }

// tourTerminals counts the terminals of the tour.
var tourTerminals int

// inTmux runs a command in a terminal, and returns its lines.
func inTmux(t *testing.T, program, folder, line string, width int) string {
	t.Helper()
	tourTerminals++
	socket := fmt.Sprintf("amudai-%d-%d", os.Getpid(), tourTerminals) // a server of its own: one that ends may still accept a session
	tmux := func(args ...string) string {
		out, err := exec.Command("tmux", append([]string{"-u", "-L", socket, "-f", os.DevNull}, args...)...).CombinedOutput()
		require.NoError(t, err, "%v: %s", args, out)
		return string(out)
	}
	script := filepath.Join(t.TempDir(), "run.sh")
	line = regexp.MustCompile(`\bamudai `).ReplaceAllString(line, program+" ")
	require.NoError(t, os.WriteFile(script, []byte("export NO_COLOR=1\n"+line+"\nprintf '\\n=end=\\n'\nexec sleep 60\n"), 0o700))
	tmux("new-session", "-d", "-s", "tour", "-x", strconv.Itoa(width), "-y", "400", "-c", folder, "sh "+script)
	defer tmux("kill-server")
	for range 600 { // 30 s
		screen := tmux("capture-pane", "-p", "-J", "-t", "tour")
		if out, _, found := strings.Cut(screen, "\n=end=\n"); found {
			return out
		}
		time.Sleep(50 * time.Millisecond)
	}
	require.Fail(t, "the command does not end", line)
	return ""
}

// readPage reads a document, and returns its absolute path, too.
func readPage(t *testing.T, name string) (path, page string) {
	t.Helper()
	path = filepath.Join(repository, filepath.FromSlash(name))
	b, err := os.ReadFile(path)
	require.NoError(t, err)
	return path, string(b)
}

// mapBlocks replaces the lines of each console block.
func mapBlocks(page string, do func(lines []string) []string) string {
	lines := strings.Split(page, "\n")
	var out []string
	for i := 0; i < len(lines); i++ {
		out = append(out, lines[i])
		if lines[i] != "```console" {
			continue
		}
		end := i + 1
		for end < len(lines) && lines[end] != "```" {
			end++
		}
		out = append(out, do(lines[i+1:end])...)
		i = end - 1
	}
	return strings.Join(out, "\n")
}

// tourCommands are the commands of a page.
func tourCommands(page string) (commands []string) {
	mapBlocks(page, func(lines []string) []string {
		for _, line := range lines {
			if c, ok := strings.CutPrefix(line, "$ "); ok {
				commands = append(commands, c)
			}
		}
		return lines
	})
	return commands
}

// runBlock runs the commands of a block, and returns its lines anew.
func runBlock(t *testing.T, lines []string, width int) (out []string) {
	t.Helper()
	for _, line := range lines {
		if c, ok := strings.CutPrefix(line, "$ "); ok {
			out = append(out, line)
			if text := strings.TrimSuffix(shell(t, c, width), "\n"); text != "" {
				out = append(out, strings.Split(text, "\n")...)
			}
		}
	}
	return out
}

// shell runs a line of a shell: commands of amudai, of which one may read what the one before prints ("|"), and whose
// last may write to a file (">"). "cat FILE" prints a file.
func shell(t *testing.T, line string, width int) string {
	t.Helper()
	line, file, toFile := strings.Cut(line, " > ./") // a path, unlike the right side of a comparison
	steps := strings.Split(line, " | amudai ")
	for i := range steps[1:] {
		steps[i+1] = "amudai " + steps[i+1]
	}
	var terminal bytes.Buffer
	var piped []byte
	for i, step := range steps {
		args := shellWords(step)
		if args[0] == "cat" {
			b, err := os.ReadFile(args[1])
			require.NoError(t, err)
			terminal.Write(b)
			continue
		}
		require.Equal(t, "amudai", args[0], line)
		var out bytes.Buffer
		env := app.Env{Args: args[1:], Stdin: bytes.NewReader(piped), Stdout: &out, Stderr: &terminal, Getenv: tourEnv}
		if i == len(steps)-1 && !toFile {
			env.Stdout, env.Width = &terminal, width
		}
		code := command.Main(t.Context(), env)
		require.LessOrEqual(t, code, 1, "%s: %s", line, terminal.String())
		piped = out.Bytes()
	}
	if toFile {
		require.NoError(t, os.WriteFile(strings.TrimSpace(file), piped, 0o644))
	}
	return terminal.String()
}

// tourEnv are the variables of the tour's terminals.
func tourEnv(name string) string { return map[string]string{"NO_COLOR": "1"}[name] }

// shellWords splits a command at blanks outside of quotes.
func shellWords(line string) (words []string) {
	word, inWord, quote := "", false, rune(0)
	for _, r := range line + " " {
		switch {
		case quote != 0 && r == quote:
			quote = 0
		case quote != 0:
			word += string(r)
		case r == '\'' || r == '"':
			quote, inWord = r, true
		case r == ' ':
			if inWord {
				words = append(words, word)
			}
			word, inWord = "", false
		default:
			word, inWord = word+string(r), true
		}
	}
	return words
}

// tourFolder makes a folder with the data of the tour the working directory: what "amudai demo --keep ." leaves, and
// files of the repository by the paths they have in it.
func tourFolder(t *testing.T) string {
	t.Helper()
	folder := t.TempDir()
	t.Chdir(folder)
	newS3(t)
	for _, data := range []string{"testdata/logs", "testdata/traces", "testdata/tour", "rntuple/testdata/corpus", "rntuple/testdata/trees"} {
		require.NoError(t, os.CopyFS(data, os.DirFS(filepath.Join(repository, filepath.FromSlash(data)))))
	}
	b, err := os.ReadFile(filepath.Join(repository, "cmd", "amudai", "internal", "compare", "demo", "flights.parquet"))
	require.NoError(t, err)
	require.NoError(t, os.WriteFile("flights.parquet", b, 0o644))
	return folder
}

// repository is the folder of the module, found before a test changes the working directory.
var repository = func() string {
	path, err := filepath.Abs(filepath.Join("..", "..", "..", ".."))
	if err != nil {
		panic(err)
	}
	return path
}()
