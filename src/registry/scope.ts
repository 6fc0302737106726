// What a registry client asks for (Distribution token specification, "Resource Scope Grammar").
import { invalidField } from "../aip/errors.ts";

/** A resource of the registry, and the actions that a client asks for on it. */
export interface WantedAccess {
  readonly type: string;
  readonly name: string;
  readonly actions: readonly string[];
}

/** How many scopes a token may have: clients ask for one, or for two when they mount a layer. */
const maxScopes = 32;

// `type:name:actions`; the name may hold the port of a host, so that the last colon ends it.
const scopePattern = /^([a-z0-9]+)(?:\([a-z0-9]+\))?:([^\s:][^\s]{0,300}):([^\s:]*)$/;

/**
 * Parses scopes, each of which may be several separated by spaces. Two about one resource become one.
 *
 * A scope that names no resource, such as the `repository::pull` that some clients send to sign in, asks for nothing: the
 * client gets a token without that access, as for everything else that it may not do.
 */
export function parseScopes(texts: readonly string[]): WantedAccess[] {
  const scopes = texts.flatMap((text) => text.split(/\s+/)).filter((text) => text !== "");
  if (scopes.length > maxScopes) throw invalidField("scope", `must not be more than ${maxScopes}`);
  const wanted = new Map<string, WantedAccess>();
  for (const { type, name, actions } of scopes.flatMap(parseScope)) {
    const key = JSON.stringify([type, name]);
    const known = wanted.get(key)?.actions ?? [];
    wanted.set(key, { type, name, actions: [...new Set([...known, ...actions])] });
  }
  return [...wanted.values()];
}

/** None when the text names no resource. */
function parseScope(text: string): WantedAccess[] {
  const match = scopePattern.exec(text);
  if (!match) return [];
  const [, type = "", name = "", actions = ""] = match;
  return [{ type, name, actions: actions.split(",").filter((action) => action !== "") }];
}
