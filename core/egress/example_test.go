package egress_test

import (
	"fmt"

	"armature/core/egress"
)

func ExampleCheckURL() {
	for _, address := range []string{"https://api.example.com/v1", "file:///etc/passwd", "https://user:secret@example.com/"} {
		fmt.Println(address, egress.CheckURL(address) == nil)
	}
	// Output:
	// https://api.example.com/v1 true
	// file:///etc/passwd false
	// https://user:secret@example.com/ false
}
