package cli

// passed does nothing: when a console has sent what it sends is not known here.
func passed() {}
