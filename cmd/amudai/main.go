// Command amudai converts tables to Amudai shards and back, and shows what is
// in them. See package cmd/amudai/internal/command, and "amudai help".
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/amudai/amudai-go/cmd/amudai/internal/app"
	"github.com/amudai/amudai-go/cmd/amudai/internal/command"
	_ "github.com/amudai/amudai-go/storage/az" // the locations of these schemes
	_ "github.com/amudai/amudai-go/storage/gs"
	_ "github.com/amudai/amudai-go/storage/http"
	_ "github.com/amudai/amudai-go/storage/s3"
)

func main() {
	// Whoever reads stdout may leave: then writing fails, and temporary files go, too.
	signal.Ignore(syscall.SIGPIPE)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	go func() {
		<-ctx.Done()
		stop() // a second Ctrl-C ends the process at once
	}()
	os.Exit(command.Main(ctx, app.OSEnv()))
}
