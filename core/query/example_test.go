package query_test

import (
	"fmt"

	"armature/core/query"
)

func ExampleParse() {
	args := map[string]any{
		"fields": `["name", "status"]`, "filters": `[["status", "in", ["Open", "Late"]]]`,
		"order_by": "modified desc", "limit": "5",
	}
	q, err := query.Parse(func(name string) any { return args[name] })
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(len(q.Fields), "fields,", q.Length, "rows, by", q.Order[0].Ref)
	fmt.Printf("%T\n", q.Filter)

	args["fields"] = `["name; drop table"]`
	_, err = query.Parse(func(name string) any { return args[name] })
	fmt.Println(err != nil)
	// Output:
	// 2 fields, 5 rows, by modified
	// query.Cond
	// true
}
