package main

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"runtime"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"github.com/gluepot/gluepot/adapters/gormstore"
	"github.com/gluepot/gluepot/adapters/httpapi"
	"github.com/gluepot/gluepot/adapters/pages"
	"github.com/gluepot/gluepot/bootstrap"
	"github.com/gluepot/gluepot/tests/bench/twin"
)

// opener returns a server's handler, to be served in this process, and a function that closes it.
type opener func(context.Context) (http.Handler, func(), error)

func openGluepot(url string, logging bool) opener {
	return func(ctx context.Context) (http.Handler, func(), error) {
		cfg := bootstrap.DefaultConfig()
		cfg.Database.URL = gormstore.URL(url)
		level := zapcore.InfoLevel
		if !logging {
			level = zapcore.WarnLevel
		}
		log := zap.New(zapcore.NewCore(zapcore.NewJSONEncoder(zap.NewProductionEncoderConfig()), zapcore.AddSync(io.Discard), level))
		app, stop, err := bootstrap.Open(ctx, cfg)
		if err != nil {
			return nil, nil, err
		}
		modules := httpapi.Modules{Users: app.Users, Pastes: app.Pastes, Languages: app.Languages}
		settings := httpapi.DefaultConfig()
		settings.Pages = pages.New(pages.DefaultConfig(), pages.Modules{Users: app.Users, Pastes: app.Pastes, Languages: app.Languages})
		api, err := httpapi.New(settings, modules, app.Ready, log)
		if err != nil {
			return nil, nil, errors.Join(err, stop(ctx))
		}
		return api, func() { _ = stop(ctx) }, nil
	}
}

func openTwin(url string, constant []byte) opener {
	return func(ctx context.Context) (http.Handler, func(), error) { return twin.New(ctx, url, constant) }
}

func openGinTwin(constant []byte) opener {
	return func(context.Context) (http.Handler, func(), error) { return twin.NewGin(constant), func() {}, nil }
}

// allocations counts what one request allocates in a server, net/http included, when it is alone. The server runs in
// this process for that, and the client's side of the connection allocates nothing.
func allocations(l load) (count float64, err error) {
	ctx := context.Background()
	handler, closeHandler, err := l.to.open(ctx)
	if err != nil {
		return 0, err
	}
	defer closeHandler()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	server := twin.Server(handler)
	go func() { _ = server.Serve(listener) }()
	defer server.Close() //nolint:errcheck // it was only measured
	connection, err := net.Dial("tcp", listener.Addr().String())
	if err != nil {
		return 0, err
	}
	defer connection.Close() //nolint:errcheck // it was only measured

	request := fmt.Appendf(nil, "%s %s HTTP/1.1\r\nHost: %s\r\n", cmp.Or(l.method, http.MethodGet), l.path, listener.Addr())
	if l.header != "" {
		request = fmt.Appendf(request, "%s\r\n", l.header)
	}
	if l.body != "" {
		request = fmt.Appendf(request, "Content-Length: %d\r\n", len(l.body))
	}
	request = append(append(request, "\r\n"...), l.body...)
	length := 0
	for range 2 { // the first may be sent in other pieces
		if length, err = answerLength(connection, request); err != nil {
			return 0, fmt.Errorf("%s: %w", l.path, err)
		}
	}
	answer, ok := make([]byte, length), []byte("HTTP/1.1 200 ")
	exchange := func() error {
		if _, err := connection.Write(request); err != nil {
			return err
		}
		if _, err := io.ReadFull(connection, answer); err != nil {
			return err
		}
		if !bytes.HasPrefix(answer, ok) {
			return fmt.Errorf("%s: %.200s", l.path, answer)
		}
		return nil
	}
	const budget = 50 << 20 // bytes to be read, more or less
	times := max(10, min(2000, budget/length))
	var before, after runtime.MemStats
	for i := range 2 * times {
		if i == times { // all is warm
			runtime.ReadMemStats(&before)
		}
		if err := exchange(); err != nil {
			return 0, err
		}
	}
	runtime.ReadMemStats(&after)
	return float64(after.Mallocs-before.Mallocs) / float64(times), nil
}

// answerLength returns the bytes of an answer, which are as many each time.
func answerLength(connection net.Conn, request []byte) (int, error) {
	if _, err := connection.Write(request); err != nil {
		return 0, err
	}
	read := &countingReader{reader: connection}
	buffered := bufio.NewReader(read)
	response, err := http.ReadResponse(buffered, nil)
	if err != nil {
		return 0, err
	}
	defer response.Body.Close() //nolint:errcheck // it has been read
	if _, err := io.Copy(io.Discard, response.Body); err != nil {
		return 0, err
	}
	return read.bytes - buffered.Buffered(), nil
}

type countingReader struct {
	reader io.Reader
	bytes  int
}

// Read implements io.Reader.
func (r *countingReader) Read(p []byte) (int, error) {
	n, err := r.reader.Read(p)
	r.bytes += n
	return n, err
}
