// Package server is the command serve: it receives traces by OTLP over HTTP and gRPC, and answers queries as Grafana Tempo does.
package server

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"
	"golang.org/x/sync/semaphore"

	"github.com/amudai/amudai-go/blockpack/serve"
	"github.com/amudai/amudai-go/cmd/amudai/internal/app"
	"github.com/amudai/amudai-go/cmd/amudai/internal/formats"
	"github.com/amudai/amudai-go/cmd/amudai/internal/terminal"
	"github.com/amudai/amudai-go/cmd/amudai/internal/traces"
	"github.com/amudai/amudai-go/cmd/amudai/internal/usage"
	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/base/seq"
)

// Commands make the commands of the package.
func Commands(a *app.App) []func() *cobra.Command {
	return []func() *cobra.Command{func() *cobra.Command { return command(a) }}
}

// options are the flags of serve.
type options struct {
	receiver            serve.Options
	tidy                tidyOptions
	http, otlp, grpc    string
	hosts               []string
	tenants             bool
	token, cert, key    string
	timeout             time.Duration
	memory              int64
	results, concurrent int
}

const mostTenants = 100

func command(a *app.App) *cobra.Command {
	var o options
	cmd := &cobra.Command{
		Use:   "serve DIR",
		Short: "Receive traces by OTLP, store them in a folder, and answer queries as Grafana Tempo does",
		Long: `serve receives traces by OTLP over HTTP (POST /v1/traces, protobuf or JSON, also with gzip) and gRPC, and
stores them in Blockpack files in DIR. It answers Tempo's read API about these files, and about all others with
spans in DIR: a data source of Grafana of the type Tempo has the address http://localhost:3200. It ends with
Ctrl-C, or SIGTERM, after it has answered the requests that wait, and published the last file.

A request is answered with success once its spans are in a write-ahead log, DIR/wal, and the disk has them. A file
ends by --size or --age, and is then found by queries. Small files are merged in the background. After a crash
serve first writes the files of the logs that are left: nothing that was acknowledged is lost.

Clients are asked to wait and send again while the queue is full (status 429), and while the disk is full or
fails (503). Spans that no file can store, such as one with an id of the wrong length, are rejected; the others of
the request are stored.

By default only programs of this machine are served, without encryption or authentication. --token and --tls-cert
ask for them. With --tenants each name in the header X-Scope-OrgID has a folder of its own below DIR.`,
		Example: `  amudai serve traces
  amudai serve --http :3200 --otlp :4318 --token tokens.txt --tls-cert cert.pem --tls-key key.pem traces
  OTEL_EXPORTER_OTLP_ENDPOINT=http://localhost:4317 my-service`,
		Args: app.Wants(1, 1, "the folder"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if flag := cmd.Flags().Lookup; o.receiver.QueueBytes < 4*o.receiver.MaxMessageBytes {
				return usage.Errorf("the queue must hold at least four of the largest requests", "--queue %s is too small for --max-request %s", flag("queue").Value, flag("max-request").Value)
			}
			return run(cmd.Context(), a, args[0], o)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&o.http, "http", "localhost:3200", "address of Tempo's read API; :3200 serves all of the network, \"\" nobody")
	flags.StringVar(&o.otlp, "otlp", "localhost:4318", "address of OTLP over HTTP; it may be that of --http")
	flags.StringVar(&o.grpc, "grpc", "localhost:4317", "address of OTLP over gRPC")
	flags.StringSliceVar(&o.hosts, "host", nil, "names of this machine in requests, besides localhost and addresses")
	flags.StringVar(&o.token, "token", "", "a file of tokens, one in a line: requests need one as \"Authorization: Bearer TOKEN\"")
	flags.StringVar(&o.cert, "tls-cert", "", "a file with a certificate, for TLS")
	flags.StringVar(&o.key, "tls-key", "", "a file with its key")
	cmd.MarkFlagsRequiredTogether("tls-cert", "tls-key")
	flags.BoolVar(&o.tenants, "tenants", false, "a folder for each name in the header X-Scope-OrgID, which requests need")
	formats.RegisterSize(cmd, &o.receiver.FileBytes, "size", "64MiB", "end a file once so much of it is written")
	flags.DurationVar(&o.receiver.FileAge, "age", 500*time.Millisecond, "end a file so long after its first message: queries find its spans then")
	formats.RegisterSize(cmd, &o.receiver.LogBytes, "log-size", "512MiB", "end a file once its log has this size, which a restart after a crash must read")
	formats.RegisterSize(cmd, &o.receiver.QueueBytes, "queue", "64MiB", "memory of requests that wait; more are refused with status 429")
	formats.RegisterSize(cmd, &o.receiver.MaxMessageBytes, "max-request", "16MiB", "size of a request, sent and decompressed; larger ones are refused")
	flags.IntVar(&o.receiver.Writer.BlockSpans, "block-spans", 0, "spans of a block: small ones suit the lookup of traces, large ones take less space (default: the format's)")
	flags.IntVar(&o.receiver.Writer.Parallelism, "parallel", 0, "blocks encoded at a time (default: one per CPU)")
	formats.RegisterSize(cmd, &o.tidy.memory, "merge-memory", "64MiB", "memory for finding duplicates when small files are merged")
	flags.DurationVar(&o.tidy.age, "keep", 0, "remove files of spans that were received so long ago (default: keep them)")
	usage.Parsed(cmd, &o.tidy.bytes, "keep-size", "", "remove the oldest files beyond this size of all (default: keep them)", func(text string) (int64, error) {
		return formats.Size("keep-size", text, "10GiB")
	})
	flags.DurationVar(&o.timeout, "query-timeout", time.Minute, "time of a query; a longer one is ended")
	formats.RegisterSize(cmd, &o.memory, "query-memory", "256MiB", "memory of the spans that a query examines at a time")
	flags.IntVar(&o.results, "query-results", 1000, "maximum number of traces that a query may ask for")
	flags.IntVar(&o.concurrent, "queries", 8, "queries that are answered at a time; others wait")
	return cmd
}

// server answers requests.
type server struct {
	o       options
	tenants *tenants
	queries *semaphore.Weighted
	tokens  [][32]byte // hashes; none: everyone is served
}

func run(ctx context.Context, a *app.App, dir string, o options) (err error) {
	o.receiver.MaxRequestBytes, o.receiver.Notice = o.receiver.MaxMessageBytes, a.Notice
	if o.receiver.FileAge <= 0 {
		return usage.Errorf("", "--age %v is not more than 0", o.receiver.FileAge)
	}
	if o.timeout <= 0 || o.results < 1 || o.concurrent < 1 || o.tidy.age < 0 {
		return usage.Errorf("", "--query-timeout, --query-results, --queries and --keep need a value above 0")
	}
	o.tidy.fileBytes, o.tidy.every = o.receiver.FileBytes, time.Second
	s := &server{o: o, queries: semaphore.NewWeighted(int64(o.concurrent))}
	if s.tokens, err = tokensOf(o.token); err != nil {
		return err
	}
	var secure *tls.Config
	if o.cert != "" {
		pair, err := tls.LoadX509KeyPair(o.cert, o.key)
		if err != nil {
			return err
		}
		secure = &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12}
	}
	s.tenants = &tenants{dir: dir, header: o.tenants, most: mostTenants, folders: map[string]*folder{},
		receive: func(ctx context.Context, dir string) (*serve.Server, error) { return serve.Open(ctx, dir, o.receiver) },
		open: func(ctx context.Context, location string) (traces.Source, error) {
			return traces.Open(ctx, location, func() *formats.Opener { return a.Opener.Silent(a.Stdin) })
		},
	}
	listeners, err := s.listen(ctx)
	if err != nil {
		return err
	}
	if !o.tenants {
		if _, err := s.tenants.of(ctx, "", true); err != nil {
			return errors.Join(err, seq.CloseAll(listeners))
		}
	}
	for _, l := range listeners {
		a.Errs.Printf("%s at %s://%s%s, storing them in %s\n", l.what, l.scheme(secure != nil), l.Addr().String(), l.path, dir)
	}
	err = s.serve(ctx, listeners, secure, a.Notice)
	for _, f := range s.tenants.all() {
		err = errors.Join(err, f.end(context.WithoutCancel(ctx))) // a second Ctrl-C ends the process, and the log has all
		printReceived(a, f.receiver.Stats())
	}
	return err
}

