// Composes the API: v2beta1 at the start, the other versions when the first client calls them.
import type { SecurityTokenService } from "../../gen/chainguard/platform/oidc/oidc_pb.ts";
import { once } from "../base/lazy.ts";
import { type ComposeOptions, composeMethods } from "../pipeline/compose.ts";
import type { Handlers } from "../pipeline/handlers.ts";
import { isMethodPath, type LazyMethods, withLazyMethods } from "../pipeline/lazy-methods.ts";
import type { MethodTable } from "../pipeline/method.ts";
import type { EventDefinition } from "../resource/event-definition.ts";
import type { ServiceContext } from "../resource/service-context.ts";
import { eventDefinitions, methodEvents } from "../services/event-definitions.ts";
import type { V1Implementation } from "../v1/adapter.ts";
import { v1EventDefinitions } from "../v1/event-definitions.ts";
import * as v1 from "../v1/routes.ts";
import { v1Services } from "../v1/services.ts";
import { aliasMethods } from "../v2/alias.ts";
import { exemptMethods, type ServiceDeps, services } from "./services.ts";

/** All methods and their events. */
export interface Api {
  readonly now: MethodTable;
  readonly later: readonly LazyMethods[];
  /** The methods of all versions. */
  readonly methods: MethodTable;
  /** Returns the event of a method or endpoint path, in any version; undefined if it causes none. */
  eventOf(path: string): EventDefinition | undefined;
}

/** Composes the methods of v2beta1. Throws if one has no access rule or no handler. */
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

/** Loads the event definitions with the first event, and those of version 1 if no other matches. */
function eventFinder(
  context: ServiceContext,
  now: MethodTable,
  former: () => readonly V1Implementation[],
): Api["eventOf"] {
  const byPath = once(() => pathsOf(eventDefinitions(context)));
  const formerByPath = once(() => pathsOf(v1EventDefinitions(former(), methodEvents(context))));
  return (path) => byPath().get(path) ?? (now.get(path) || !isMethodPath(path) ? undefined : formerByPath().get(path));
}

function pathsOf(definitions: readonly EventDefinition[]): ReadonlyMap<string, EventDefinition> {
  return new Map(definitions.map((definition) => [definition.cause, definition]));
}
