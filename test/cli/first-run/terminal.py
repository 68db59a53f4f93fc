"""Runs a program on a pseudo-terminal: waits for a text, types an answer, and so on. Prints what was shown, and the exit code, as JSON."""
import fcntl
import json
import os
import pty
import select
import signal
import struct
import sys
import termios
import time

steps = json.loads(sys.argv[1])
pid, terminal = pty.fork()
if pid == 0:
    fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    os.execvp(sys.argv[2], sys.argv[2:])

shown, at, deadline = "", 0, time.time() + 40
while True:
    if steps and steps[0][0] in shown[at:]:
        text, answer = steps.pop(0)
        at = shown.index(text, at) + len(text)
        os.write(terminal, answer.encode())
    if time.time() > deadline:
        os.kill(pid, signal.SIGKILL)
        break
    if not select.select([terminal], [], [], 0.1)[0]:
        continue
    try:
        data = os.read(terminal, 65536)
    except OSError:
        break
    if not data:
        break
    shown += data.decode("utf-8", "replace")
_, status = os.waitpid(pid, 0)
code = os.WEXITSTATUS(status) if os.WIFEXITED(status) else None
print(json.dumps({"code": code, "shown": shown, "left": steps}))