// tokensOf are the hashes of the tokens in a file.
func tokensOf(path string) (list [][32]byte, err error) {
	if path == "" {
		return nil, nil
	}
	content, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	for token := range strings.FieldsSeq(string(content)) {
		list = append(list, sha256.Sum256([]byte(token)))
	}
	if list == nil {
		return nil, fmt.Errorf("%s has no tokens", path)
	}
	return list, nil
}

// authorized reports whether a header has one of the tokens, in a time that tells nothing about them.
func (s *server) authorized(header string) bool {
	token, ok := strings.CutPrefix(header, "Bearer ")
	own := sha256.Sum256([]byte(token))
	found := 0
	for _, t := range s.tokens {
		found |= subtle.ConstantTimeCompare(own[:], t[:])
	}
	return s.tokens == nil || ok && found == 1
}

// listener is an address with what is served there.
type listener struct {
	net.Listener
	what, path string
	grpc       bool
	handler    http.Handler
}

func (l listener) scheme(secure bool) string {
	switch {
	case l.grpc:
		return "grpc"
	case secure:
		return "https"
	}
	return "http"
}

// listen opens the listeners of the flags.
func (s *server) listen(ctx context.Context) (list []listener, err error) {
	receive := http.NewServeMux()
	receive.HandleFunc("/", s.receive)
	read := http.NewServeMux()
	s.routes(read)
	if s.o.otlp == s.o.http {
		read.HandleFunc(serve.Path, s.receive)
		s.o.otlp = ""
	}
	for _, l := range []struct {
		address, flag string
		listener
	}{
		{s.o.otlp, "otlp", listener{what: "receiving traces", path: serve.Path, handler: receive}},
		{s.o.grpc, "grpc", listener{what: "receiving traces", grpc: true}},
		{s.o.http, "http", listener{what: "answering queries", handler: read}},
	} {
		if l.address == "" {
			continue
		}
		if l.Listener, err = (&net.ListenConfig{}).Listen(ctx, "tcp", l.address); err != nil {
			return nil, errors.Join(usage.WithHint(err, "--%s localhost:%d, for example, listens elsewhere", l.flag, 4319), seq.CloseAll(list))
		}
		if l.handler != nil {
			l.handler = s.guard(l.Addr(), l.handler)
		}
		list = append(list, l.listener)
	}
	if list == nil {
		return nil, usage.Errorf("--http, --otlp and --grpc name addresses", "there is nothing to listen at")
	}
	return list, nil
}

