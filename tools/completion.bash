# Completes the commands and options of quickstart and of vmafx score in bash: . tools/completion.bash
_vmafx_quickstart() {
  local word=${COMP_WORDS[COMP_CWORD]} help words
  help=$("$1" help 2>/dev/null) || return
  if [ "$COMP_CWORD" = 1 ]; then
    words=$(sed -nE 's/^  ([a-z]+) .*/\1/p' <<<"$help")
  elif [[ $word == -* ]]; then
    words=$(sed -nE "s/^  ${COMP_WORDS[1]} (.*)/\1/p" <<<"$help" | grep -oE -e '--[a-z]+(-[a-z]+)?=?')
    [ "${COMP_WORDS[1]}" != score ] || words+=" $("$1" score --help 2>/dev/null | sed -nE 's/^  (-[a-zA-Z], )?(--[a-z-]+).*/\2/p' | sort -u | grep -v -e gpu)"
  else
    return 0
  fi
  mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word")
}
complete -o default -F _vmafx_quickstart quickstart ./quickstart
