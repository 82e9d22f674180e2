package otlp

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strconv"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	sdk "go.opentelemetry.io/otel/sdk/trace"
)

const (
	sendTimeout = 10 * time.Second
	sendTries   = 3
)

// exporter sends spans as OTLP/HTTP with the JSON encoding of protobuf. The
// SDK calls it from one goroutine.
type exporter struct {
	url     string
	headers http.Header
	version string
	log     *slog.Logger
	away    atomic.Bool // the collector did not take the last batch
}

// ExportSpans implements sdk.SpanExporter. Failures are logged here, once until
// the collector is back: the SDK would tell a handler that is global.
func (e *exporter) ExportSpans(ctx context.Context, spans []sdk.ReadOnlySpan) error {
	body, err := json.Marshal(e.request(spans))
	if err != nil {
		return err
	}
	for try := 1; ; try++ {
		var again bool
		if again, err = e.send(ctx, body); err == nil || !again || try == sendTries {
			break
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(time.Duration(try) * time.Second):
		}
	}
	if err != nil && !e.away.Swap(true) {
		e.log.Warn("traces are lost: the collector does not take them", "error", err)
	}
	if err == nil && e.away.Swap(false) {
		e.log.Info("the collector takes traces again")
	}
	return nil
}

// Shutdown implements sdk.SpanExporter.
func (e *exporter) Shutdown(context.Context) error { return nil }

// send makes one try; again says whether another may help (OTLP specification,
// "Failures": 429, 502, 503, 504, and no answer).
func (e *exporter) send(ctx context.Context, body []byte) (again bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, sendTimeout)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, e.url, bytes.NewReader(body))
	if err != nil {
		return false, err
	}
	r.Header = e.headers.Clone()
	r.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultClient.Do(r) // the operator's address, which may be private
	if err != nil {
		return true, err
	}
	defer res.Body.Close()
	_, _ = io.Copy(io.Discard, io.LimitReader(res.Body, 64<<10))
	switch res.StatusCode {
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		again = true
	}
	if res.StatusCode/100 != 2 {
		return again, fmt.Errorf("it answers %s", res.Status)
	}
	return false, nil
}

// The messages of OTLP, opentelemetry/proto/trace/v1, as far as they are used.
type (
	exportRequest struct {
		ResourceSpans []resourceSpans `json:"resourceSpans"`
	}
	resourceSpans struct {
		Resource struct {
			Attributes []keyValue `json:"attributes"`
		} `json:"resource"`
		ScopeSpans []scopeSpans `json:"scopeSpans"`
	}
	scopeSpans struct {
		Scope struct {
			Name string `json:"name"`
		} `json:"scope"`
		Spans []jsonSpan `json:"spans"`
	}
	jsonSpan struct {
		TraceID    string     `json:"traceId"`
		SpanID     string     `json:"spanId"`
		ParentID   string     `json:"parentSpanId,omitempty"`
		Name       string     `json:"name"`
		Kind       int        `json:"kind"`
		Start      string     `json:"startTimeUnixNano"`
		End        string     `json:"endTimeUnixNano"`
		Attributes []keyValue `json:"attributes,omitempty"`
		Status     status     `json:"status"`
	}
	status struct {
		Code    int    `json:"code,omitempty"`
		Message string `json:"message,omitempty"`
	}
	keyValue struct {
		Key   string   `json:"key"`
		Value anyValue `json:"value"`
	}
	anyValue struct {
		String *string `json:"stringValue,omitempty"`
		Int    *string `json:"intValue,omitempty"` // 64 bits are text in this encoding
	}
)

func (e *exporter) request(spans []sdk.ReadOnlySpan) *exportRequest {
	var of resourceSpans
	of.Resource.Attributes = []keyValue{text("service.name", "armature"), text("service.version", e.version)}
	var scope scopeSpans
	scope.Scope.Name = "armature"
	for _, s := range spans {
		scope.Spans = append(scope.Spans, encode(s))
	}
	of.ScopeSpans = []scopeSpans{scope}
	return &exportRequest{ResourceSpans: []resourceSpans{of}}
}

func encode(s sdk.ReadOnlySpan) jsonSpan {
	out := jsonSpan{
		TraceID: s.SpanContext().TraceID().String(), SpanID: s.SpanContext().SpanID().String(),
		Name: s.Name(), Kind: int(s.SpanKind()),
		Start: strconv.FormatInt(s.StartTime().UnixNano(), 10), End: strconv.FormatInt(s.EndTime().UnixNano(), 10),
	}
	if s.Parent().SpanID().IsValid() {
		out.ParentID = s.Parent().SpanID().String()
	}
	for _, a := range s.Attributes() {
		if a.Value.Type() == attribute.INT64 {
			n := strconv.FormatInt(a.Value.AsInt64(), 10)
			out.Attributes = append(out.Attributes, keyValue{string(a.Key), anyValue{Int: &n}})
		} else {
			out.Attributes = append(out.Attributes, text(string(a.Key), a.Value.AsString()))
		}
	}
	if s.Status().Code == codes.Error {
		out.Status = status{Code: 2, Message: s.Status().Description} // STATUS_CODE_ERROR
	}
	return out
}

func text(key, value string) keyValue { return keyValue{key, anyValue{String: &value}} }
