package xrootd_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	server "go-hep.org/x/hep/xrootd"

	"github.com/amudai/amudai-go/storage"
	"github.com/amudai/amudai-go/storage/storetest"
	"github.com/amudai/amudai-go/storage/xrootd"
)

var digits = bytes.Repeat([]byte("0123456789"), 500_000)

// serve has go-hep's server serve a folder with the file d/a, and returns its host and port.
func serve(t *testing.T) (host, dir string) {
	dir = t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(dir, "d"), 0o777))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "d", "a"), digits, 0o666))
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	s := server.NewServer(server.NewFSHandler(dir), func(error) {})
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(l) }()
	t.Cleanup(func() {
		require.NoError(t, s.Shutdown(context.Background()))
		require.ErrorIs(t, <-ended, server.ErrServerClosed)
	})
	return l.Addr().String(), dir
}

func TestReads(t *testing.T) {
	host, _ := serve(t)
	s := xrootd.New(xrootd.Options{})
	storetest.TestReader(t, s, "root://user@"+host+"//d/a", digits)
	storetest.TestReader(t, s, "root://"+host+"/d/a", digits)
	ctx, location := t.Context(), "root://user@"+host+"//d/a?authz=secret" // go-hep's server takes it for a part of the name
	r, err := s.Open(ctx, location)
	require.NoError(t, err)
	require.NotContains(t, r.Name(), "secret")
	require.NoError(t, r.Close())
	r, err = s.Open(ctx, "root://"+host+"//d/a")
	require.NoError(t, err)
	_, err = r.Version(ctx)
	require.ErrorIs(t, err, errors.ErrUnsupported)
	require.NoError(t, r.Close())
	_, err = s.Create(ctx, location, storage.CreateOptions{})
	require.ErrorIs(t, err, errors.ErrUnsupported)
	require.ErrorIs(t, s.Remove(ctx, location), errors.ErrUnsupported)
	for _, bad := range []string{"root://" + host, "root://" + host + "/", "root:///d/a", "http://x/a", "root://%/"} {
		_, err = s.Open(ctx, bad)
		require.Error(t, err, bad)
	}
}

// A file that changes while it is read is an error, not other bytes.
func TestChanged(t *testing.T) {
	host, dir := serve(t)
	s := xrootd.New(xrootd.Options{})
	r, err := s.Open(t.Context(), "root://"+host+"//d/a")
	require.NoError(t, err)
	defer r.Close()
	p := make([]byte, 10)
	require.NoError(t, r.ReadAt(t.Context(), p, 0))
	require.NoError(t, os.Chtimes(filepath.Join(dir, "d", "a"), time.Unix(1, 0), time.Unix(1, 0)))
	require.ErrorIs(t, r.ReadAt(t.Context(), p, 0), storage.ErrChanged)
}

// Many ranges at a time all have their bytes, on one connection.
func TestConcurrentReads(t *testing.T) {
	host, _ := serve(t)
	s := xrootd.New(xrootd.Options{})
	r, err := s.Open(t.Context(), "root://"+host+"//d/a")
	require.NoError(t, err)
	defer r.Close()
	var ranges []storage.ByteRange
	for i := range 300 {
		ranges = append(ranges, storage.ByteRange{Reader: r, Offset: int64(i) * 16_001, Size: int64(i) * 30})
	}
	have, err := storage.Prefetch(t.Context(), ranges, storage.CoalesceOptions{Requests: 32})
	require.NoError(t, err)
	for i := 1; i < 300; i++ {
		off, n := i*16_001, i*30
		require.Equal(t, digits[off:off+n], have.Bytes(r, int64(off), int64(n)))
	}
}

// fake is a server of the protocol whose answers a test decides.
type fake struct {
	*testing.T
	net.Listener
	mu       sync.Mutex
	requests []request
}

type request struct {
	stream, code uint16
	args         [16]byte
	data         []byte
}

const (
	ok       = 0
	refuse   = 4003
	redirect = 4004
	wait     = 4005

	login, open, read, stat, readv = 3007, 3010, 3013, 3017, 3025
)

// newFake serves connections, each request by answer, which gives a status and data. With a status below 0, the connection is closed.
func newFake(t *testing.T, answer func(r request) (status int, data []byte)) *fake {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	f := &fake{T: t, Listener: l}
	var all sync.WaitGroup
	all.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			all.Go(func() {
				defer conn.Close()
				f.serve(conn, answer)
			})
		}
	})
	t.Cleanup(func() {
		l.Close()
		all.Wait()
	})
	return f
}

