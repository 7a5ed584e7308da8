package zoo

import (
	"fmt"
	"strings"
	"time"
)

var programs = []Column{
	{Name: "source_go", Group: "programs", open: openSource},
	{Name: "stack_java", Group: "programs", open: openJavaStack},
	{Name: "stack_go", Group: "programs", HeldOut: true, open: openGoStack},
	{Name: "strace", Group: "programs", open: openStrace},
	{Name: "symbol", Group: "programs", HeldOut: true, open: openSymbol},
}

// openSource reads the lines of Go's own sources.
func openSource(g *gen) (next, error) {
	var all []string
	err := g.goFiles(func(_, content string) error {
		for line := range strings.Lines(content) {
			if line = strings.TrimSuffix(line, "\n"); line != "" {
				if all = append(all, line); len(all) >= g.n {
					return errEnough
				}
			}
		}
		return nil
	})
	if err == nil && len(all) < g.n {
		err = fmt.Errorf("only %d lines in the sources of Go", len(all))
	}
	return inOrder(all), err
}

// names of methods, in the style of Java.
func (g *gen) camel(n int) []string {
	parts := g.vocabulary(strings.Fields("get set find update handle process create read write load parse build init user order item cache data service request response client message event"), 200)
	out := make([]string, n)
	for i := range out {
		w := skewed(g, parts)
		for range 1 + g.IntN(3) {
			p := skewed(g, parts)
			w += strings.ToUpper(p[:1]) + p[1:]
		}
		out[i] = w
	}
	return out
}

// openJavaStack makes stack traces: paths through a graph of calls.
func openJavaStack(g *gen) (next, error) {
	packages := g.vocabulary(strings.Fields("service web dao security util model"), 40)
	methods := g.camel(600)
	frames := make([]string, 1500)
	for i := range frames {
		class := g.camel(1)[0]
		class = strings.ToUpper(class[:1]) + class[1:]
		frames[i] = fmt.Sprintf("\n\tat com.example.%s.%s.%s(%s.java:%d)", skewed(g, packages), class, skewed(g, methods), class, 20+g.below(700))
	}
	errors := []string{"java.lang.NullPointerException", "java.io.IOException: Connection reset by peer", "java.util.concurrent.TimeoutException: waited %d ms", "java.lang.IllegalStateException: order %d is closed", "java.sql.SQLException: deadlock detected, transaction %d"}
	return func(b []byte) []byte {
		if e := skewed(g, errors); strings.Contains(e, "%d") {
			b = fmt.Appendf(b, e, g.below(900_000))
		} else {
			b = append(b, e...)
		}
		f := g.below(len(frames))
		for range 2 + g.below(9) {
			b = append(b, frames[f]...)
			f = (f*31 + 7 + g.below(4)) % len(frames) // a call leads to few others
		}
		return b
	}, nil
}

func openGoStack(g *gen) (next, error) {
	functions := g.camel(800)
	return func(b []byte) []byte {
		b = fmt.Appendf(b, "goroutine %d [%s]:\n", 1+g.below(90_000), skewed(g, []string{"running", "IO wait", "chan receive", "select", "semacquire, 5 minutes"}))
		f := g.below(len(functions))
		for range 1 + g.below(5) {
			b = fmt.Appendf(b, "example.com/app/%s.%s(0xc%09x, 0x%x)\n\t/build/%[1]s/%[2]s.go:%[5]d +0x%[6]x\n", skewed(g, []string{"server", "store", "rpc", "queue"}), functions[f], g.IntN(1<<30)&^15, g.below(4096), 10+f%400, f*13%2048)
			f = (f*31 + 7 + g.below(4)) % len(functions)
		}
		return b
	}, nil
}

// openStrace makes the system calls of a few processes.
func openStrace(g *gen) (next, error) {
	clock, file := g.clock(date(2024, 8, 1, 14, 2, 11), 300*time.Microsecond), g.fileNames()
	folders := g.folders(600, []string{"/usr/lib/x86_64-linux-gnu", "/etc", "/proc/self", "/data/cache"}, "/")
	folder, open := g.zipf(1.2, len(folders)), [6]int{}
	return func(b []byte) []byte {
		p := g.below(len(open))
		b = fmt.Appendf(b, "%d %s ", 21_330+p*17, clock.tick().Format("15:04:05.000000"))
		fd := 3 + g.below(5+open[p]%9)
		switch n := int(g.around(1200, 1.5)); g.below(7) {
		case 0:
			b = fmt.Appendf(b, `read(%d, "`, fd)
			b = fmt.Appendf(g.chars(b, lower+" "+digits, 32), `"..., %d) = %d`, 1<<(9+g.below(8)), n)
		case 1:
			open[p]++
			b = fmt.Appendf(b, `openat(AT_FDCWD, "%s/%s", O_RDONLY|O_CLOEXEC) = `, folders[folder()], file(nil))
			if g.chance(3) {
				b = append(b, "-1 ENOENT (No such file or directory)"...)
			} else {
				b = fmt.Appendf(b, "%d", fd)
			}
		case 2:
			b = fmt.Appendf(b, "close(%d) = 0", fd)
		case 3:
			b = fmt.Appendf(b, "mmap(NULL, %d, PROT_READ|PROT_WRITE, MAP_PRIVATE|MAP_ANONYMOUS, -1, 0) = 0x7f%010x", (n/4096+1)*4096, int64(g.IntN(1<<28))<<12)
		case 4:
			b = fmt.Appendf(b, "futex(0x%x, FUTEX_WAKE_PRIVATE, 1) = %d", 0xc000100148+int64(g.below(64))*0x400, g.IntN(2))
		case 5:
			b = fmt.Appendf(b, "epoll_pwait(%d, [{events=EPOLLIN, data={u32=%d, u64=%[2]d}}], 128, %d, NULL, 0) = 1", fd, g.below(1<<20), n)
		default:
			b = fmt.Appendf(b, "fstat(%d, {st_mode=S_IFREG|0644, st_size=%d, ...}) = 0", fd, n*7)
		}
		return fmt.Appendf(b, " <0.%06d>", min(999_999, int(g.around(40, 1))))
	}, nil
}

// openSymbol makes mangled names of C++.
func openSymbol(g *gen) (next, error) {
	spaces, names := g.vocabulary([]string{"std", "boost", "absl", "llvm"}, 120), g.camel(9000)
	space, name := g.zipf(1.2, len(spaces)), g.zipf(1.1, len(names))
	types := strings.Fields("i m PKc RKSs St6vectorIiSaIiEE b d PvS_ RKNS_6StringE j")
	return func(b []byte) []byte {
		b = append(b, "_ZN"...)
		for _, w := range []string{spaces[space()], names[name()], names[name()]} {
			b = fmt.Appendf(b, "%d%s", len(w), w)
		}
		b = append(b, 'E')
		for range 1 + g.below(4) {
			b = append(b, skewed(g, types)...)
		}
		return b
	}, nil
}
