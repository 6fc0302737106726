// The API: the methods of today, composed at start, and those of the other versions, made when somebody asks for one.
import type { SecurityTokenService } from "../gen/chainguard/platform/oidc/oidc_pb.ts";
import { loader, once } from "./lazy.ts";
import { type ComposeOptions, composeMethods } from "./pipeline/compose.ts";
import type { Handlers, Implementation } from "./pipeline/handlers.ts";
import { type LaterMethods, withLater } from "./pipeline/later.ts";
import type { MethodTable } from "./pipeline/method.ts";
import type { Deps } from "./resource/deps.ts";
import { exemptMethods, type ServiceDeps, services } from "./services.ts";
import * as v1 from "./v1/later.ts";
import { aliasMethods } from "./v2/alias.ts";

const load = loader(import.meta.url);

/** All methods: those of today, and how the others are made. */
export interface Api {
  readonly now: MethodTable;
  readonly later: readonly LaterMethods[];
  /** Both. */
  readonly methods: MethodTable;
}

/** Composes the methods of today. Throws when one has no rule or no handler. */
export function composeApi(
  deps: ServiceDeps,
  tokenService: Handlers<typeof SecurityTokenService>,
  options: Omit<ComposeOptions, "exempt">,
): Api {
  const pipeline = { ...options, exempt: exemptMethods };
  const current = services(deps, tokenService);
  const now = composeMethods(current, pipeline);
  const later = [
    { ...v1, methods: once(() => composeMethods(v1Services(current, deps), pipeline, current)) },
    ...aliasMethods(now),
  ];
  return { now, later, methods: withLater(now, later) };
}

function v1Services(current: readonly Implementation[], deps: Deps): readonly Implementation[] {
  const { v1Services }: typeof import("./v1/services.ts") = load("./v1/services.ts");
  return v1Services(current, deps);
}
