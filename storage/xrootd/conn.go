package xrootd

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/amudai/amudai-go/storage"
	"github.com/amudai/amudai-go/storage/internal/object"
)

// A request has 24 bytes, and data behind them; an answer 8 bytes, and data. Numbers are big-endian.
//
//	request  u16 stream, u16 code, 16 bytes of arguments, i32 bytes of data
//	answer   u16 stream, u16 status, i32 bytes of data
const (
	requestBytes = 24
	answerBytes  = 8
)

// The codes of requests, and the statuses of answers.
const (
	codeAuth, codeProtocol, codeLogin, codeOpen = 3000, 3006, 3007, 3010
	codeRead, codeStat, codeReadV               = 3013, 3017, 3025

	statusOK, statusMore, statusAttention, statusAuthMore = 0, 4000, 4001, 4002
	statusError, statusRedirect, statusWait               = 4003, 4004, 4005

	errorInvalid, errorArgument, errorUnsupported = 3006, 3000, 3013
	errorDenied, errorMissing, errorOverloaded    = 3010, 3011, 3024
)

// maxAnswer bounds answers that are no bytes of a file.
const maxAnswer = 64 << 10

// conn is a connection to a server that has a file open. One goroutine uses it at a time.
type conn struct {
	net.Conn
	handle   [4]byte
	noVector bool // the server has no vector reads
	buf      []byte
}

// part is a range of a file, and the bytes of it that there are.
type part struct {
	off   int64
	n     int
	bytes []byte
}

// redirected is the error of a request that another server is to answer.
type redirected struct{ to address }

func (redirected) Error() string { return "the server redirects" }

// refused is the error that a server answers.
type refused struct {
	code int
	text string
}

func (e refused) Error() string { return fmt.Sprintf("the server answers %q (%d)", e.text, e.code) }

// final is the error for callers.
func (e refused) final() error {
	switch e.code {
	case errorMissing:
		return fmt.Errorf("%w: %w", e, fs.ErrNotExist)
	case errorDenied:
		return object.Failure{Text: "access denied", Advice: "Kerberos and X.509 are not supported: a token goes behind the location, as ?authz=Bearer%20TOKEN", Err: fs.ErrPermission}
	case errorOverloaded:
		return object.Transient(e)
	}
	return e
}

// maxRedirects is how many redirects of an open are followed.
const maxRedirects = 10

// open opens a file, at the server where redirects lead.
func open(ctx context.Context, o Options, a address) (*conn, error) {
	for range maxRedirects + 1 {
		c, err := dial(ctx, o, a)
		if err == nil {
			if err = c.within(ctx, func() error { return c.openFile(ctx, a) }); err == nil {
				return c, nil
			}
			err = errors.Join(err, c.Close())
		}
		var r redirected
		var no refused
		switch {
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case errors.As(err, &no):
			return nil, no.final()
		case !errors.As(err, &r):
			return nil, err
		}
		// The other server learns neither the user nor the query of the location: these are for its host.
		a = address{host: r.to.host, secure: a.secure, path: a.path, query: r.to.query, token: r.to.token}
	}
	return nil, object.Failure{Text: "the server redirects more than 10 times"}
}

// dial connects to a server, and tells it who the user is.
func dial(ctx context.Context, o Options, a address) (*conn, error) {
	raw, err := (&net.Dialer{Timeout: 10 * time.Second}).DialContext(ctx, "tcp", a.host)
	if err != nil {
		return nil, object.Unanswered(err, "check the location")
	}
	c := &conn{Conn: raw}
	if err := c.within(ctx, func() error { return c.login(ctx, o, a) }); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return c, nil
}

// within calls f, whose reads and writes end with a context.
func (c *conn) within(ctx context.Context, f func() error) error {
	raw := c.Conn // which TLS may wrap meanwhile
	stop := context.AfterFunc(ctx, func() { raw.SetDeadline(time.Unix(1, 0)) })
	err := f()
	if !stop() && ctx.Err() != nil {
		return ctx.Err()
	}
	var broken net.Error
	if err == io.EOF || err == io.ErrUnexpectedEOF || errors.As(err, &broken) {
		err = object.Transient(fmt.Errorf("the connection broke: %w", io.ErrUnexpectedEOF))
	}
	return err
}

