// An emulator in a process of its own, whose clock moves: other tests share a process.
import { type Emulator, startEmulator } from "../../../packages/client/src/testing.ts";
import { launcher } from "../process.ts";

/** Starts an emulator from the sources. */
export function startOwnEmulator(): Promise<Emulator> {
  return startEmulator({ command: [process.execPath, launcher] });
}
