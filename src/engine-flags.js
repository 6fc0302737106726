// The flags of V8, for both launchers: plain JavaScript, because any Node must be able to run it.
import { setFlagsFromString } from "node:v8";

const flags = [
  // Collect all garbage when the heap has doubled since the last collection, not quadrupled: HTTP/2 streams hold memory outside the heap,
  // which V8 does not count (docs/decisions/0019).
  "--heap-growing-percent=100",
  // Mark and compile in one thread each: on few cores, the four threads of V8 stop the event loop for longer than their help saves.
  "--concurrent-marking-max-worker-num=1",
  "--concurrent-turbofan-max-threads=1",
];

/** Sets the flags. Call it before any code is compiled: the compile cache depends on them. */
export function setEngineFlags() {
  for (const flag of flags) setFlagsFromString(flag);
}
