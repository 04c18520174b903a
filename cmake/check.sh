#!/bin/sh
# check.sh [--fails-saying TEXT] REPORT COMMAND...
# Runs a check; REPORT.passed has what it printed, or REPORT.failed, the end of which is printed, too. A program of
# GoogleTest must say how many passed: one that a test ends early may have exit code 0. With TEXT, the check is a
# control: its command must fail and print TEXT.
set -u

is_whole() {
  ! grep -q '^\[==========\] Running' "$report.running" || grep -q '^\[  PASSED  \]' "$report.running" ||
    { echo "FAILED: it ended before its last test" >>"$report.running" && false; }
}

expected=
[ "$1" != --fails-saying ] || { expected=$2 && shift 2; }
report=$1 && shift
rm -f "$report.failed"
"$@" >"$report.running" 2>&1 && ended=0 || ended=$?
echo "exit code $ended" >>"$report.running"
if [ "$expected" ]; then [ "$ended" != 0 ] && grep -q -e "$expected" "$report.running"; else [ "$ended" = 0 ] && is_whole; fi &&
  exec mv "$report.running" "$report.passed"
mv "$report.running" "$report.failed"
printf '%s of: %.200s\n' "$(tail -n 60 "$report.failed")" "$*"
exit 1
