package lint

import (
	"go/ast"
	"go/token"
	"testing"
)

// mayNotRecover lists the functions that start goroutines without a deferred recovery in the same function, with the
// reason.
var mayNotRecover = map[string]string{
	"internal/engine/scan/scanner.go start":                        "work calls filterRows and decode, which recover into the error of the job",
	"shard/internal/stripe/write/internal/buffers/pool.go NewPool": "tasks recover into the error of their buffer (pipeline.try, pipeline.append)",
	"shard/internal/stripe/write/writer.go each":                   "try recovers into the error of the column",
	"cmd/amudai/internal/convert/convert.go readAhead":             "nextBatch recovers",
	"internal/base/parallel/parallel.go Each":                      "one recovers",
	"internal/bench/measure/peak.go Peak":                          "it reads a file of the system, no input",
	"sql/cmd/amudai-sql/main.go show":                              "it prints a number",
	"cmd/amudai/main.go main":                                      "it waits for a signal",
}

// TestGoroutinesRecover requires a deferred fault.Recover or fault.RecoverInternal in every goroutine. No caller
// could recover its panic, and the process would end.
func TestGoroutinesRecover(t *testing.T) {
	met := map[string]bool{}
	goFiles(t, func(f file, set *token.FileSet, syntax *ast.File) {
		if f.test() || forTests(f.dir()) {
			return
		}
		for _, d := range syntax.Decls {
			in, ok := d.(*ast.FuncDecl)
			if !ok {
				continue
			}
			for _, started := range goroutines(in) {
				if recovers(started) {
					continue
				}
				name := f.path + " " + in.Name.Name
				met[name] = true
				if mayNotRecover[name] == "" {
					t.Errorf("%s: defer fault.Recover in the function that runs as a goroutine, or add %q to mayNotRecover with the reason",
						set.Position(started.Pos()), name)
				}
			}
		}
	})
	for name := range mayNotRecover {
		if !met[name] {
			t.Errorf("%s starts no such goroutine any more: remove it from mayNotRecover", name)
		}
	}
}

// goroutines lists the functions that a function starts as goroutines: by go statements, and by the method Go of
// wait groups and error groups.
func goroutines(in *ast.FuncDecl) (started []ast.Expr) {
	ast.Inspect(in, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GoStmt:
			started = append(started, n.Call.Fun)
		case *ast.CallExpr:
			if s, ok := n.Fun.(*ast.SelectorExpr); ok && (s.Sel.Name == "Go" || s.Sel.Name == "TryGo") && len(n.Args) == 1 {
				started = append(started, n.Args[0])
			}
		}
		return true
	})
	return started
}

// recovers reports whether a function literal defers a recovery itself.
func recovers(function ast.Expr) bool {
	literal, ok := function.(*ast.FuncLit)
	if !ok {
		return false
	}
	for _, s := range literal.Body.List {
		d, ok := s.(*ast.DeferStmt)
		if !ok {
			continue
		}
		s, ok := d.Call.Fun.(*ast.SelectorExpr)
		if !ok {
			continue
		}
		pkg, ok := s.X.(*ast.Ident)
		if ok && pkg.Name == "fault" && (s.Sel.Name == "Recover" || s.Sel.Name == "RecoverInternal") {
			return true
		}
	}
	return false
}
