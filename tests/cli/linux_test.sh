# flitwise linux: what is wrong is said before anything starts. What takes a kernel is in tests/linux.
. "$(dirname "$0")/program.sh"

refuse 2 linux --kernel "$work/none"
said 'scripts/linux builds'
refuse 2 linux --set host.memory.size=1GiB
said 'expected 32MiB to 256MiB'
refuse 2 linux --set host.requester_check=true
said 'expected false'
refuse 64 linux --patience 0
refuse 64 linux --trace nothing="$work/x"
said 'unknown kind'

finish
