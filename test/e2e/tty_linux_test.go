package e2e

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"time"
	"unsafe"
)

// tty plays a user at a terminal: tty [-cols=N] [-played=FILE] [-raw] ANSWERS COMMAND... runs the
// command on a pseudo-terminal of its own, waits for what the lines of ANSWERS name, and types
// what they answer; a line without an answer only waits:
//
//	only live moved
//	Take which => l
//	Value => ^C
//
// When all lines are played, FILE is made. What the terminal shows in the end goes to standard output, with -raw also what
// was erased; the exit code is the command's.
func tty() {
	cols := flag.Int("cols", 80, "width of the terminal")
	played := flag.String("played", "", "file to make when all answers are given")
	raw := flag.Bool("raw", false, "print what was erased, too")
	flag.Parse()
	if flag.NArg() < 2 {
		fmt.Fprintln(os.Stderr, "usage: tty [-cols=N] [-played=FILE] [-raw] ANSWERS COMMAND...")
		os.Exit(2)
	}
	script, err := os.ReadFile(flag.Arg(0))
	if err == nil {
		err = terminal{*cols, string(script), *played, *raw}.play(exec.Command(flag.Arg(1), flag.Args()[2:]...), os.Stdout)
	}
	var code *exec.ExitError
	switch {
	case errors.As(err, &code):
		os.Exit(code.ExitCode())
	case err != nil:
		fmt.Fprintln(os.Stderr, "tty:", err)
		os.Exit(125)
	}
}

// terminal is one with a user who follows a script.
type terminal struct {
	cols           int
	script, played string
	raw            bool
}

func (t terminal) play(cmd *exec.Cmd, out io.Writer) error {
	master, slave, err := openTTY(t.cols)
	if err != nil {
		return err
	}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = slave, slave, slave
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := cmd.Start(); err != nil {
		return err
	}
	shown := &screen{grown: make(chan struct{}, 1)}
	ended, waited := make(chan struct{}), make(chan error, 1)
	go func() { // the terminal stays open: unread output may be lost when no process has it open
		err := cmd.Wait()
		_, _ = slave.WriteString(last)
		waited <- err
	}()
	go func() {
		defer close(ended)
		some := make([]byte, 4096)
		for !strings.HasSuffix(shown.text(), last) {
			n, err := master.Read(some)
			if _, _ = shown.Write(some[:n]); err != nil {
				return
			}
		}
	}()
	err = shown.answer(master, t.script, ended)
	if err == nil && t.played != "" {
		err = os.WriteFile(t.played, nil, 0o600)
	}
	if err != nil {
		_ = cmd.Process.Kill() // it waits for an answer that never comes
	}
	<-ended
	if _, werr := io.WriteString(out, t.seen(strings.TrimSuffix(shown.text(), last))); werr != nil {
		return werr
	}
	if werr := <-waited; err == nil {
		err = werr
	}
	return errors.Join(err, slave.Close())
}

// erased matches what a line had shown before it was erased, as the line of progress of a run that takes longer is.
var erased = regexp.MustCompile(`[^\n]*\r\x1b\[K`)

// seen returns what the terminal shows in the end of what was written to it.
func (t terminal) seen(text string) string {
	if text = strings.ReplaceAll(text, "\r\n", "\n"); t.raw {
		return text
	}
	return erased.ReplaceAllString(text, "")
}

// last is shown after all that a command shows.
const last = "\x00ended"

// openTTY makes a pseudo-terminal.
func openTTY(cols int) (master, slave *os.File, err error) {
	if master, err = os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0); err != nil {
		return nil, nil, err
	}
	var number, unlock uint32
	size := struct{ rows, cols, x, y uint16 }{rows: 50, cols: uint16(cols)}
	for _, call := range []struct {
		request uintptr
		value   unsafe.Pointer
	}{
		{syscall.TIOCGPTN, unsafe.Pointer(&number)},
		{syscall.TIOCSPTLCK, unsafe.Pointer(&unlock)},
		{syscall.TIOCSWINSZ, unsafe.Pointer(&size)},
	} {
		if _, _, errno := syscall.Syscall(syscall.SYS_IOCTL, master.Fd(), call.request, uintptr(call.value)); errno != 0 {
			return nil, nil, errno
		}
	}
	slave, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|syscall.O_NOCTTY, 0)
	return master, slave, err
}

// answer waits for each line's question and types its answer.
func (s *screen) answer(keyboard io.Writer, script string, ended <-chan struct{}) error {
	keys := strings.NewReplacer("^C", "\x03", "^D", "\x04")
	from := 0
	for line := range strings.Lines(script) {
		question, answer, asks := strings.Cut(strings.TrimSuffix(line, "\n"), " => ")
		limit := time.After(patience)
		for {
			if i := strings.Index(s.text()[from:], question); i >= 0 {
				from += i + len(question)
				break
			}
			select {
			case <-s.grown:
			case <-ended:
				if !strings.Contains(s.text()[from:], question) {
					return fmt.Errorf("the command ended before it asked %q", question)
				}
			case <-limit:
				return fmt.Errorf("%q was not asked within %s", question, patience)
			}
		}
		if !asks {
			continue
		}
		typed := keys.Replace(answer)
		if typed == answer {
			typed += "\n"
		}
		if _, err := io.WriteString(keyboard, typed); err != nil {
			return err
		}
	}
	return nil
}

// screen has what a terminal has shown so far.
type screen struct {
	mu    sync.Mutex
	shown bytes.Buffer
	grown chan struct{}
}

// Write shows more.
func (s *screen) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	defer func() {
		select {
		case s.grown <- struct{}{}:
		default: // it is known already
		}
	}()
	return s.shown.Write(p)
}

func (s *screen) text() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.shown.String()
}
