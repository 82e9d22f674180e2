// Package testrun runs the tests of plugins on real sites.
//
// A test is WebAssembly in an engine beside the one that runs plugins. It is offered
// what a plugin is, and the functions of abi.TestModule; a Site answers them. Tests
// are the exports test.* of a module, in any language, and what the files of tests
// beside a script note by test(name, function): the interpreter that runs scripts on
// a server runs those.
//
// Each test begins from the state after loading and on a fresh site, so that nothing
// of one is seen by another.
package testrun
