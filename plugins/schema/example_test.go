package schema_test

import (
	"encoding/json"
	"fmt"

	"armature/plugins/schema"
)

func Example() {
	s, err := schema.Compile(json.RawMessage(`{"type": "object", "required": ["qty"], "properties": {"qty": {"type": "integer", "minimum": 1}}}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	args, _ := s.Convert(map[string]any{"qty": "3"}) // a query string knows nothing but text
	fmt.Println(args["qty"], s.Check(args))
	fmt.Println(s.Check(map[string]any{"qty": json.Number("0")}))
	// Output:
	// 3 <nil>
	// ValidationError: qty: must be at least 1
}
