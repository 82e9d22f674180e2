package rewrite

import "testing"

func TestUnmangled(t *testing.T) {
	for name, want := range map[string]string{
		"_ZN6plugin5third17hf91c56bf4c98522dE":                                                          "plugin::third",
		"_ZN3std9panicking19begin_panic_handler28_$u7b$$u7b$closure$u7d$$u7d$17h106d97be21bfe094E":      "std::panicking::begin_panic_handler::{{closure}}",
		"_ZN58_$LT$alloc..string..String$u20$as$u20$core..fmt..Write$GT$9write_str17h0123456789abcdefE": "<alloc::string::String as core::fmt::Write>::write_str",
		"_ZN4core9panicking9panic_fmt17h9ec1c8305a7da9aE":                                               "_ZN4core9panicking9panic_fmt17h9ec1c8305a7da9aE", // cut short
		"_ZN3foo3barEv":             "_ZN3foo3barEv", // of C++
		"_ZN3foo3barE":              "_ZN3foo3barE",
		"_ZN":                       "_ZN",
		"_ZN99999999999999999999aE": "_ZN99999999999999999999aE",
		"acme.todo.close":           "acme.todo.close",
	} {
		if got := unmangled(name); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
}
