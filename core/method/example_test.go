package method_test

import (
	"context"
	"fmt"

	"armature/core/identity"
	"armature/core/method"
)

func ExampleService_Run() {
	hello := &method.Method{Path: "acme.hello", Tier: method.Named, AllowGuest: true, Func: func(_ context.Context, c *method.Call) (any, error) {
		return "hello, " + c.Caller.User, nil
	}}
	table, err := method.NewTable([]*method.Method{hello})
	if err != nil {
		fmt.Println(err)
		return
	}
	s := method.New(method.Config{Table: table, Store: &fakeStore{}})
	r, err := s.Run(context.Background(), method.Invocation{Path: "acme.hello", Verb: "POST", Caller: identity.Anonymous()})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(string(r.Message))
	_, err = s.Run(context.Background(), method.Invocation{Path: "acme.bye", Verb: "POST", Caller: identity.Anonymous()})
	fmt.Println(err != nil)
	// Output:
	// "hello, Guest"
	// true
}
