# bash completion for amudai. It needs bash 4.4 or later, and nothing else.
#
# Install it for all users, or for the current one:
#   amudai completion bash > /etc/bash_completion.d/amudai
#   amudai completion bash >> ~/.bashrc

_amudai() {
    local line=${COMP_LINE:0:COMP_POINT} quote last directive c
    local -a words all begin
    COMPREPLY=()

    # A completion must not run what the line would run.
    [[ $line != *'`'* && $line != *'$('* && $line != *[\<\>]'('* ]] || return 0

    # The words as the shell makes them. A quote may be open, and the last word may be empty: hence the x.
    for quote in '' "'" '"' -; do
        [[ $quote != - ]] || return 0
        eval "words=(${line}x$quote)" 2>/dev/null && break
    done
    last=${words[-1]%x}
    mapfile -t all < <("${words[0]}" __completeNoDesc "${words[@]:1:${#words[@]}-2}" "$last" 2>/dev/null)
    ((${#all[@]} > 0)) || return 0
    directive=${all[-1]#:}
    unset 'all[-1]'
    if ((directive & 1)); then # an error
        return 0
    fi
    ((directive & 2)) && compopt -o nospace
    ((directive & 4)) && compopt +o default

    # The value of --flag=value is proposed without the flag. Otherwise proposals are whole words.
    [[ $last == -*=* ]] && last=${last#*=}
    for c in "${all[@]}"; do
        [[ $c == "$last"* ]] && begin+=("$c")
    done
    if ((${#begin[@]} == 0 && ${#all[@]} == 1)); then # spelled differently, in upper or lower case
        begin=("${all[@]}")
    fi
    for c in "${begin[@]}"; do
        case $quote in
        "'") c=${c//\'/"'\\''"} ;;
        '"') c=${c//\\/\\\\} c=${c//\"/\\\"} c=${c//\$/\\\$} c=${c//\`/\\\`} ;;
        *)
            # Bash replaces what is behind the last of its delimiters only.
            local delimiters=${COMP_WORDBREAKS//[^:=@]/}
            if [[ -n $delimiters && $last == *[$delimiters]* ]]; then
                c=${c#"${last%"${last##*[$delimiters]}"}"}
            fi
            printf -v c %q "$c"
            c=${c//\\,/,}
            ;;
        esac
        COMPREPLY+=("$c")
    done
    # Bash would close the quote behind the only proposal, but a condition may go on.
    if [[ -n $quote ]] && ((${#COMPREPLY[@]} == 1 && directive & 2)); then
        COMPREPLY+=("${COMPREPLY[0]} …")
    fi
}

complete -o default -F _amudai amudai
