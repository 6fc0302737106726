// The API: the methods of today, composed at start, and those of the other versions, made when somebody asks for one.
import type { SecurityTokenService } from "../../gen/chainguard/platform/oidc/oidc_pb.ts";
import { loader, once } from "../base/lazy.ts";
import { type ComposeOptions, composeMethods } from "../pipeline/compose.ts";
import type { Handlers, Implementation } from "../pipeline/handlers.ts";
import { isMethodPath, type LazyMethods, withLazyMethods } from "../pipeline/lazy-methods.ts";
import type { MethodTable } from "../pipeline/method.ts";
import type { EventDefinition } from "../resource/event-definition.ts";
import type { MethodEvent } from "../resource/method-event.ts";
import type { ServiceContext } from "../resource/service-context.ts";
import type { V1Implementation } from "../v1/adapter.ts";
import * as v1 from "../v1/routes.ts";
import { aliasMethods } from "../v2/alias.ts";
import { exemptMethods, type ServiceDeps, services } from "./services.ts";

const load = loader(import.meta.url);

/** All methods: those of today, and how the others are made. */
export interface Api {
  readonly now: MethodTable;
  readonly later: readonly LazyMethods[];
  /** Both. */
  readonly methods: MethodTable;
  /** The event of the method of this path, of whichever version, or of this endpoint; undefined for what causes none. */
  eventOf(path: string): EventDefinition | undefined;
}

/** Composes the methods of today. Throws when one has no rule or no handler. */
export function composeApi(
  context: ServiceDeps,
  tokenService: Handlers<typeof SecurityTokenService>,
  options: Omit<ComposeOptions, "exempt">,
): Api {
  const pipeline = { ...options, exempt: exemptMethods };
  const current = services(context, tokenService);
  const now = composeMethods(current, pipeline);
  const former = once(() => v1Services(current, context));
  const later = [{ ...v1, methods: once(() => composeMethods(former(), pipeline, current)) }, ...aliasMethods(now)];
  return { now, later, methods: withLazyMethods(now, later), eventOf: eventFinder(context, now, former) };
}

function v1Services(current: readonly Implementation[], context: ServiceContext): readonly V1Implementation[] {
  const { v1Services }: typeof import("../v1/services.ts") = load("../v1/services.ts");
  return v1Services(current, context);
}

/** Makes the definitions of today when an event is first asked for, and those of version 1 when none of today fits. */
function eventFinder(
  context: ServiceContext,
  now: MethodTable,
  former: () => readonly V1Implementation[],
): Api["eventOf"] {
  const byPath = once(() => pathsOf(eventModule().eventDefinitions(context)));
  const formerByPath = once(() => pathsOf(v1EventDefinitions(former(), eventModule().methodEvents(context))));
  return (path) => byPath().get(path) ?? (now.get(path) || !isMethodPath(path) ? undefined : formerByPath().get(path));
}

function eventModule(): typeof import("../services/event-definitions.ts") {
  return load("../services/event-definitions.ts");
}

function v1EventDefinitions(former: readonly V1Implementation[], today: readonly MethodEvent[]) {
  const module: typeof import("../v1/event-definitions.ts") = load("../v1/event-definitions.ts");
  return module.v1EventDefinitions(former, today);
}

function pathsOf(definitions: readonly EventDefinition[]): ReadonlyMap<string, EventDefinition> {
  return new Map(definitions.map((definition) => [definition.cause, definition]));
}
