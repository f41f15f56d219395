package openapi

import (
	"bytes"
	"io"
	"net/http"
)

// Transport is an http.RoundTripper that calls Check with every answer.
type Transport struct {
	Check func(Answer)
}

// RoundTrip implements http.RoundTripper. It reads the whole body before it returns.
func (t *Transport) RoundTrip(request *http.Request) (*http.Response, error) {
	response, err := http.DefaultTransport.RoundTrip(request)
	if err != nil {
		return nil, err
	}
	body, err := io.ReadAll(response.Body)
	_ = response.Body.Close()
	if err != nil {
		return nil, err
	}
	response.Body = io.NopCloser(bytes.NewReader(body))
	t.Check(Answer{
		Method: request.Method, Target: request.URL.RequestURI(), Status: response.StatusCode,
		Header: response.Header, Body: body,
	})
	return response, nil
}
