package armature

// Call runs a whitelisted method, of this plugin, of another or of the server,
// in the same transaction and for the same caller, and returns its result as a
// T. args is a Doc or anything that encodes as a JSON object; nil is no
// arguments.
func Call[T any](method string, args any) (result T, err error) {
	err = MethodCallRequest{Method: method, Args: args}.Ask(&result)
	return result, err
}

// Enqueue has a method run in the background once the transaction is committed,
// and returns the job's id.
func Enqueue(method string, args any) (job string, err error) {
	a, err := EnqueueRequest{Method: method, Args: args}.Ask()
	return a.Job, err
}
