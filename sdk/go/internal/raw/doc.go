// Package raw holds the imports of ABI version 1 (sdk/abi/abi.md), byte for
// byte: no memory management, no JSON, no errors. In a wasip1 build they are
// the host's functions; anywhere else they go to a stand-in for tests.
package raw
