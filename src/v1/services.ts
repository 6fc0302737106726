// Version 1: the methods of today in the words of the clients that came before. One line per service.
import type { Implementation } from "../pipeline/handlers.ts";
import type { Deps } from "../resource/deps.ts";
import type { V1Implementation } from "./adapter.ts";
import { advisories } from "./advisories.ts";
import { groups } from "./groups.ts";
import { createToday } from "./today.ts";

/** The services of version 1, on top of those of today. */
export function v1Services(current: readonly Implementation[], deps: Deps): V1Implementation[] {
  const today = createToday(current, deps.clock);
  return [groups(today), advisories(today, deps)];
}
