#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Networks in packets against closed forms, over seeds: ECMP, sessions and their ways, shares of hashes, queues, incast,
# losses, a way that fails; and how few sessions with weights do what many in turn do.
. "$(dirname "$0")/program.sh"
said=$(python3 "$FLITWISE_SOURCE_DIR/tests/cli/network_forms.py" "$FLITWISE" "$work" 2>&1) || complain "network_forms.py ends early"
[[ -z $said ]] || complain "$said"
finish
