# Functions for tests in bash: they count cases and print one line for each. Sourced; expects $build and $logs
# (tools/common.sh).

passed=0 failed=0 skipped=0
log=$(mktemp)
trap 'rm -f "$log"' EXIT

pass() { passed=$((passed + 1)); echo "PASS $1"; }
skip() { skipped=$((skipped + 1)); echo "SKIP $1: $2"; }

# try NAME COMMAND…: a case passes when every line of the command succeeds; else the end of its output is shown. One
# that takes long says how long. Sets `ok`. Never call it in a condition or before `||`: there bash would not stop the
# command at its first failure.
try() {
  local name=$1 status start=$SECONDS took
  shift
  set +e
  (set -e; "$@") >"$log" 2>&1 </dev/null
  status=$?
  set -e
  if [ $status = 0 ]; then
    ok=true
    took=$((SECONDS - start))
    pass "$name$([ $took -lt 5 ] || echo ": $took s")"
  else
    ok=false
    failed=$((failed + 1))
    echo "FAIL $name: $(tail -n 1 "$log")"
    tail -n 15 "$log" | sed 's/^/    /'
  fi
}

# try_slow NAME COMMAND…: a case that has faster relatives runs in CI and with --long.
try_slow() {
  if [ -n "${VMAFX_TEST_SLOW-}${VMAFX_TEST_ALL-}" ]; then
    try "$@"
  else
    skip "$1" "it is slow: VMAFX_TEST_SLOW=1 and --long run it"
  fi
}

# equal GOT WANTED: compares two texts.
equal() { [ "$1" = "$2" ] || { echo "got '$1', wanted '$2'"; return 1; }; }

# counted TEXT COMMAND…: runs a suite of its own that ends with 'N passed, N failed[, N skipped]'. Its cases count here;
# only lines of failed and skipped cases are shown.
counted() {
  local text=$1 p f s
  shift
  "$@" >"$log" 2>&1 </dev/null || true
  grep -E '^(FAIL|SKIP|    )' "$log" || true
  if ! read -r p f s < <(grep -E '^[0-9]+ passed, [0-9]+ failed(, [0-9]+ skipped)?$' "$log" | tail -n 1 | tr -cd '0-9 \n'); then
    failed=$((failed + 1))
    echo "FAIL $text broke off: $(tail -n 1 "$log")"
    return
  fi
  passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + ${s:-0}))
  echo "$text: $p passed, $f failed"
}

# skip_suite NAME WHY: ends a suite that cannot run at all, which is not a failure.
skip_suite() {
  skip "$1" "$2"
  finish || exit $((failed > 0))
  exit
}

# Prints the closing line; the exit status says whether all is well.
finish() {
  echo "$passed passed, $failed failed, $skipped skipped"
  [ $failed = 0 ] && [ $passed -gt 0 ]
}
