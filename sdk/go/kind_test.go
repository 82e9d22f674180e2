package armature

import (
	"encoding/json"
	"os"
	"testing"
)

func TestKindsAndLevelsAreTheContract(t *testing.T) {
	text, err := os.ReadFile("../abi/contract.json")
	if err != nil {
		t.Skip("the SDK is not in its repository: ", err)
	}
	var v struct {
		Kinds []struct {
			Kind    Kind
			ExcType string `json:"exc_type"`
		}
		LogLevels []struct {
			Level Level
			Name  string
		} `json:"log_levels"`
	}
	if err := json.Unmarshal(text, &v); err != nil {
		t.Fatal(err)
	}
	if len(v.Kinds) != len(kindNames)-1 {
		t.Errorf("%d kinds here, %d in the contract", len(kindNames)-1, len(v.Kinds))
	}
	for _, k := range v.Kinds {
		if !k.Kind.Valid() || k.Kind.String() != k.ExcType {
			t.Errorf("kind %d is %s, in the contract %s", k.Kind, k.Kind, k.ExcType)
		}
	}
	levels := map[string]Level{"Debug": LevelDebug, "Info": LevelInfo, "Warn": LevelWarn, "Error": LevelError}
	if len(levels) != len(v.LogLevels) {
		t.Errorf("%d levels here, %d in the contract", len(levels), len(v.LogLevels))
	}
	for _, l := range v.LogLevels {
		if level, ok := levels[l.Name]; !ok || level != l.Level {
			t.Errorf("level %s is %d, in the contract %d", l.Name, level, l.Level)
		}
	}
}
