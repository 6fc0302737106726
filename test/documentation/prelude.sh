# What the shell of a page knows before its first command.
exec 2>&1
shopt -s expand_aliases

# Client commands are run by the process that all pages share: starting one for each takes longer than all else.
gatehouse() {
  if [[ $1 == serve || $1 == emulator || -n $IN_BACKGROUND ]]; then
    run_program "$@"
    return
  fi
  local call code
  call=$(mktemp -d "$CALLS/XXXXXX")
  printf '%s\0' "$@" >"$call/args"
  env -0 >"$call/environment"
  [[ /dev/stdin -ef /dev/null ]] || cat >"$call/stdin"
  [[ /dev/stdout -ef /dev/stderr ]] && : >"$call/is-merged"
  mkfifo "$call/code"
  printf '%s\t%s\n' "$call" "$PWD" >&3
  read -r code <"$call/code"
  cat "$call/stdout"
  cat "$call/stderr" >&2
  return "$code"
}

run_program() {
  # The test is the browser.
  [[ "$1 $2" == "auth login" ]] && set -- "$@" --no-browser
  "$PROGRAM_NODE" "$PROGRAM" "$@"
}

npm() {
  case "$*" in
    start) gatehouse serve --dev ;;
    "start -- "*) gatehouse serve --dev "${@:3}" ;;
    *) echo "npm $* may not run in a test: mark the block with no-run" >&2; return 1 ;;
  esac
}

# Faster than npx, and only what the packages bring.
npx() { "$@"; }

# For `openssl rand -base64 32` and the like, where it is not installed.
command -v openssl >/dev/null || openssl() {
  "$PROGRAM_NODE" -p "crypto.randomBytes($3).toString('${2#-}')"
}

# A page that installs something must say so in its fence, with no-run.
for installer in pip pip3 go cargo gem apt-get sudo; do
  eval "$installer() { echo '$installer may not run in a test: mark the block with no-run' >&2; return 1; }"
done

# The pages pipe JSON of one line to jq, which formats it. Filters need the real one: needs="jq".
command -v jq >/dev/null || jq() {
  "$PROGRAM_NODE" -e 'process.stdout.write(`${JSON.stringify(JSON.parse(require("node:fs").readFileSync(0)), null, 2)}\n`)'
}
