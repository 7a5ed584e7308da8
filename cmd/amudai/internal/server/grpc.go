package server

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"time"

	"golang.org/x/sync/semaphore"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	_ "google.golang.org/grpc/encoding/gzip" // which exporters may use
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/grpc/tap"

	"github.com/amudai/amudai-go/blockpack/serve"
	"github.com/amudai/amudai-go/internal/base/fault"
)

// raw hands messages of gRPC on as bytes.
type raw struct{}

func (raw) Name() string { return "proto" }

func (raw) Marshal(v any) ([]byte, error) { return *v.(*[]byte), nil }

func (raw) Unmarshal(data []byte, v any) error {
	*v.(*[]byte) = append([]byte(nil), data...)
	return nil
}

// exporter is the service of OTLP.
type exporter interface {
	export(ctx context.Context, message []byte) ([]byte, error)
}

var service = grpc.ServiceDesc{
	ServiceName: "opentelemetry.proto.collector.trace.v1.TraceService",
	HandlerType: (*exporter)(nil),
	Methods: []grpc.MethodDesc{{MethodName: "Export", Handler: func(srv any, ctx context.Context, decode func(any) error, _ grpc.UnaryServerInterceptor) (reply any, err error) {
		defer fault.RecoverInternal(&err)
		var message []byte
		if err := decode(&message); err != nil {
			return nil, err
		}
		response, err := srv.(exporter).export(ctx, message)
		return &response, err
	}}},
}

// receiver is the service at a listener.
type receiver struct {
	*server
	local bool // only this machine reaches it
}

// export stores a message for the tenant of a call.
func (s receiver) export(ctx context.Context, message []byte) ([]byte, error) {
	md, _ := metadata.FromIncomingContext(ctx)
	first := func(name string) string {
		if values := md.Get(name); len(values) > 0 {
			return values[0]
		}
		return ""
	}
	switch {
	case !s.allowsHost(first(":authority"), s.local):
		return nil, status.Error(codes.PermissionDenied, otherHost)
	case !s.authorized(first("authorization")):
		return nil, status.Error(codes.Unauthenticated, wrongToken)
	}
	f, err := s.tenants.of(ctx, first(tenantHeader), true)
	if err != nil {
		return nil, status.Error(codes.InvalidArgument, err.Error())
	}
	response, err := f.receiver.Export(ctx, message)
	var refused *serve.Refusal
	if errors.As(err, &refused) {
		return nil, status.Error(codes.Code(refused.Code), refused.Error()) //nolint:gosec // codes of gRPC are those of google.rpc
	}
	return response, err
}

// mostCalls is the number of calls whose messages are in memory, of all connections.
const mostCalls = 64

// admit refuses calls above a number before their messages are read: senders try again.
func admit(calls *semaphore.Weighted) tap.ServerInHandle {
	return func(ctx context.Context, _ *tap.Info) (context.Context, error) {
		if !calls.TryAcquire(1) {
			return nil, status.Errorf(codes.Unavailable, "more than %d calls at a time: send again later", mostCalls)
		}
		context.AfterFunc(ctx, func() { calls.Release(1) }) // at the end of the call
		return ctx, nil
	}
}

// serveGRPC receives spans at a listener until ctx ends, and waits for running calls, for some time at most.
func (s *server) serveGRPC(ctx context.Context, l net.Listener, secure *tls.Config, maxMessage int64, wait time.Duration) error {
	options := []grpc.ServerOption{
		grpc.InTapHandle(admit(semaphore.NewWeighted(mostCalls))),
		grpc.ForceServerCodec(raw{}), grpc.MaxRecvMsgSize(int(maxMessage)), grpc.MaxConcurrentStreams(mostCalls), grpc.ConnectionTimeout(10 * time.Second),
	}
	if secure != nil {
		options = append(options, grpc.Creds(credentials.NewTLS(secure)))
	}
	g := grpc.NewServer(options...)
	g.RegisterService(&service, receiver{s, isLocal(l.Addr())})
	ended := make(chan struct{})
	running := context.AfterFunc(ctx, func() {
		defer close(ended)
		late := time.AfterFunc(wait, g.Stop)
		defer late.Stop()
		g.GracefulStop()
	})
	if err := g.Serve(l); running() { // the listener has failed
		g.Stop()
		return fmt.Errorf("gRPC: %w", err)
	}
	<-ended
	return nil
}
