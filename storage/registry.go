package storage

import (
	"fmt"
	"sync"
)

var (
	registryMu sync.RWMutex
	registry   = map[string]Store{"": Local{}, "file": Local{}, "mem": NewMemory()}
)

// Register makes s the store of all locations of a scheme, in lower case without
// "://", over the one that was. Packages of stores do so when they are imported. To use
// a store for some locations only, give it to those who open or create them.
func Register(scheme string, s Store) {
	registryMu.Lock()
	defer registryMu.Unlock()
	registry[scheme] = s
}

// ForLocation is the store that a location belongs to: a path or file:// URL on the
// local file system, mem:// in a memory store that the whole process shares, and URLs
// of the schemes that were registered.
func ForLocation(location string) (Store, error) {
	scheme := schemeOf(location)
	registryMu.RLock()
	s := registry[scheme]
	registryMu.RUnlock()
	switch {
	case s != nil:
		return s, nil
	case scheme == "http" || scheme == "https":
		return nil, fmt.Errorf("no store for %s:// locations: import _ \"github.com/amudai/amudai-go/storage/http\"", scheme)
	}
	return nil, fmt.Errorf("no store for %s:// locations: use a path, file:// or mem://, or register one", scheme)
}
