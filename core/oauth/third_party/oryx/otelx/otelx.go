// Package otelx is what fosite uses of github.com/ory/x/otelx.
package otelx

// End ends a span. It takes any type, so that this module needs no other one.
func End[Option any](span interface{ End(...Option) }, _ *error) { span.End() }
