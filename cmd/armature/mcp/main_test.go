package mcp_test

import (
	"os"
	"testing"

	"armature/cmd/armature/armaturetest"
)

func TestMain(m *testing.M) { os.Exit(armaturetest.Main(m)) }
