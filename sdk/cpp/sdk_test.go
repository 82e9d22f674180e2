package cpp_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// The header's own tests: a native program with the stub host.
func TestHeader(t *testing.T) {
	clang, err := exec.LookPath("clang++")
	if err == nil {
		_, err = os.Stat("/usr/include/nlohmann/json.hpp")
	}
	if err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal(err)
		}
		t.Skip("clang++ or nlohmann/json is missing: apt-get install clang nlohmann-json3-dev")
	}
	program := filepath.Join(t.TempDir(), "test")
	build := exec.Command(clang, "-std=c++20", "-Wall", "-Wextra", "-Werror", "-fsanitize=undefined", "-fsanitize-trap=all", "-I.", "-o", program, "testdata/sdk_test.cpp")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if out, err := exec.Command(program).CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