const (
	otherHost  = "the request is for another host: --host names those that are served"
	wrongToken = "the token is missing or wrong"
)

// isLocal reports whether only this machine reaches an address.
func isLocal(at net.Addr) bool {
	tcp, ok := at.(*net.TCPAddr)
	return ok && tcp.IP.IsLoopback()
}

// guard refuses requests without a token, and those with the name of another machine: a page in a browser may have made them.
func (s *server) guard(at net.Addr, next http.Handler) http.Handler {
	local := isLocal(at)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case !s.allowsHost(r.Host, local):
			http.Error(w, otherHost, http.StatusMisdirectedRequest)
		case !s.authorized(r.Header.Get("Authorization")):
			w.Header().Set("WWW-Authenticate", "Bearer")
			http.Error(w, wrongToken, http.StatusUnauthorized)
		default:
			next.ServeHTTP(w, r)
		}
	})
}

func (s *server) allowsHost(host string, local bool) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	host = strings.Trim(host, "[]")
	if slices.ContainsFunc(s.o.hosts, func(h string) bool { return strings.EqualFold(h, host) }) {
		return true
	}
	ip := net.ParseIP(host)
	if local {
		return strings.EqualFold(host, "localhost") || ip != nil && ip.IsLoopback()
	}
	return s.o.hosts == nil || strings.EqualFold(host, "localhost") || ip != nil
}

// receive hands a request of OTLP to the receiver of its tenant.
func (s *server) receive(w http.ResponseWriter, r *http.Request) {
	f, err := s.tenants.of(r.Context(), r.Header.Get(tenantHeader), true)
	if err != nil {
		status := http.StatusServiceUnavailable
		if errors.As(err, new(badRequest)) {
			status = http.StatusBadRequest
		}
		http.Error(w, err.Error(), status)
		return
	}
	f.receiver.ServeHTTP(w, r)
}

// serve serves all listeners until ctx ends, or one of them fails.
func (s *server) serve(ctx context.Context, list []listener, secure *tls.Config, notice func(string)) error {
	const wait = 30 * time.Second // for running requests, at the end
	g, ctx := errgroup.WithContext(ctx)
	for _, l := range list {
		g.Go(func() (err error) {
			defer fault.RecoverInternal(&err)
			switch {
			case l.grpc:
				return s.serveGRPC(ctx, l, secure, s.o.receiver.MaxMessageBytes, wait)
			case secure != nil:
				return serve.Serve(ctx, tls.NewListener(l, secure), l.handler, wait)
			}
			return serve.Serve(ctx, l, l.handler, wait)
		})
	}
	g.Go(func() (err error) {
		defer fault.RecoverInternal(&err)
		s.tenants.tidy(ctx, s.o.tidy, notice)
		return nil
	})
	return g.Wait()
}

// printReceived prints what became of all requests.
func printReceived(a *app.App, st serve.Stats) {
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
