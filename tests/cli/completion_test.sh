# The completion script is valid bash and knows commands, subcommands, options and config keys.
. "$(dirname "$0")/program.sh"

expect 0 completion zsh
printed "bashcompinit"
expect 0 completion bash
cp "$work/out" "$work/completion"
# complete_words WORDS...: what the last word may become.
complete_words() {
  bash -c 'source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _flitwise; printf "%s\n" "${COMPREPLY[@]}"' - "$work/completion" "$@"
}
complete_words flitwise sw | grep -qx sweep || complain "sw does not become sweep"
complete_words flitwise sweep me | grep -qx merge || complain "sweep me does not become merge"
complete_words flitwise compare --fa | grep -qx -- --fail-if || complain "compare --fa does not offer --fail-if"
complete_words flitwise run --se | grep -qx -- --seed || complain "run --se does not offer --seed"
complete_words flitwise run x --set device.dhi.bi | grep -qx device.dhi.bits= || complain "keys are not completed"
finish
