// Static user-space probes, for perf, bpftrace and SystemTap. docs/reference/probes.md lists them. One costs a
// no-operation while nobody looks.
#pragma once

#if __has_include(<sys/sdt.h>)
#include <sys/sdt.h>
/// `object`: the native object, or the function of a one-off. `pool`: where it runs.
#define TIDEPOOL_PROBE(name, object, pool) DTRACE_PROBE2(tidepool, name, object, pool)
#else
#define TIDEPOOL_PROBE(name, object, pool) static_cast<void>(0)
#endif
