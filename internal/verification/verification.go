// Package verification collects what the verifiers of formats find.
package verification

import (
	"cmp"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"

	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/base/option"
	"github.com/amudai/amudai-go/table/provider"
)

// ErrEnough ends a verification with more problems than were asked for.
var ErrEnough = errors.New("enough problems")

// maxNotes bounds the notes of a file that breaks the same rule in each column.
const maxNotes = 1000

// Findings are the findings and counts of a verification in progress. Many goroutines may add to them.
type Findings struct {
	Options provider.VerifyOptions // with their defaults

	lock   sync.Mutex
	report provider.Report
	done   int
}

// Begin begins a verification. The names of the parts that are counted are in the order of the report.
func Begin(o provider.VerifyOptions, parts ...string) (*Findings, error) {
	f := &Findings{Options: o}
	for _, name := range parts {
		f.report.Checked = append(f.report.Checked, provider.Count{Name: name})
	}
	return f, cmp.Or(
		option.SetDefault("VerifyOptions.MaxFindings", &f.Options.MaxFindings, provider.DefaultMaxFindings),
		option.SetDefault("VerifyOptions.Parallelism", &f.Options.Parallelism, runtime.GOMAXPROCS(0)),
	)
}

// Problem adds damage or a contradiction. It returns ErrEnough if there are as many as were asked for.
func (f *Findings) Problem(err error) error {
	f.lock.Lock()
	defer f.lock.Unlock()
	if len(f.report.Problems) >= f.Options.MaxFindings {
		f.report.Truncated = true
		return ErrEnough
	}
	f.report.Problems = append(f.report.Problems, err)
	return nil
}

// Note adds a harmless peculiarity.
func (f *Findings) Note(err error) { f.note(err, 0) }

// Unchecked notes a part that could not be checked.
func (f *Findings) Unchecked(err error) { f.note(fmt.Errorf("not checked: %w", err), 1) }

func (f *Findings) note(err error, unchecked int) {
	f.lock.Lock()
	defer f.lock.Unlock()
	f.report.Unchecked += unchecked
	if len(f.report.Notes) < maxNotes {
		f.report.Notes = append(f.report.Notes, err)
	}
}

// Count adds to the number of checked parts of a name.
func (f *Findings) Count(name string, n int64) {
	f.lock.Lock()
	defer f.lock.Unlock()
	i := slices.IndexFunc(f.report.Checked, func(c provider.Count) bool { return c.Name == name })
	f.report.Checked[i].N += n
}

// Number is the number of checked parts of a name so far.
func (f *Findings) Number(name string) int64 {
	f.lock.Lock()
	defer f.lock.Unlock()
	return f.report.Number(name)
}

// Complete reports whether all parts so far could be checked.
func (f *Findings) Complete() bool {
	f.lock.Lock()
	defer f.lock.Unlock()
	return f.report.Unchecked == 0
}

// Done tells that one of all steps is done.
func (f *Findings) Done(total int) {
	f.lock.Lock()
	defer f.lock.Unlock()
	f.done++
	if f.Options.Progress != nil {
		f.Options.Progress(f.done, total)
	}
}

// Report is the outcome of a verification that ended with err. Findings are ordered by their places, so that they do not depend on the
// order of work.
func (f *Findings) Report(err error) (*provider.Report, error) {
	if err != nil && !errors.Is(err, ErrEnough) {
		return nil, err
	}
	f.lock.Lock()
	defer f.lock.Unlock()
	for _, list := range [][]error{f.report.Problems, f.report.Notes} {
		slices.SortStableFunc(list, func(a, b error) int {
			return cmp.Or(cmp.Compare(offsetOf(a), offsetOf(b)), cmp.Compare(a.Error(), b.Error()))
		})
	}
	return &f.report, nil
}

func offsetOf(err error) int64 {
	var e *fault.Error
	if errors.As(err, &e) {
		return e.Offset
	}
	return -1
}
