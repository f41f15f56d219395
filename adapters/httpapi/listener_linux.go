package httpapi

import (
	"net"

	"golang.org/x/sys/unix"
)

// refuseNew makes the kernel drop the packets that begin a connection to the listener, while handshakes that have
// begun are completed and wait to be accepted. Closing a listener resets what is in its queue; after this, a moment
// comes when the queue is empty and stays so. Clients repeat the packet a second later: by then nobody listens,
// and they are refused, or somebody else does.
func refuseNew(l *net.TCPListener) error {
	const flags, syn, ack = 13, 0x02, 0x10 // of a TCP header, at which the program's packet begins
	program := [...]unix.SockFilter{
		{Code: unix.BPF_LD | unix.BPF_B | unix.BPF_ABS, K: flags},
		{Code: unix.BPF_ALU | unix.BPF_AND | unix.BPF_K, K: syn | ack},
		{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: syn, Jt: 0, Jf: 1},
		{Code: unix.BPF_RET | unix.BPF_K, K: 0},          // drop it
		{Code: unix.BPF_RET | unix.BPF_K, K: 0xffffffff}, // keep all of it
	}
	raw, err := l.SyscallConn()
	if err != nil {
		return err
	}
	var failure error
	err = raw.Control(func(fd uintptr) {
		failure = unix.SetsockoptSockFprog(int(fd), unix.SOL_SOCKET, unix.SO_ATTACH_FILTER,
			&unix.SockFprog{Len: uint16(len(program)), Filter: &program[0]})
	})
	if err != nil {
		return err
	}
	return failure
}
