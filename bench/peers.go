package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/amudai/amudai-go/bench/peers"
	"github.com/amudai/amudai-go/internal/bench/measure"
	"github.com/amudai/amudai-go/internal/bench/suite"
)

// peerNames are the contenders of peers/peers.py.
var peerNames = []string{pyarrowName, "duckdb file", vortexName, "vortex compact", lanceName, "uproot"}

// peer is a contender in another process.
type peer struct {
	*peers.Peer
	input string // Arrow IPC file that it writes from
}

// startPeers starts the peers whose packages are installed, and reports the others.
func startPeers(ctx context.Context, python, dir string) ([]*peer, error) {
	if _, err := exec.LookPath(python); err != nil {
		return nil, fmt.Errorf("-peers: %w", err)
	}
	var out []*peer
	for _, name := range peerNames {
		p, err := peers.Start(ctx, python, dir, peers.Formats, name)
		if err != nil {
			fmt.Fprintf(os.Stderr, "bench: %s is left out: %v\n", name, err)
			continue
		}
		out = append(out, &peer{Peer: p})
	}
	return out, nil
}

// Name implements [suite.Contender].
func (p *peer) Name() string { return p.Title }

// Can implements [suite.Contender].
func (p *peer) Can(d *suite.Dataset, op string) bool {
	if (p.Title == "uproot") != (d.Name == "nano") {
		return false
	}
	if p.Title == "vortex compact" && !d.Text {
		return false
	}
	if p.Title == "vortex" && (d.Name == "nested" || d.Wide) {
		return false // it has no maps, and takes minutes to write 50,000 columns
	}
	kind, _, named := strings.Cut(op, " ")
	return slices.Contains(p.Operations, kind) && (!named || kind == "filter")
}

// Write implements [suite.Contender].
func (p *peer) Write(context.Context, string, *arrow.Schema, suite.Source, int) error {
	return errors.New("a peer measures itself")
}

// Read implements [suite.Contender].
func (p *peer) Read(_ context.Context, path string, q suite.Query, out *suite.Outcome) error {
	a, err := p.Ask(peerQuery(path, q))
	out.Rows += a.Rows
	return err
}

func peerQuery(path string, q suite.Query) peers.Question {
	switch {
	case q.Take != nil:
		return peers.Question{Op: "take", Path: path, Rows: q.Take}
	case q.Where != "":
		return peers.Question{Op: "filter", Path: path, Where: q.Where}
	}
	return peers.Question{Op: "scan", Path: path, Columns: q.Columns}
}

// Time does an operation and returns the CPU time in seconds that the peer measured.
func (p *peer) Time(d *suite.Dataset, op, path string) (float64, error) {
	q := peers.Question{Op: measure.OpWrite, Path: path, Input: p.input}
	if op != measure.OpWrite {
		read, err := d.Query(op)
		if err != nil {
			return 0, err
		}
		q = peerQuery(path, read)
	}
	a, err := p.Ask(q)
	return a.Seconds, err
}
