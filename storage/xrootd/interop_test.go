package xrootd_test

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"io/fs"
	"math/big"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/storage"
	"github.com/amudai/amudai-go/storage/storetest"
	"github.com/amudai/amudai-go/storage/xrootd"
)

// startXRootD has XRootD's own server serve a folder of a test, with TLS. It is skipped without AMUDAI_XROOTD, the path of its program.
func startXRootD(t *testing.T) (host, dir string, log func() string, trusted *tls.Config) {
	program := os.Getenv("AMUDAI_XROOTD")
	if program == "" {
		t.Skip("AMUDAI_XROOTD is not set")
	}
	dir, err := os.MkdirTemp("", "xrootd")
	require.NoError(t, err)
	t.Cleanup(func() { os.RemoveAll(dir) })
	require.NoError(t, os.Chmod(dir, 0o777))
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature,
	}
	cert, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	require.NoError(t, err)
	der, err := x509.MarshalPKCS8PrivateKey(key)
	require.NoError(t, err)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	host = l.Addr().String()
	require.NoError(t, l.Close())
	_, port, _ := net.SplitHostPort(host)
	for name, text := range map[string][]byte{
		"a":        digits,
		"cert.pem": pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: cert}),
		"key.pem":  pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}),
		"x.cfg":    fmt.Appendf(nil, "xrd.port %s\nall.export %s r/o\nall.adminpath %[2]s\nall.pidpath %[2]s\nxrd.tls %[2]s/cert.pem %[2]s/key.pem\nxrd.tlsca noverify\n", port, dir),
	} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), text, 0o600))
	}
	args := []string{"-c", filepath.Join(dir, "x.cfg"), "-d"}
	if os.Getuid() == 0 { // which the server refuses to be
		require.NoError(t, exec.Command("chown", "-R", "nobody", dir).Run())
		args = append(args, "-R", "nobody")
	}
	out, err := os.Create(filepath.Join(t.TempDir(), "log"))
	require.NoError(t, err)
	server := exec.Command(program, args...)
	server.Stdout, server.Stderr = out, out
	require.NoError(t, server.Start())
	t.Cleanup(func() {
		server.Process.Kill()
		server.Wait()
		out.Close()
	})
	log = func() string {
		b, err := os.ReadFile(out.Name())
		require.NoError(t, err)
		return string(b)
	}
	require.Eventually(t, func() bool {
		c, err := net.Dial("tcp", host)
		if err == nil {
			c.Close()
		}
		return err == nil
	}, 30*time.Second, 50*time.Millisecond, log)
	roots := x509.NewCertPool()
	parsed, err := x509.ParseCertificate(cert)
	require.NoError(t, err)
	roots.AddCert(parsed)
	return host, dir, log, &tls.Config{RootCAs: roots}
}

// XRootD's own server gives the bytes of its files, with and without TLS, and vector reads.
func TestInteropXRootD(t *testing.T) {
	host, dir, log, trusted := startXRootD(t)
	s := xrootd.New(xrootd.Options{TLS: trusted})
	for _, scheme := range []string{"root", "roots"} {
		t.Run(scheme, func(t *testing.T) {
			location := scheme + "://user@" + host + "/" + dir + "/a?authz=unused"
			storetest.TestReader(t, s, location, digits)
			r, err := s.Open(t.Context(), location)
			require.NoError(t, err)
			defer r.Close()
			var ranges []storage.ByteRange
			for i := range 200 {
				ranges = append(ranges, storage.ByteRange{Reader: r, Offset: int64(i) * 20_000, Size: 1000 + int64(i)})
			}
			have, err := storage.Prefetch(t.Context(), ranges, storage.CoalesceOptions{Requests: 32})
			require.NoError(t, err)
			for _, g := range ranges {
				require.True(t, bytes.Equal(digits[g.Offset:g.Offset+g.Size], have.Bytes(r, g.Offset, g.Size)))
			}
			require.Contains(t, log(), "req=readv")
			missing, err := s.Open(t.Context(), scheme+"://"+host+"/"+dir+"/none")
			require.NoError(t, err)
			defer missing.Close()
			_, err = missing.Size(t.Context())
			require.ErrorIs(t, err, fs.ErrNotExist)
		})
	}
	r, err := xrootd.New(xrootd.Options{}).Open(t.Context(), "roots://"+host+"/"+dir+"/a")
	require.NoError(t, err)
	defer r.Close()
	_, err = r.Size(context.Background())
	require.ErrorContains(t, err, "TLS", "the certificate is not one of the system's")
}
