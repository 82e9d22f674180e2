package scope_test

import (
	"fmt"

	"armature/core/scope"
)

func ExampleCovered() {
	granted := []string{"openid", "resource:ToDo:read", "method:acme.todo.*"}
	for _, wanted := range []string{"resource:ToDo:read", "resource:ToDo:write", "method:acme.todo.close", "method:acme.shop.buy"} {
		fmt.Println(wanted, scope.Covered(granted, wanted))
	}
	// Output:
	// resource:ToDo:read true
	// resource:ToDo:write false
	// method:acme.todo.close true
	// method:acme.shop.buy false
}
