// Package peers runs engines that are not written in Go, each in a process of its own, which measures itself: programs in Python, which are asked one question after
// the other.
package peers

import (
	"bufio"
	"cmp"
	"context"
	"embed"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
)

// The programs.
const (
	Formats = "peers.py"  // of file formats
	Search  = "search.py" // of indexes of words
)

//go:embed peers.py search.py
var scripts embed.FS

// Peer is an engine in another process.
type Peer struct {
	Title      string
	Operations []string

	in  io.WriteCloser
	out *bufio.Scanner
	cmd *exec.Cmd
}

// Question is a request to a peer.
type Question struct {
	Op      string     `json:"op"`
	Path    string     `json:"path"`
	Input   string     `json:"input,omitempty"`
	Columns []string   `json:"columns,omitempty"`
	Where   string     `json:"where,omitempty"`
	Rows    []int64    `json:"rows,omitempty"`
	SQL     string     `json:"sql,omitempty"`  // of the operation query; the table is t
	Kind    string     `json:"kind,omitempty"` // of the operation search
	Words   []string   `json:"words,omitempty"`
	Turns   [][]string `json:"turns,omitempty"` // words of searches that take turns, in place of Words
}

// Answer is the response.
type Answer struct {
	Missing    string   `json:"missing"`
	Error      string   `json:"error"`
	Operations []string `json:"operations"`
	Seconds    float64  `json:"seconds"`
	Rows       int64    `json:"rows"`
	Size       int64    `json:"size"`
	Index      int64    `json:"index"` // bytes of Size that are an index, of a peer that searches

	Values [][]string `json:"values"` // of the operation query
}

// Start starts the engine with a title, of a program that it writes to a folder. It is an error if its packages are not installed.
func Start(ctx context.Context, python, dir, program, title string) (*Peer, error) {
	for _, name := range []string{Formats, Search} {
		text, err := scripts.ReadFile(name)
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, name), text, 0o600)
		}
		if err != nil {
			return nil, err
		}
	}
	p := &Peer{Title: title, cmd: exec.CommandContext(ctx, python, filepath.Join(dir, program), title)}
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
		p.Stop()
		return nil, err
	}
	p.Operations = a.Operations
	return p, nil
}

// Stop ends the process.
func (p *Peer) Stop() {
	p.in.Close()
	p.cmd.Wait() // the exit status does not matter
}

func (p *Peer) listen() (a Answer, err error) {
	if !p.out.Scan() {
		return a, cmp.Or(p.out.Err(), io.ErrUnexpectedEOF)
	}
	if err = json.Unmarshal(p.out.Bytes(), &a); err == nil && a.Error != "" {
		err = errors.New(a.Error)
	}
	return a, err
}

// Ask makes the peer do one operation.
func (p *Peer) Ask(q Question) (Answer, error) {
	b, err := json.Marshal(q)
	if err != nil {
		return Answer{}, err
	}
	if _, err := p.in.Write(append(b, '\n')); err != nil {
		return Answer{}, err
	}
	return p.listen()
}
