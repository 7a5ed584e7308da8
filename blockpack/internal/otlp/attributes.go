package otlp

import "github.com/amudai/amudai-go/blockpack/internal/column"

// attributes are the columns of attributes of a scope, by key.
type attributes struct {
	keys map[string]*attribute
	head attribute // before the first attribute of a list
}

// attribute is a key of attributes, and its columns by type.
type attribute struct {
	key     string
	columns [column.Bytes + 1]*columnBuilder
	list    int        // the last list of attributes that had the key
	next    *attribute // the one that came after this one the last time; a list of the same program has the same order
}

func (a *attributes) reset() {
	a.keys = map[string]*attribute{}
	a.head = attribute{}
}

// after finds a key that comes after another one in a list.
func (a *attributes) after(prev *attribute, key []byte) *attribute {
	if next := prev.next; next != nil && next.key == string(key) {
		return next
	}
	next := a.keys[string(key)]
	if next == nil {
		next = &attribute{key: string(key)}
		a.keys[next.key] = next
	}
	prev.next = next
	return next
}

// forget removes the keys that no row has.
func (a *attributes) forget() {
	n := len(a.keys)
	for key, k := range a.keys {
		if !k.used() {
			delete(a.keys, key)
		}
	}
	if len(a.keys) < n { // some may be next ones
		a.head.next = nil
		for _, k := range a.keys {
			k.next = nil
		}
	}
}

func (k *attribute) used() bool {
	for _, c := range k.columns {
		if c != nil && c.n > 0 {
			return true
		}
	}
	return false
}

// columnOf returns the column of an attribute's values of a type.
func (b *Builder) columnOf(scope int, k *attribute, t column.Type) (*columnBuilder, error) {
	if c := k.columns[t]; c != nil {
		return c, nil
	}
	if len(prefixes[scope])+len(k.key) > b.o.MaxNameLen {
		return nil, b.nameTooLong(scope, []byte(k.key))
	}
	c := &columnBuilder{definition: definition{b: b, name: prefixes[scope] + k.key, typ: t, interned: t.Textual(), single: scope == ofSpan}}
	k.columns[t] = c
	return c, nil
}
