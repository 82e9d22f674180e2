package dispatch

import (
	"time"

	"armature/plugins/manifest"
	"armature/runtime/engine"
	"armature/runtime/hostapi"
)

// fuelPerMs is how much work counts as a millisecond: the engine's default fuel
// stands for 100 ms.
var fuelPerMs = engine.DefaultLimits().Fuel / 100

// cpu is how long fuel is taken for.
func cpu(fuel uint64) time.Duration {
	return time.Duration(fuel) * time.Millisecond / time.Duration(fuelPerMs)
}

// engineLimits is what a manifest or a site says in the engine's terms.
func engineLimits(l manifest.Limits) engine.Limits {
	return engine.Limits{
		Memory:    uint64(l.Memory),
		Fuel:      uint64(l.CPUMs) * fuelPerMs,
		Wall:      time.Duration(l.WallMs) * time.Millisecond,
		Depth:     l.Depth,
		HostCalls: l.HostCalls,
	}
}

// trafficLimits is the same for what passes between guest and host.
func trafficLimits(l manifest.Limits) hostapi.Limits {
	return hostapi.Limits{Input: l.Input, Output: l.Output, Log: l.Log, HTTP: l.HTTP}
}

// traffic is what a plugin may pass: what its manifest asks for, or the default, as
// far as the server allows it.
func traffic(l manifest.Limits, server hostapi.Limits) hostapi.Limits {
	server = hostapi.Limits{
		Input:  or(server.Input, hostapi.DefaultLimits.Input),
		Output: or(server.Output, hostapi.DefaultLimits.Output),
		Log:    or(server.Log, hostapi.DefaultLimits.Log),
		HTTP:   or(server.HTTP, hostapi.DefaultLimits.HTTP),
	}
	return trafficLimits(l).Within(server)
}

func or(v, d int) int {
	if v <= 0 {
		return d
	}
	return v
}
