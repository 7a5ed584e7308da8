package schema

import "strings"

// A path names a node: the names of the nodes that lead to it, separated by dots. A dot or
// backslash inside a name has a backslash before it. A path goes through a list to its items: a
// name behind a list is that of a field of the items. The item itself is "item", or has its own
// name if it has one. The key and value of a map are "key" and "value". An unknown name is an
// error.
//
//	price             a top-level field
//	orders.id         the field id of the structs in the list orders
//	orders.item.id    the same
//	v1\.2             a top-level field called "v1.2"
//
// Names of siblings are unique in a stored schema: a second field a is stored as a#2, and a
// field without a name as #1 (arrowmap.UniqueNames).

var escaper = strings.NewReplacer(`\`, `\\`, `.`, `\.`)

// Escape is name as one part of a path.
func Escape(name string) string {
	if !strings.ContainsAny(name, `.\`) {
		return name
	}
	return escaper.Replace(name)
}

// JoinPath is the path of the child called name of the node at parent; parent
// is "" for a top-level node.
func JoinPath(parent, name string) string {
	if parent == "" {
		return Escape(name)
	}
	return parent + "." + Escape(name)
}

// SplitPath is the names that a path consists of, at least one. Every text is a
// path: a backslash before anything but a dot or a backslash stands for itself.
func SplitPath(path string) []string {
	var names []string
	var name strings.Builder
	for i := 0; i < len(path); i++ {
		switch c := path[i]; {
		case c == '\\' && i+1 < len(path) && (path[i+1] == '.' || path[i+1] == '\\'):
			i++
			name.WriteByte(path[i])
		case c == '.':
			names = append(names, name.String())
			name.Reset()
		default:
			name.WriteByte(c)
		}
	}
	return append(names, name.String())
}