// login is the beginning of a connection: handshake, protocol, TLS, the user.
func (c *conn) login(ctx context.Context, o Options, a address) error {
	hello := binary.BigEndian.AppendUint32(make([]byte, 12), 4)
	if _, err := c.Write(binary.BigEndian.AppendUint32(hello, 2012)); err != nil {
		return err
	}
	if _, _, err := c.answer(maxAnswer); err != nil {
		return err
	}
	const (
		version          = 0x500
		ableTLS, wantTLS = 2, 4
		goToTLS          = 0x40000000
	)
	args := binary.BigEndian.AppendUint32(nil, version)
	if a.secure {
		args = append(args, ableTLS|wantTLS)
	}
	reply, err := c.ask(ctx, codeProtocol, args, nil)
	if err != nil {
		return err
	}
	if a.secure {
		if len(reply) < 8 || binary.BigEndian.Uint32(reply[4:])&goToTLS == 0 {
			return object.Failure{Text: "the server has no TLS", Advice: "root:// locations are read without it"}
		}
		config := &tls.Config{}
		if o.TLS != nil {
			config = o.TLS.Clone()
		}
		config.ServerName, _, _ = net.SplitHostPort(a.host)
		secure := tls.Client(c.Conn, config)
		if err := secure.HandshakeContext(ctx); err != nil {
			return object.Failure{Text: "no TLS with the server: " + err.Error(), Advice: "SSL_CERT_DIR names a folder of certificates to trust", Err: err}
		}
		c.Conn = secure
	}
	user := cmp.Or(a.user, "anon")
	args = binary.BigEndian.AppendUint32(nil, uint32(os.Getpid()))
	args = append(args, append([]byte(user), make([]byte, 8)...)[:8]...)
	args = append(args, 0, 0, 5, 0) // version 5 of the protocol, a user
	if reply, err = c.ask(ctx, codeLogin, args, []byte(a.token)); err != nil {
		return err
	}
	if len(reply) > 16 {
		return c.authenticate(ctx, string(reply[16:]), user)
	}
	return nil
}

// authenticate tells a server the user, by a protocol that needs no secret, if it accepts one.
func (c *conn) authenticate(ctx context.Context, protocols, user string) error {
	var names []string
	for _, p := range strings.Split(strings.TrimRight(protocols, "\x00"), "&P=") {
		name, _, _ := strings.Cut(p, ",")
		switch name {
		case "unix", "host":
			args := append(make([]byte, 12), (name + "\x00\x00\x00\x00")[:4]...)
			value := user + " " + user + "\x00"
			if name == "host" {
				value = "localhost\x00"
			}
			_, err := c.ask(ctx, codeAuth, args, []byte(name+"\x00"+value))
			return err
		case "":
		default:
			names = append(names, name)
		}
	}
	return object.Failure{Text: fmt.Sprintf("the server wants a proof of who the user is: %s", strings.Join(names, ", ")), Advice: "xrdcp copies the file", Err: fs.ErrPermission}
}

// openFile opens the file for reading.
func (c *conn) openFile(ctx context.Context, a address) error {
	const read = 0x10
	path := a.path
	if a.query != "" {
		path += "?" + a.query
	}
	reply, err := c.ask(ctx, codeOpen, []byte{0, 0, 0, read}, []byte(path))
	if err == nil && copy(c.handle[:], reply) < 4 {
		err = errors.New("the server opens a file without a handle")
	}
	return err
}

// request appends a request.
func (c *conn) request(stream uint16, code int, args, data []byte) {
	c.buf = binary.BigEndian.AppendUint16(c.buf, stream)
	c.buf = binary.BigEndian.AppendUint16(c.buf, uint16(code))
	c.buf = append(c.buf, append(args[:len(args):len(args)], make([]byte, 16-len(args))...)...)
	c.buf = binary.BigEndian.AppendUint32(c.buf, uint32(len(data)))
	c.buf = append(c.buf, data...)
}

// flush sends the requests.
func (c *conn) flush() error {
	_, err := c.Write(c.buf)
	c.buf = c.buf[:0]
	return err
}

