# For tests in bash: counts cases and prints one line for each. Sourced; expects $build and $logs (tools/common.sh).

passed=0 failed=0 skipped=0
log=$(mktemp)
trap 'rm -f "$log"' EXIT

pass() { passed=$((passed + 1)); echo "PASS $1"; }
skip() { skipped=$((skipped + 1)); echo "SKIP $1: $2"; }

# try NAME COMMAND…: a case passes when every line of the command succeeds; else the end of its output is shown. Sets `ok`.
# Never call it in a condition or before `||`: there bash would not stop the command at its first failure.
try() {
  local name=$1 status
  shift
  set +e
  (set -e; "$@") >"$log" 2>&1 </dev/null
  status=$?
  set -e
  if [ $status = 0 ]; then
    ok=true
    pass "$name"
  else
    ok=false
    failed=$((failed + 1))
    echo "FAIL $name: $(tail -n 1 "$log")"
    tail -n 15 "$log" | sed 's/^/    /'
  fi
}

# equal GOT WANTED
equal() { [ "$1" = "$2" ] || { echo "got '$1', wanted '$2'"; return 1; }; }

# The closing line; the exit status says whether all is well.
finish() {
  echo "$passed passed, $failed failed, $skipped skipped"
  [ $failed = 0 ] && [ $passed -gt 0 ]
}
