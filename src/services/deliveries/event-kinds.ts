// The kinds of resources that events are about.
import { once } from "../../base/lazy.ts";
import type { ServiceContext } from "../../resource/service-context.ts";
import { eventDefinitions } from "../event-definitions.ts";

/** The kinds of resources that events are about, as the audit log names them. */
export interface EventKinds {
  /** All kinds, in alphabetical order. */
  readonly all: () => readonly string[];
  /** Returns the kind of a type of events; undefined for other types. */
  readonly ofType: (type: string) => string | undefined;
}

/** Returns the kinds of all events. They are computed on first use. */
export function newEventKinds(context: ServiceContext): EventKinds {
  const byType = once(() => new Map(eventDefinitions(context).map(({ type, kind }) => [type, kind])));
  const all = once(() => [...new Set(byType().values())].sort());
  return { all, ofType: (type) => byType().get(type) };
}
