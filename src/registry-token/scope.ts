// Parses the scopes of registry clients (Distribution token specification, "Resource Scope Grammar").
import { invalidField } from "../aip/errors.ts";

/** A resource of the registry, and the requested actions. */
export interface WantedAccess {
  readonly type: string;
  readonly name: string;
  readonly actions: readonly string[];
}

/** The maximum number of scopes: clients request one, or two to mount a layer. */
const maxScopes = 32;

/** The scope that zot requires for its catalog and for searches: it names no repository. Some clients also send it to sign in. */
export const allRepositoriesScope = "repository::pull";

// `type:name:actions`. The name may contain the port of a host, so the last colon ends it.
const scopePattern = /^([a-z0-9]+)(?:\([a-z0-9]+\))?:([^\s:][^\s]{0,300}):([^\s:]*)$/;

/**
 * Parses scopes; each text may contain several, separated by spaces. Scopes on the same resource are merged.
 *
 * A text that does not have the form of a scope, such as `registry::*`, requests nothing: the client gets a token without that access.
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

/** Returns nothing if the text names no resource. */
function parseScope(text: string): WantedAccess[] {
  if (text === allRepositoriesScope) return [{ type: "repository", name: "", actions: ["pull"] }];
  const match = scopePattern.exec(text);
  if (!match) return [];
  const [, type = "", name = "", actions = ""] = match;
  return [{ type, name, actions: actions.split(",").filter((action) => action !== "") }];
}