// ask sends a request, and again if the server asks to wait, and returns the answer.
func (c *conn) ask(ctx context.Context, code int, args, data []byte) ([]byte, error) {
	for waited := time.Duration(0); ; {
		c.request(0, code, args, data)
		if err := c.flush(); err != nil {
			return nil, err
		}
		h, reply, err := c.answer(maxAnswer)
		if err != nil || h.status != statusWait {
			return reply, err
		}
		if waited += max(h.wait, time.Second); waited > time.Minute { // each time counts, or it might ask forever
			return nil, fmt.Errorf("the server asks to wait for %v", waited)
		}
		select {
		case <-time.After(h.wait):
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// head is the head of an answer.
type head struct {
	stream uint16
	status int
	size   int
	wait   time.Duration
}

// answerHead reads the head of an answer, and the rest of one that is no data: its error.
func (c *conn) answerHead() (h head, err error) {
	for {
		var b [answerBytes]byte
		if _, err = io.ReadFull(c, b[:]); err != nil {
			return h, err
		}
		h = head{stream: binary.BigEndian.Uint16(b[:]), status: int(binary.BigEndian.Uint16(b[2:])), size: int(int32(binary.BigEndian.Uint32(b[4:])))}
		if h.status == statusOK || h.status == statusMore {
			return h, nil
		}
		if h.size < 0 || h.size > maxAnswer {
			return h, fmt.Errorf("an answer of %d bytes", h.size)
		}
		data := make([]byte, h.size)
		if _, err = io.ReadFull(c, data); err != nil {
			return h, err
		}
		if h.status != statusAttention { // which nobody waits for
			return c.other(h, data)
		}
	}
}

// other is what an answer without data tells.
func (c *conn) other(h head, data []byte) (head, error) {
	number := 0
	if len(data) >= 4 {
		number, data = int(int32(binary.BigEndian.Uint32(data))), data[4:]
	}
	text := strings.TrimRight(string(data), "\x00")
	switch h.status {
	case statusError:
		return h, refused{number, strings.ToValidUTF8(text, "?")}
	case statusWait:
		h.wait = time.Duration(max(number, 0)) * time.Second
		return h, nil
	case statusRedirect:
		host, rest, _ := strings.Cut(text, "?")
		query, token, _ := strings.Cut(rest, "?")
		if number <= 0 || number > 65535 || host == "" || strings.ContainsAny(host, "/@ ") {
			return h, object.Failure{Text: "the server redirects to a place that is no host"}
		}
		to := address{host: net.JoinHostPort(strings.Trim(host, "[]"), strconv.Itoa(number)), query: query, token: token}
		return h, redirected{to}
	case statusAuthMore:
		return h, object.Failure{Text: "the server wants more than the name of the user", Advice: "xrdcp copies the file", Err: fs.ErrPermission}
	}
	return h, fmt.Errorf("an answer of status %d", h.status)
}

// answer reads an answer of up to most bytes, in one piece.
func (c *conn) answer(most int) (head, []byte, error) {
	h, err := c.answerHead()
	if err != nil || h.status == statusWait {
		return h, nil, err
	}
	if h.size < 0 || h.size > most {
		return h, nil, fmt.Errorf("an answer of %d bytes", h.size)
	}
	data := make([]byte, h.size)
	_, err = io.ReadFull(c, data)
	return h, data, err
}

// read reads parts of the file, and the size and time that it has, in one exchange.
func (c *conn) read(ctx context.Context, parts []part) (info object.Properties, err error) {
	err = c.within(ctx, func() (err error) {
		vector := len(parts) > 1 && !c.noVector
		for _, p := range parts {
			vector = vector && p.n > 0 && p.n <= maxVector
		}
		info, err = c.exchange(parts, vector)
		var no refused
		if vector && errors.As(err, &no) && (no.code == errorInvalid || no.code == errorUnsupported || no.code == errorArgument) {
			c.noVector = no.code != errorArgument // which a part behind the end is
			info, err = c.exchange(parts, false)
		}
		return err
	})
	var no refused
	if errors.As(err, &no) {
		err = no.final()
	}
	if r := (redirected{}); errors.As(err, &r) {
		err = object.Transient(errors.New("the file has moved to another server"))
	}
	return info, err
}

// requestParts appends the requests for parts: one for all, or one for each.
func (c *conn) requestParts(parts []part, vector bool) {
	var list []byte
	for i, p := range parts {
		switch {
		case vector:
			list = append(list, c.handle[:]...)
			list = binary.BigEndian.AppendUint32(list, uint32(p.n))
			list = binary.BigEndian.AppendUint64(list, uint64(p.off))
		case p.n > 0:
			args := binary.BigEndian.AppendUint64(c.handle[:4:4], uint64(p.off))
			c.request(uint16(i+1), codeRead, binary.BigEndian.AppendUint32(args, uint32(p.n)), nil)
		}
	}
	if vector {
		c.request(1, codeReadV, nil, list)
	}
}

// exchange asks for parts and for the size and time of the file, by a stream for each, whose answers may come in any order. After an error that a
// server answers, the connection may be used again.
func (c *conn) exchange(parts []part, vector bool) (info object.Properties, err error) {
	c.request(0, codeStat, append(make([]byte, 12), c.handle[:]...), nil)
	c.requestParts(parts, vector)
	if err := c.flush(); err != nil {
		return info, err
	}
	open := 1
	for i := range parts {
		if parts[i].bytes = nil; parts[i].n > 0 && (open == 1 || !vector) {
			open++
		}
	}
	next := 0 // part of a vector
	var no error
	for open > 0 {
		h, err := c.answerHead()
		switch {
		case errors.As(err, new(refused)):
			no = cmp.Or(no, err)
		case err != nil:
		case h.status == statusWait:
			err = object.Transient(errors.New("the server asks to wait"))
		case h.size < 0 || int(h.stream) > len(parts):
			err = fmt.Errorf("an answer of %d bytes to no request (%d)", h.size, h.stream)
		case h.stream == 0:
			info, err = c.receiveInfo(h.size)
		case vector:
			next, err = c.receiveVector(parts, next, h.size)
		default:
			err = c.receivePart(&parts[h.stream-1], h.size)
		}
		if err != nil && !errors.As(err, new(refused)) {
			return info, err
		}
		if h.status != statusMore {
			open--
		}
	}
	if no == nil && vector && next < len(parts) {
		no = fmt.Errorf("%d parts of %d", next, len(parts))
	}
	return info, no
}

// receiveInfo reads the description of the file: id, size, flags, time.
func (c *conn) receiveInfo(n int) (info object.Properties, err error) {
	if n > maxAnswer {
		return info, fmt.Errorf("an answer of %d bytes", n)
	}
	text := make([]byte, n)
	if _, err = io.ReadFull(c, text); err != nil {
		return info, err
	}
	f := strings.Fields(string(bytes.TrimRight(text, "\x00")))
	if len(f) >= 4 {
		info.Version = storage.Version(f[1] + " " + f[3])
		info.Size, err = strconv.ParseInt(f[1], 10, 64)
	}
	if len(f) < 4 || err != nil || info.Size < 0 {
		return info, fmt.Errorf("the server describes the file as %q", text)
	}
	return info, nil
}

// receivePart reads n bytes of a part.
func (c *conn) receivePart(p *part, n int) error {
	have := len(p.bytes)
	if n > p.n-have {
		return fmt.Errorf("an answer of %d bytes, where %d are due", have+n, p.n)
	}
	if p.bytes == nil {
		p.bytes = make([]byte, 0, p.n)
	}
	p.bytes = p.bytes[:have+n]
	_, err := io.ReadFull(c, p.bytes[have:])
	return err
}

// receiveVector reads n bytes of an answer to a vector read: parts, each behind its handle, its size and its offset.
func (c *conn) receiveVector(parts []part, next, n int) (int, error) {
	for n > 0 {
		var b [16]byte
		if n < len(b) || next == len(parts) {
			return next, fmt.Errorf("%d bytes behind part %d of %d", n, next, len(parts))
		}
		if _, err := io.ReadFull(c, b[:]); err != nil {
			return next, err
		}
		p := &parts[next]
		size, off := int(int32(binary.BigEndian.Uint32(b[4:]))), int64(binary.BigEndian.Uint64(b[8:]))
		if n -= len(b); off != p.off || size != p.n || size > n {
			return next, fmt.Errorf("%d bytes of %d instead of %d of %d", size, off, p.n, p.off)
		}
		if err := c.receivePart(p, size); err != nil {
			return next, err
		}
		n -= size
		next++
	}
	return next, nil
}
