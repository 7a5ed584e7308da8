package container

import (
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/amudai/amudai-go/internal/base/fault"
)

// Policy decides about references outside the root's container. The zero value refuses them, so
// that an untrusted shard cannot make its reader open other files or hosts.
type Policy struct {
	// Allow is asked about an absolute URL outside the root's container. An
	// error refuses it. Nil refuses all.
	Allow func(absolute string) error
}

var errNotAllowed = fault.Unsupportedf("not allowed")

// With is the policy that allows all in some folders, too, whose URLs end in a slash.
func (p Policy) With(folders ...string) Policy {
	return Policy{Allow: func(absolute string) error {
		switch {
		case slices.ContainsFunc(folders, func(f string) bool { return strings.HasPrefix(absolute, f) }):
			return nil
		case p.Allow == nil:
			return errNotAllowed
		}
		return p.Allow(absolute)
	}}
}

// SameScheme reports whether two absolute URLs have one scheme, and so may be in one store.
func SameScheme(a, b string) bool {
	scheme, _, _ := strings.Cut(a, "://")
	return strings.HasPrefix(b, scheme+"://")
}

// Container is the folder of an artifact's URL: up to the last slash.
func Container(artifact string) string {
	if at := strings.LastIndexByte(artifact, '/'); at >= strings.Index(artifact, "://")+3 {
		return artifact[:at+1]
	}
	return artifact + "/"
}

// Resolve returns the absolute URL of a reference (docs/format.md §2.5). root is the URL of the
// shard's root, in the form that storage.URL gives, and anchor that of the artifact which holds
// the referencing message.
//
//	""                   the anchor
//	"ab12.stripe"        in the container of the root, not of the anchor
//	"file:///data/x"     itself, if the policy allows it
func Resolve(root, anchor, ref string, p Policy) (string, error) {
	if ref == "" {
		return anchor, nil
	}
	scheme, absolute := cutScheme(ref)
	if !absolute {
		if err := checkRelative(ref); err != nil {
			return "", err
		}
		return Container(root) + escapeRaw(ref), nil
	}
	if err := checkAbsolute(ref, scheme); err != nil {
		return "", err
	}
	if strings.HasPrefix(ref, Container(root)) {
		return ref, nil
	}
	if p.Allow == nil {
		return "", fmt.Errorf("reference to %s, outside of the shard's container %s: %w", ref, Container(root), errNotAllowed)
	}
	if err := p.Allow(ref); err != nil {
		return "", fmt.Errorf("reference to %s: %w", ref, err)
	}
	return ref, nil
}

// ResolveSelf returns the URL of an entry of the shard's own field list. There the reference
// implementation writes the absolute URL of the root, which is wrong after the shard is moved.
// So an absolute URL means the root itself, and the checksum of the message decides
// (docs/format.md §2.5).
func ResolveSelf(root, ref string, p Policy) (string, error) {
	if _, absolute := cutScheme(ref); absolute || ref == "" {
		return root, nil
	}
	return Resolve(root, root, ref, p)
}

// Relative is the reference that a writer puts into a message for target: ""
// for the root itself, relative inside the root's container, else absolute.
func Relative(root, target string) string {
	if target == root {
		return ""
	}
	rel, inside := strings.CutPrefix(target, Container(root))
	if !inside || rel == "" || checkRelative(rel) != nil {
		return target
	}
	if first, _, _ := strings.Cut(rel, "/"); strings.Contains(first, ":") { // would look like a scheme
		rel = strings.ReplaceAll(first, ":", "%3A") + rel[len(first):]
	}
	return rel
}

// cutScheme reports whether s begins with a URL scheme: letter (letter | digit |
// + - .)* ":".
func cutScheme(s string) (scheme string, ok bool) {
	for i, c := range []byte(s) {
		switch {
		case c|0x20 >= 'a' && c|0x20 <= 'z':
		case i > 0 && (c >= '0' && c <= '9' || c == '+' || c == '-' || c == '.'):
		case i > 0 && c == ':':
			return strings.ToLower(s[:i]), true
		default:
			return "", false
		}
	}
	return "", false
}

// checkRelative refuses relative references that could leave the container: by dot segments, by
// separators that only appear when the reference is decoded, or by characters that URL parsers
// ignore.
func checkRelative(ref string) error {
	if ref[0] == '/' {
		return fault.Corruptf("reference %q begins with a slash", ref)
	}
	if strings.ContainsAny(ref, "?#\\") {
		return fault.Corruptf("reference %q holds a query, a fragment or a backslash", ref)
	}
	return checkSegments(ref)
}

func checkSegments(path string) error {
	for segment := range strings.SplitSeq(path, "/") {
		name, err := url.PathUnescape(segment)
		if err != nil {
			return fault.Corruptf("reference %q: %v", path, err)
		}
		if name == "." || name == ".." || strings.ContainsAny(name, "/\\") {
			return fault.Corruptf("reference %q: segment %q is not a name", path, segment)
		}
		for _, c := range []byte(name) {
			if c < ' ' || c == 0x7f {
				return fault.Corruptf("reference %q holds a control character", path)
			}
		}
	}
	return nil
}

// checkAbsolute demands the normal form, without user, query and fragment.
func checkAbsolute(ref, scheme string) error {
	rest, ok := strings.CutPrefix(ref, scheme+"://")
	host, path, slash := strings.Cut(rest, "/")
	if !ok || !slash || strings.ContainsAny(ref, "?#\\ \"<>`{}") || strings.Contains(host, "@") || host != strings.ToLower(host) {
		return fault.Corruptf("reference %q is not a URL in normal form with only a host and a path", ref)
	}
	return checkSegments(path)
}

// escapeRaw percent-encodes characters that URLs cannot hold, and leaves
// escapes as they are.
func escapeRaw(ref string) string {
	var b strings.Builder
	for _, c := range []byte(ref) {
		if c <= ' ' || c >= 0x7f || strings.IndexByte("\"<>`{}|^[]", c) >= 0 {
			fmt.Fprintf(&b, "%%%02X", c)
		} else {
			b.WriteByte(c)
		}
	}
	return b.String()
}
