// Package abi names what crosses the boundary between the host and a guest,
// version 1: imports, exports, codes and bounds. All of it is generated from
// sdk/abi/contract.json; the prose is sdk/abi/abi.md.
//
// Nothing here may change in place. An addition is a new name; a break is a new
// import module name.
package abi
