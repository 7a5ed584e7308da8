package inputs

import (
	"maps"
	"sync"

	"github.com/amudai/amudai-go/storage"
)

// Versions are those of the inputs of a run, by location: an input that is opened for its schema, and again for its rows, must not
// have become another one meanwhile. It may be used concurrently.
type Versions struct {
	mu    sync.Mutex
	known map[string]storage.Version
}

// NewVersions returns those that inputs had when another run opened them.
func NewVersions(known map[string]storage.Version) *Versions {
	v := &Versions{known: map[string]storage.Version{}}
	maps.Copy(v.known, known)
	return v
}

// Known are the versions so far; nil if v is.
func (v *Versions) Known() map[string]storage.Version {
	if v == nil {
		return nil
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	return maps.Clone(v.known)
}

// check compares the version of an input with that of before, if there was one.
func (v *Versions) check(location string, now storage.Version) error {
	if v == nil {
		return nil
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if before, ok := v.known[location]; ok && before != now {
		return changedError{location}
	}
	if now != "" {
		v.known[location] = now
	}
	return nil
}

// changedError says that an input is not the one that was opened before.
type changedError struct{ location string }

func (e changedError) Error() string { return e.location + " has changed since it was opened" }
func (changedError) Unwrap() error   { return storage.ErrChanged }
func (changedError) Hint() string    { return "open it again" }
