package extism

import "armature/runtime/engine"

// Doc is a function of extism:host/user that reads its request and answers text.
func Doc(text []byte) engine.Import {
	im := user("", types(l), func(k *kernel, c *engine.Call, s []uint64) {
		k.argument(c, s[0])
		s[0] = k.put(c, text)
	})
	im.Name = "doc"
	return im
}
