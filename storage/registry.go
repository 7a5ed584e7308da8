package storage

import (
	"fmt"
	"sync"
)

var (
	registryMu sync.RWMutex
	registry   = map[string]Store{"": Local{}, "file": Local{}, "mem": NewMemory()}
)

// packages are those below this one that register the store of a scheme.
var packages = map[string]string{"http": "http", "https": "http", "s3": "s3", "gs": "gs", "az": "az", "root": "xrootd", "roots": "xrootd"}

// Register makes s the store of all locations of a URL scheme, given in lower case
// without "://". It replaces an earlier store of that scheme. Packages of stores call it
// when they are imported. A store for particular shards is passed in the options of
// their readers and writers instead. Register may be called concurrently.
func Register(scheme string, s Store) {
	registryMu.Lock()
	defer registryMu.Unlock()
	registry[scheme] = s
}

// Of is the store of a location: the given one, unless it is nil.
func Of(given Store, location string) (Store, error) {
	if given != nil {
		return given, nil
	}
	return ForLocation(location)
}

// ForLocation returns the store of a location by its scheme: [Local] for paths and
// file:// URLs, a [Memory] shared by the whole process for mem:// URLs, and otherwise the
// registered store. It may be called concurrently.
func ForLocation(location string) (Store, error) {
	scheme := schemeOf(location)
	registryMu.RLock()
	s := registry[scheme]
	registryMu.RUnlock()
	switch {
	case s != nil:
		return s, nil
	case packages[scheme] != "":
		return nil, fmt.Errorf("no store for %s:// locations: import _ \"github.com/amudai/amudai-go/storage/%s\"", scheme, packages[scheme])
	}
	return nil, fmt.Errorf("no store for %s:// locations: use a path, file:// or mem://, or register one", scheme)
}
