package peers_test

import (
	"context"
	"testing"

	"github.com/wapc/wapc-go"
	"github.com/wapc/wapc-go/engines/wazero"
)

// wapcPeer is an instance of waPC that serves call after call.
func wapcPeer(tb testing.TB) runner {
	ctx := context.Background()
	host := func(context.Context, string, string, string, []byte) ([]byte, error) { return document, nil }
	module, err := wazero.Engine().New(ctx, host, buildC(tb, "wapc.c"), &wapc.ModuleConfig{})
	if err != nil {
		tb.Fatal(err)
	}
	instance, err := module.Instantiate(ctx)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := module.Close(ctx); err != nil {
			tb.Error(err)
		}
	})
	return inProcess(func() ([]byte, error) { return instance.Invoke(ctx, "echo", request) })
}
