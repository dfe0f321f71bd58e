// SPDX-License-Identifier: Apache-2.0
// Keeps the header honest: it must compile on its own.
#include "common/wakeup.h"
