#!/bin/bash
# Debuggers and sanitizers work inside, on the agent's own processes and on no others.
# Not below /tmp, which is another one inside.
if [ "$(id -u)" = 0 ]; then TMPDIR=/var/lib; else TMPDIR=$HOME; fi
. "${ZW_SRC:?}/tests/support/lib.sh"
for tool in gcc gdb strace python3; do command -v $tool >/dev/null || skip "$tool is not installed"; done
unset DEBUGINFOD_URLS
run() { timeout 120 "$zwatch" run -- "$@" 2>&1 </dev/null; }

cat >sum.c <<'C'
#include <stdio.h>
#include <stdlib.h>
static int sum(const int *a, int n) { int s = 0; for (int i = 0; i < n; i++) s += a[i]; return s; }
int main(int argc, char **argv)
{
	int *a = malloc(4 * sizeof(int));
	for (int i = 0; i < 4; i++) a[i] = i;
	printf("%d\n", sum(a, argc > 1 ? atoi(argv[1]) : 4));
	if (argc <= 2) a = NULL;
	return 0;
}
C
same "a build, and one for AddressSanitizer" "ok" "$(run sh -c 'gcc -g -O0 sum.c -o plain && gcc -g -O0 -fsanitize=address sum.c -o asan && echo ok')"
has "gdb: stops, looks, steps" '^#0 +sum .*n=4' "$(run gdb -nx -batch -ex 'break sum' -ex run -ex bt ./plain)"
has "gdb: attaches to its own" 'Inferior 1 .* detached' \
	"$(run sh -c 'sleep 30 & gdb -nx -batch -p $! -ex detach; kill $!')"
has "LeakSanitizer finds the leak" 'LeakSanitizer: detected memory leaks' "$(run ./asan)"
has "AddressSanitizer finds the overflow" 'heap-buffer-overflow' "$(run ./asan 5)"
out=$(run sh -c 'strace -f -o trace sh -c "./plain; ./plain 3"; cat trace')
same "strace: output of what it traces" "6 3" "$(printf '%s\n' "$out" | grep -xE '[0-9]+' | xargs)"
has "strace: its own children" 'execve\("./plain"' "$out"

# Nothing outside the tree: pid 1 inside, and processes of the host by the number that they have there.
sleep 300 &
pids="$pids $!"
outside=$!
for pid in 1 $outside; do
	out=$(run strace -p "$pid")
	has "strace of $([ "$pid" = 1 ] && echo pid 1 || echo a process outside)" 'Operation not permitted|No such process' "$out"
	out=$(run gdb -nx -batch -p "$pid")
	has "gdb of the same" 'not permitted|No such process' "$out"
done
run strace -p $outside >/dev/null
same "the process outside was never traced" "0" "$(awk '/^TracerPid/ { print $2 }' /proc/$outside/status)"
exit 0
