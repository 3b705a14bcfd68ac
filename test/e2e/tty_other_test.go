//go:build !linux

package e2e

import (
	"fmt"
	"os"
)

// tty needs Linux; stories that play at a terminal begin with [!linux] stop.
func tty() {
	fmt.Fprintln(os.Stderr, "tty: needs Linux")
	os.Exit(2)
}