func (f *fake) serve(conn net.Conn, answer func(r request) (status int, data []byte)) {
	if _, err := io.ReadFull(conn, make([]byte, 20)); err != nil {
		return
	}
	conn.Write([]byte{0, 0, 0, 0, 0, 0, 0, 8, 0, 0, 5, 0, 0, 0, 0, 1})
	for {
		var b [24]byte
		if _, err := io.ReadFull(conn, b[:]); err != nil {
			return
		}
		r := request{stream: binary.BigEndian.Uint16(b[:]), code: binary.BigEndian.Uint16(b[2:]), args: [16]byte(b[4:20]), data: make([]byte, binary.BigEndian.Uint32(b[20:]))}
		if _, err := io.ReadFull(conn, r.data); err != nil {
			return
		}
		f.mu.Lock()
		f.requests = append(f.requests, r)
		f.mu.Unlock()
		status, data := answer(r)
		if status < 0 {
			return
		}
		head := binary.BigEndian.AppendUint16(binary.BigEndian.AppendUint16(nil, r.stream), uint16(status))
		conn.Write(append(binary.BigEndian.AppendUint32(head, uint32(len(data))), data...))
	}
}

func (f *fake) location() string { return "root://user@" + f.Addr().String() + "//d/a?authz=secret" }

// seen are the requests of a code.
func (f *fake) seen(code uint16) (all []request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, r := range f.requests {
		if r.code == code {
			all = append(all, r)
		}
	}
	return all
}

// honest answers as a server that has digits, and vector reads.
func honest(r request) (int, []byte) {
	u32 := func(b []byte) int64 { return int64(binary.BigEndian.Uint32(b)) }
	u64 := func(b []byte) int64 { return int64(binary.BigEndian.Uint64(b)) }
	switch r.code {
	case login:
		return ok, make([]byte, 16)
	case open:
		return ok, []byte("hand")
	case stat:
		return ok, fmt.Appendf(nil, "1 %d 0 1700000000\x00", len(digits))
	case read:
		off, n := u64(r.args[4:]), u32(r.args[12:])
		return ok, digits[off : off+n]
	case readv:
		var out []byte
		for p := r.data; len(p) > 0; p = p[16:] {
			out = append(append(out, p[:16]...), digits[u64(p[8:]):u64(p[8:])+u32(p[4:])]...)
		}
		return ok, out
	}
	return ok, make([]byte, 8)
}

func errorOf(code int, text string) []byte {
	return append(binary.BigEndian.AppendUint32(nil, uint32(code)), text+"\x00"...)
}

// Ranges that are wanted at the same time are one vector read.
func TestVectorReads(t *testing.T) {
	f := newFake(t, honest)
	r, err := xrootd.New(xrootd.Options{}).Open(t.Context(), f.location())
	require.NoError(t, err)
	defer r.Close()
	var ranges []storage.ByteRange
	for i := range 32 {
		ranges = append(ranges, storage.ByteRange{Reader: r, Offset: int64(i) * 100_000, Size: 1000})
	}
	for range 5 {
		_, err = storage.Prefetch(t.Context(), ranges, storage.CoalesceOptions{Requests: 32})
		require.NoError(t, err)
	}
	require.NotEmpty(t, f.seen(readv))
	require.Less(t, len(f.seen(read))+len(f.seen(readv)), 5*16)
}

// Errors of servers are those of the standard library, and what breaks is tried again.
func TestAnswers(t *testing.T) {
	var first atomic.Bool
	for name, c := range map[string]struct {
		answer func(r request) (int, []byte)
		want   error // nil: none
	}{
		"missing": {func(request) (int, []byte) { return refuse, errorOf(3011, "no such file") }, fs.ErrNotExist},
		"denied":  {func(request) (int, []byte) { return refuse, errorOf(3010, "no") }, fs.ErrPermission},
		"wait once": {func(r request) (int, []byte) {
			if first.CompareAndSwap(false, true) {
				return wait, make([]byte, 4)
			}
			return honest(r)
		}, nil},
		"broken once": {func(r request) (int, []byte) {
			if first.CompareAndSwap(false, true) {
				return -1, nil
			}
			return honest(r)
		}, nil},
		"wait forever":  {func(request) (int, []byte) { return wait, make([]byte, 4) }, errAny},
		"no handle":     {func(request) (int, []byte) { return ok, []byte{1} }, errAny},
		"short error":   {func(request) (int, []byte) { return refuse, nil }, errAny},
		"more than due": {func(request) (int, []byte) { return ok, make([]byte, 1<<20) }, errAny},
		"no host":       {func(request) (int, []byte) { return redirect, errorOf(-1, "a/b") }, errAny},
		"no status":     {func(request) (int, []byte) { return 7, nil }, errAny},
	} {
		t.Run(name, func(t *testing.T) {
			first.Store(false)
			f := newFake(t, func(r request) (int, []byte) {
				if r.code == open {
					return c.answer(r)
				}
				return honest(r)
			})
			r, err := xrootd.New(xrootd.Options{}).Open(t.Context(), f.location())
			require.NoError(t, err)
			defer r.Close()
			p := make([]byte, 10)
			err = r.ReadAt(t.Context(), p, 5)
			switch c.want {
			case nil:
				require.NoError(t, err)
				require.Equal(t, digits[5:15], p)
			case errAny:
				require.Error(t, err)
			default:
				require.ErrorIs(t, err, c.want)
			}
			if err != nil {
				require.NotContains(t, err.Error(), "secret")
			}
		})
	}
}

