# bash completion for photofinish: commands and options as 'photofinish COMMAND --help' has them.
_photofinish() {
  local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]}
  local program=${COMP_WORDS[0]} command=${COMP_WORDS[1]} help
  COMPREPLY=()
  if ((COMP_CWORD == 1)); then
    help=$("$program" --help 2>/dev/null | sed -n '/^Subcommands:/,/^$/s/^  \([a-z][a-z]*\) .*/\1/p')
    mapfile -t COMPREPLY < <(compgen -W "$help mpirun mpiexec srun --help --version" -- "$current")
    mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen -f -X '!*.pf[ts]' -- "$current"; compgen -d -- "$current")
    return
  fi
  case $previous in
    --mode) mapfile -t COMPREPLY < <(compgen -W "outcomes races all" -- "$current"); return ;;
    --baseline | --write-baseline) mapfile -t COMPREPLY < <(compgen -f -X '!*.races' -- "$current"; compgen -d -- "$current"); return ;;
    --algorithm) mapfile -t COMPREPLY < <(compgen -W "meehan netzer-miller algorithm-a algorithm-b naive" -- "$current"); return ;;
    --format) mapfile -t COMPREPLY < <(compgen -W "$("$program" plugins 2>/dev/null | sed -n 's/^    exporter \([a-z0-9_-]*\):.*/\1/p')" -- "$current"); return ;;
  esac
  if [[ $command == attach && $current != -* ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$("$program" attach 2>/dev/null | sed -n 's/^\([0-9][0-9]*\) .*/\1/p')" -- "$current")
  elif [[ $command == tutorial && COMP_CWORD -eq 2 && $current != -* ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$("$program" tutorial 2>/dev/null | sed -n 's/^\([0-9][0-9]*\) .*/\1/p')" -- "$current")
  elif [[ $current == -* ]]; then
    help=$("$program" "$command" --help 2>/dev/null | grep -oE -- '--[a-z][a-z-]*')
    mapfile -t COMPREPLY < <(compgen -W "$help" -- "$current")
  else
    mapfile -t COMPREPLY < <(compgen -f -- "$current")
  fi
}
complete -o filenames -F _photofinish photofinish
