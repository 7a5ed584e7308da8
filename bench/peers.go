package main

import (
	"bufio"
	"cmp"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/amudai/amudai-go/internal/bench/measure"
	"github.com/amudai/amudai-go/internal/bench/suite"
)

// peerNames are the contenders of peers/peers.py.
var peerNames = []string{pyarrowName, "duckdb file", vortexName, "vortex compact", lanceName, "uproot"}

// peer is a contender in another process, which measures itself.
type peer struct {
	title      string
	operations []string
	input      string // Arrow IPC file that it writes from
	in         io.WriteCloser
	out        *bufio.Scanner
	cmd        *exec.Cmd
}

// peerQuestion is a request to a peer, peerAnswer its response.
type peerQuestion struct {
	Op      string   `json:"op"`
	Path    string   `json:"path"`
	Input   string   `json:"input,omitempty"`
	Columns []string `json:"columns,omitempty"`
	Where   string   `json:"where,omitempty"`
	Rows    []int64  `json:"rows,omitempty"`
	SQL     string   `json:"sql,omitempty"`  // of the operation query; the table is t
	Kind    string   `json:"kind,omitempty"` // of the operation search
	Words   []string `json:"words,omitempty"`
}

type peerAnswer struct {
	Missing    string   `json:"missing"`
	Error      string   `json:"error"`
	Operations []string `json:"operations"`
	Seconds    float64  `json:"seconds"`
	Rows       int64    `json:"rows"`
	Size       int64    `json:"size"`
	Index      int64    `json:"index"` // bytes of Size that are an index, of a peer that searches

	Values [][]string `json:"values"` // of the operation query
}

//go:embed peers/peers.py
var peerScript []byte

//go:embed peers/search.py
var searchScript []byte

// startPeers starts the peers whose packages are installed, and reports the others.
func startPeers(ctx context.Context, python, dir string) ([]*peer, error) {
	script := filepath.Join(dir, "peers.py")
	if err := os.WriteFile(script, peerScript, 0o600); err != nil {
		return nil, err
	}
	if _, err := exec.LookPath(python); err != nil {
		return nil, fmt.Errorf("-peers: %w", err)
	}
	var out []*peer
	for _, name := range peerNames {
		p, err := startPeer(ctx, python, script, name)
		if err != nil {
			fmt.Fprintf(os.Stderr, "bench: %s is left out: %v\n", name, err)
			continue
		}
		out = append(out, p)
	}
	return out, nil
}

func startPeer(ctx context.Context, python, script, name string) (*peer, error) {
	p := &peer{title: name, cmd: exec.CommandContext(ctx, python, script, name)}
	p.cmd.Stderr = os.Stderr
	var err error
	if p.in, err = p.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	p.out = bufio.NewScanner(out)
	p.out.Buffer(nil, 64<<20)
	a, err := p.listen()
	if err == nil && a.Missing != "" {
		err = errors.New(a.Missing)
	}
	if err != nil {
		p.stop()
		return nil, err
	}
	p.operations = a.Operations
	return p, nil
}

// stop ends the process.
func (p *peer) stop() {
	p.in.Close()
	p.cmd.Wait() // the exit status does not matter
}

func (p *peer) listen() (a peerAnswer, err error) {
	if !p.out.Scan() {
		return a, cmp.Or(p.out.Err(), io.ErrUnexpectedEOF)
	}
	if err = json.Unmarshal(p.out.Bytes(), &a); err == nil && a.Error != "" {
		err = errors.New(a.Error)
	}
	return a, err
}

// ask makes the peer do one operation.
func (p *peer) ask(q peerQuestion) (peerAnswer, error) {
	b, err := json.Marshal(q)
	if err != nil {
		return peerAnswer{}, err
	}
	if _, err := p.in.Write(append(b, '\n')); err != nil {
		return peerAnswer{}, err
	}
	return p.listen()
}

// Name implements [suite.Contender].
func (p *peer) Name() string { return p.title }

// Can implements [suite.Contender].
func (p *peer) Can(d *suite.Dataset, op string) bool {
	if (p.title == "uproot") != (d.Name == "nano") {
		return false
	}
	if p.title == "vortex compact" && !d.Text {
		return false
	}
	if p.title == "vortex" && (d.Name == "nested" || d.Wide) {
		return false // it has no maps, and takes minutes to write 50,000 columns
	}
	kind, _, named := strings.Cut(op, " ")
	return slices.Contains(p.operations, kind) && (!named || kind == "filter")
}

// Write implements [suite.Contender].
func (p *peer) Write(context.Context, string, *arrow.Schema, suite.Source, int) error {
	return errors.New("a peer measures itself")
}

// Read implements [suite.Contender].
func (p *peer) Read(_ context.Context, path string, q suite.Query, out *suite.Outcome) error {
	a, err := p.ask(peerQuery(path, q))
	out.Rows += a.Rows
	return err
}

func peerQuery(path string, q suite.Query) peerQuestion {
	switch {
	case q.Take != nil:
		return peerQuestion{Op: "take", Path: path, Rows: q.Take}
	case q.Where != "":
		return peerQuestion{Op: "filter", Path: path, Where: q.Where}
	}
	return peerQuestion{Op: "scan", Path: path, Columns: q.Columns}
}

// Time does an operation and returns the CPU time in seconds that the peer measured.
func (p *peer) Time(d *suite.Dataset, op, path string) (float64, error) {
	q := peerQuestion{Op: measure.OpWrite, Path: path, Input: p.input}
	if op != measure.OpWrite {
		read, err := d.Query(op)
		if err != nil {
			return 0, err
		}
		q = peerQuery(path, read)
	}
	a, err := p.ask(q)
	return a.Seconds, err
}
