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
	return hostapi.Limits{Input: l.Input, Output: l.Output, Log: l.Log, HTTP: l.HTTP, Tx: time.Duration(l.TxMs) * time.Millisecond}
}

// traffic is what a plugin may pass: what its manifest asks for, or the default, as
// far as the server allows it.
func traffic(l manifest.Limits, server hostapi.Limits) hostapi.Limits {
	return trafficLimits(l).Or(hostapi.DefaultLimits).Within(server)
}
