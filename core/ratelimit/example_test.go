package ratelimit_test

import (
	"context"
	"fmt"
	"log"
	"net/http"
	"time"

	"armature/core/ratelimit"
	"armature/core/site"
)

func Example() {
	config, err := site.ParseConfig([]byte(`{"rate_limit": {"limit": 0.5, "window": 86400}}`))
	if err != nil {
		log.Fatal(err)
	}
	noon := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	s, err := site.New(site.Options{Name: "acme", Config: config, Clock: func() time.Time { return noon }})
	if err != nil {
		log.Fatal(err)
	}
	limiter := ratelimit.New(s, ratelimit.Local(), nil)

	ctx := context.Background()
	for range 3 {
		h := make(http.Header)
		d, err := limiter.Begin(ctx, h, s.Now())
		if err != nil {
			fmt.Println("429, Retry-After", h.Get("Retry-After"))
			continue
		}
		d.End(ctx, h, http.StatusOK, 300*time.Millisecond)
		fmt.Println("remaining", h.Get("X-RateLimit-Remaining"), "used", h.Get("X-RateLimit-Used"))
	}
	// Output:
	// remaining 500000 used 300000
	// remaining 200000 used 300000
	// 429, Retry-After 43200
}
