package backup_test

import (
	"fmt"
	"time"

	"armature/core/backup"
)

func ExamplePolicy_Stay() {
	keep, err := backup.ParsePolicy("last=1,daily=2")
	if err != nil {
		fmt.Println(err)
		return
	}
	noon := time.Date(2026, 3, 14, 12, 0, 0, 0, time.UTC)
	made := []time.Time{noon, noon.Add(time.Hour), noon.AddDate(0, 0, -1), noon.AddDate(0, 0, -2)}
	fmt.Println(keep.Stay(made))
	// Output: [false true true false]
}
