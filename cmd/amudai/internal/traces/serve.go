package traces

import (
	"context"
	"errors"
	"net"
	"time"

	"github.com/spf13/cobra"

	"github.com/amudai/amudai-go/blockpack/serve"
	"github.com/amudai/amudai-go/cmd/amudai/internal/app"
	"github.com/amudai/amudai-go/cmd/amudai/internal/formats"
	"github.com/amudai/amudai-go/cmd/amudai/internal/terminal"
	"github.com/amudai/amudai-go/cmd/amudai/internal/usage"
)

func (a group) blockpackServe() *cobra.Command {
	var o serve.Options
	address := ""
	cmd := &cobra.Command{
		Use:   "serve DIR",
		Short: "Receive traces by OTLP over HTTP, and store them in files in a folder",
		Long: `serve receives traces by OTLP over HTTP (POST /v1/traces, protobuf or JSON, also with gzip), and stores
them in Blockpack files in DIR. It ends with Ctrl-C, or SIGTERM, after it has answered the requests that
wait, and published the last file.

A request is answered with success once its spans are in a write-ahead log, DIR/wal, and the disk has
them. A file ends by --size or --age. It is then visible, under the time of its first message, as
20260102T150405.123456789Z.blockpack, and its log is removed. Files are never replaced. After a crash
serve first writes the files of the logs that are left: nothing that was acknowledged is lost.

Clients are asked to wait and send again while the queue is full (status 429), and while the disk is full
or fails (503). Spans that no file can store, such as one with an id of the wrong length, are rejected;
the others of the request are stored.

There is neither encryption nor authentication. By default only programs of this machine are served.`,
		Example: `  amudai blockpack serve traces
  amudai blockpack serve --otlp :4318 --size 256MiB --age 15m traces
  OTEL_EXPORTER_OTLP_ENDPOINT=http://localhost:4318 OTEL_EXPORTER_OTLP_PROTOCOL=http/protobuf my-service`,
		Args: app.Wants(1, 1, "the folder"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if flag := cmd.Flags().Lookup; o.QueueBytes < 4*o.MaxMessageBytes {
				return usage.Errorf("the queue must hold at least four of the largest requests", "--queue %s is too small for --max-request %s", flag("queue").Value, flag("max-request").Value)
			}
			return a.runServe(cmd.Context(), args[0], address, o)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&address, "otlp", "localhost:4318", "address to listen at; :4318 serves all of the network")
	formats.RegisterSize(cmd, &o.FileBytes, "size", "64MiB", "end a file once so much of it is written")
	flags.DurationVar(&o.FileAge, "age", 5*time.Minute, "end a file so long after its first message")
	formats.RegisterSize(cmd, &o.LogBytes, "log-size", "512MiB", "end a file once its log has this size, which a restart after a crash must read")
	formats.RegisterSize(cmd, &o.QueueBytes, "queue", "64MiB", "memory of requests that wait; more are refused with status 429")
	formats.RegisterSize(cmd, &o.MaxMessageBytes, "max-request", "16MiB", "size of a request, sent and decompressed; larger ones are refused")
	flags.IntVar(&o.Writer.BlockSpans, "block-spans", 0, "spans of a block: small ones suit the lookup of traces, large ones take less space (default: the format's)")
	flags.IntVar(&o.Writer.Parallelism, "parallel", 0, "blocks encoded at a time (default: one per CPU)")
	return cmd
}

func (a group) runServe(ctx context.Context, dir, address string, o serve.Options) error {
	o.MaxRequestBytes = o.MaxMessageBytes
	if o.FileAge <= 0 {
		return usage.Errorf("", "--age %v is not more than 0", o.FileAge)
	}
	o.Notice = a.Notice
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", address)
	if err != nil {
		return usage.WithHint(err, "--otlp localhost:4319, for example, listens elsewhere")
	}
	s, err := serve.Open(ctx, dir, o)
	if err != nil {
		return errors.Join(err, l.Close())
	}
	a.Errs.Printf("receiving traces at http://%s%s, storing them in %s\n", l.Addr().String(), serve.Path, dir)
	err = s.Serve(ctx, l)
	err = errors.Join(err, s.Close(context.WithoutCancel(ctx))) // a second Ctrl-C ends the process, and the log has all
	a.printReceived(s.Stats())
	return err
}

// printReceived prints what became of all requests.
func (a group) printReceived(st serve.Stats) {
	a.Errs.Printf("%s acknowledged; %s published, %s\n", terminal.Plural(st.Spans, "span"), terminal.Plural(st.Files, "file"), terminal.Size(st.FileBytes))
	a.Errs.Printf("%s answered", terminal.Plural(st.Requests, "request"))
	for _, c := range []struct {
		n    int64
		what string
	}{
		{st.Acknowledged, "acknowledged"}, {st.Invalid, "refused as invalid"},
		{st.Throttled, "refused because the queue was full"}, {st.Unavailable, "refused because of the disk, or at the end"},
	} {
		if c.n > 0 {
			a.Errs.Printf(", %s %s", terminal.Count(c.n), c.what)
		}
	}
	if st.Rejected > 0 {
		a.Errs.Printf("; %s rejected", terminal.Plural(st.Rejected, "span"))
	}
	a.Errs.Printf("\n")
}
