/**
 * One script per shell that asks `croft __complete` for the candidates of the next word. `:files` in the answer means
 * file names, which the shell completes itself.
 */
export const shellScripts = {
  // Bash breaks words at a colon, and replaces only what is behind it.
  bash: `_croft() {
  local line=\${COMP_LINE:0:COMP_POINT} words=() found=() one current prefix
  read -ra words <<<"$line"
  [[ $line == *[[:space:]] ]] && words+=("")
  current=\${words[-1]}
  prefix=
  [[ $current == *:* ]] && prefix=\${current%"\${current##*:}"}
  mapfile -t found < <("\${words[0]}" __complete -- "\${words[@]:1}" 2>/dev/null)
  COMPREPLY=()
  for one in "\${found[@]}"; do
    if [[ $one == :files ]]; then
      compopt -o default
    else
      [[ $one == *[:/] ]] && compopt -o nospace
      COMPREPLY+=("$(printf %q "\${one#"$prefix"}")")
    fi
  done
}
complete -F _croft croft
`,
  zsh: `#compdef croft
_croft() {
  local -a found open
  found=("\${(@f)$("\${words[1]}" __complete -- "\${(@)words[2,CURRENT]}" 2>/dev/null)}")
  found=("\${(@)found:#}")
  if (( \${found[(Ie):files]} )); then
    _files
    return
  fi
  open=("\${(@M)found:#*[:/]}")
  found=("\${(@)found:#*[:/]}")
  (( $#open )) && compadd -S '' -- "\${open[@]}"
  (( $#found )) && compadd -- "\${found[@]}"
}
(( $+functions[compdef] )) || { autoload -Uz compinit && compinit }
compdef _croft croft
`,
  fish: `function __croft_complete
  set -l words (commandline -opc) (commandline -ct)
  for one in (command $words[1] __complete -- $words[2..-1] 2>/dev/null)
    if test "$one" = ":files"
      __fish_complete_path (commandline -ct)
    else
      echo $one
    end
  end
end
complete -c croft -f -a '(__croft_complete)'
`,
} as const;
