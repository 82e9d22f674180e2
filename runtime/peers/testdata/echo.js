// The echo guest for goja, where texts are the engine's own values.
function echo(request) {
	return '{"ok":true,"data":' + doc(request) + '}';
}
