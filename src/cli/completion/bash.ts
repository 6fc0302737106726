// The script for bash. It needs neither the package bash-completion nor another program's script, defines one function,
// and evaluates nothing that the program prints.

/** Returns the script for a program of this name. It may be loaded repeatedly. */
export function bashScript(name: string): string {
  return `# bash completion for ${name}
__${name}_complete() {
    local rest=\${COMP_LINE:0:COMP_POINT} word out line value last=""
    local -a words=()
    # Bash takes words apart at : and =; what no space is between belongs together.
    rest=\${rest#*"\${COMP_WORDS[0]}"}
    for word in "\${COMP_WORDS[@]:1:COMP_CWORD}"; do
        if [[ \${#words[@]} -eq 0 || $rest == [[:space:]]* ]]; then
            words+=("$word")
        else
            words[\${#words[@]} - 1]+=$word
        fi
        rest=\${rest#"\${rest%%[![:space:]]*}"}
        rest=\${rest#"$word"}
    done
    [[ \${#words[@]} -gt 0 ]] && last=\${words[\${#words[@]} - 1]}
    word=\${COMP_WORDS[COMP_CWORD]}
    [[ $word == [:=] ]] && word=""
    COMPREPLY=()
    out=$(${name} complete -- "\${words[@]}" 2>/dev/null) || return 0
    while IFS= read -r line; do
        case $line in
            :0) compopt -o default 2>/dev/null ;;
            :*) ;;
            *)
                value=\${line%%$'\\t'*}
                [[ $value == "$last"* ]] && COMPREPLY+=("\${value#"\${last%"$word"}"}")
                ;;
        esac
    done <<<"$out"
    return 0
}
complete -F __${name}_complete ${name}
`;
}
