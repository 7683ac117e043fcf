#!/usr/bin/env bash
# libfabric's fi_pingpong, which agrees by TCP over the system's network on what it does over the card's: `fi_pingpong.sh server|client PROGRAM ..`.
role=$1
program=$(dirname "$0")/$2
shift 2
set -- "$program" "$@"
if [ "$role" = server ]; then
	# It listens on the card when its client has called it: the client begins at once, and calls until it is heard.
	if [ -n "$WEFT_C_LISTENING" ]; then
		eval "exec $WEFT_C_LISTENING>&-"
		unset WEFT_C_LISTENING
	fi
	exec "$@"
fi
for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30; do
	said=$("$@" 127.0.0.1 2>&1) && { echo "$said"; exit 0; }
	case $said in
	*"failed to connect"*) sleep 0.2 ;;
	*) break ;;
	esac
done
echo "$said" >&2
exit 1