var errAny = errors.New("any")

// Answers to reads that are longer than asked for, or of other places, are errors.
func TestWrongParts(t *testing.T) {
	for name, answer := range map[string]func(r request) (int, []byte){
		"long":        func(r request) (int, []byte) { return ok, make([]byte, 1000) },
		"no size":     func(r request) (int, []byte) { return ok, []byte("1 -5 0 1\x00") },
		"description": func(r request) (int, []byte) { return ok, []byte("1 2") },
	} {
		t.Run(name, func(t *testing.T) {
			f := newFake(t, func(r request) (int, []byte) {
				if r.code == read && name == "long" || r.code == stat && name != "long" {
					return answer(r)
				}
				return honest(r)
			})
			r, err := xrootd.New(xrootd.Options{}).Open(t.Context(), f.location())
			require.NoError(t, err)
			defer r.Close()
			require.Error(t, r.ReadAt(t.Context(), make([]byte, 10), 5))
		})
	}
}

// A redirect is followed. The other server learns what the redirect says, and neither the user nor the query of the location.
func TestRedirects(t *testing.T) {
	there := newFake(t, honest)
	here := newFake(t, func(r request) (int, []byte) {
		if r.code == open {
			host, port, _ := net.SplitHostPort(there.Addr().String())
			var n int
			fmt.Sscan(port, &n)
			return redirect, errorOf(n, host+"?tried=1?token")
		}
		return honest(r)
	})
	s := xrootd.New(xrootd.Options{})
	r, err := s.Open(t.Context(), here.location())
	require.NoError(t, err)
	defer r.Close()
	require.NoError(t, r.ReadAt(t.Context(), make([]byte, 10), 5))
	require.Equal(t, "/d/a?authz=secret", string(here.seen(open)[0].data))
	require.Contains(t, string(here.seen(login)[0].args[:]), "user")
	require.Equal(t, "/d/a?tried=1", string(there.seen(open)[0].data))
	require.NotContains(t, string(there.seen(login)[0].args[:]), "user")
	require.Equal(t, "token", string(there.seen(login)[0].data))

	var loop *fake
	loop = newFake(t, func(r request) (int, []byte) {
		if r.code == open {
			return redirect, errorOf(loop.Addr().(*net.TCPAddr).Port, "127.0.0.1")
		}
		return honest(r)
	})
	r, err = s.Open(t.Context(), loop.location())
	require.NoError(t, err)
	defer r.Close()
	require.ErrorContains(t, r.ReadAt(t.Context(), make([]byte, 10), 5), "10 times")
}

// A context ends a request that the server does not answer, and another read goes on.
func TestCancelled(t *testing.T) {
	hang, cancel := context.WithCancel(t.Context())
	asked := make(chan struct{}, 100)
	var hangs atomic.Bool
	hangs.Store(true)
	f := newFake(t, func(r request) (int, []byte) {
		if r.code == read && hangs.Load() {
			asked <- struct{}{}
			<-hang.Done()
			return -1, nil
		}
		return honest(r)
	})
	r, err := xrootd.New(xrootd.Options{}).Open(t.Context(), f.location())
	require.NoError(t, err)
	defer r.Close()
	failed := make(chan error)
	go func() { failed <- r.ReadAt(hang, make([]byte, 10), 5) }()
	<-asked
	other := make(chan error)
	go func() { other <- r.ReadAt(t.Context(), make([]byte, 10), 50) }()
	hangs.Store(false)
	cancel()
	require.ErrorIs(t, <-failed, context.Canceled)
	require.NoError(t, <-other)
}
