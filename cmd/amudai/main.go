// Command amudai converts tables to Amudai shards and back, and shows what is
// in them. See package cmd/amudai/internal/command, and "amudai help".
package main

import (
	"context"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"syscall"

	"github.com/amudai/amudai-go/cmd/amudai/internal/app"
	"github.com/amudai/amudai-go/cmd/amudai/internal/command"
	"github.com/amudai/amudai-go/storage"
	_ "github.com/amudai/amudai-go/storage/az" // the locations of these schemes
	_ "github.com/amudai/amudai-go/storage/gs"
	_ "github.com/amudai/amudai-go/storage/http"
	_ "github.com/amudai/amudai-go/storage/s3"
	_ "github.com/amudai/amudai-go/storage/xrootd"
)

// collectLater has the first collection of garbage at 16 MiB instead of 4, and the others as usual: a short command is over before it would pay, and what the start of the
// program allocates stays anyway.
func collectLater() {
	if os.Getenv("GOGC") == "" {
		usual := debug.SetGCPercent(400)
		runtime.AddCleanup(new([16]byte), func(percent int) { debug.SetGCPercent(percent) }, usual)
	}
}

func main() {
	collectLater()
	// Whoever reads stdout may leave: then writing fails, and temporary files go, too.
	signal.Ignore(syscall.SIGPIPE)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	go func() {
		<-ctx.Done()
		stop() // a second Ctrl-C ends the process at once
	}()
	os.Exit(command.Main(storage.WithHedging(ctx), app.OSEnv()))
}
