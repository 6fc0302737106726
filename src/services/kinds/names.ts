// The names by which resources refer to each other: paths of groups, roles and identities, and names of identity providers.
import { builtInRoles } from "../../authz/built-in-roles.ts";
import type { Yield } from "../../base/yielding.ts";
import { parentOf } from "../../model/uid.ts";
import type { KindName, StoredRows, Uids } from "./spec.ts";

/** A resource that others can refer to. */
export interface Target {
  /** The path below the group of the request; empty for that group. */
  readonly path: string;
  /** Undefined until the resource is created. */
  uid: string | undefined;
}

/** A path that several stored resources of a kind have. */
export interface Ambiguous {
  readonly kind: KindName;
  readonly path: string;
  readonly uids: readonly string[];
}

/** Returns the path of something in a group. */
export function joinPath(group: string, name: string): string {
  return group === "" ? name : `${group}/${name}`;
}

/** Returns the path of the parent; empty for what is directly in the group of the request. */
export function parentPath(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf("/")));
}

/** Returns the words for a place in a group, for names of what has none; empty for the group of the request. */
export function atGroup(group: string): string {
  return group === "" ? "" : ` at ${group}`;
}

/** Returns a text that is the same for the same target, before and after it is created. */
export function keyOf({ uid, path }: Target): string {
  return uid ?? `+${path}`;
}

/** A row of a kind that others refer to. */
type NamedRow = { readonly uid: string; readonly name: string };

const builtIn = new Map<string, Target>(builtInRoles.map(({ name, uid }) => [name, { path: name, uid }]));
const builtInByUid = new Map(builtInRoles.map(({ name, uid }) => [uid, name]));

/** Returns the uids of a file whose references are checked later. */
const someUid = () => "0".repeat(40);
export const anyUids: Uids = { group: someUid, role: someUid, identity: someUid, identityProvider: someUid };

/** Finds resources by their names, and the names of resources by their uids. */
export class Names {
  readonly #targets = new Map<KindName, Map<string, Target>>();
  readonly #paths = new Map<string, string>();
  /** The uids of the resources with a path, if there are several. */
  readonly #ambiguous = new Map<string, Ambiguous & { readonly uids: string[] }>();
  /** The roles of the ancestors of the group of the request, by name: the nearest one. */
  readonly #outerRoles = new Map<string, Target>();

  /** Returns the names of the stored resources of these kinds. Calls `pause` for each of them. */
  static async of(rows: StoredRows, kinds: readonly KindName[], pause: Yield = () => undefined): Promise<Names> {
    const names = new Names(rows);
    for (const kind of kinds)
      for (const { uid, name } of (rows.byKind.get(kind) ?? []) as readonly NamedRow[]) {
        names.#learn(kind, uid, name);
        const paused = pause();
        if (paused) await paused;
      }
    return names;
  }

  private constructor(rows: StoredRows) {
    const base: Target = { path: "", uid: rows.base?.uid };
    this.#targets.set("group", new Map([["", base]]));
    if (base.uid !== undefined) this.#paths.set(base.uid, "");
    for (const { uid, name } of rows.outerRoles)
      if (!this.#outerRoles.has(name)) this.#outerRoles.set(name, { path: name, uid });
  }

  /** Parents come first, since rows are in the order of uids. */
  #learn(kind: KindName, uid: string, name: string): void {
    const path = joinPath(this.pathOf(parentOf(uid)), name);
    this.#paths.set(uid, path);
    const targets = this.#targetsOf(kind);
    const first = targets.get(path);
    if (first === undefined) {
      targets.set(path, { path, uid });
      return;
    }
    const key = `${kind} ${path}`;
    const others = this.#ambiguous.get(key);
    if (others) others.uids.push(uid);
    else this.#ambiguous.set(key, { kind, path, uids: [first.uid!, uid] });
  }

  #targetsOf(kind: KindName): Map<string, Target> {
    const known = this.#targets.get(kind) ?? new Map<string, Target>();
    this.#targets.set(kind, known);
    return known;
  }

  /** Returns the target of a wanted resource, which is stored or has to be created. */
  want(kind: KindName, path: string): Target {
    const targets = this.#targetsOf(kind);
    const known = targets.get(path);
    if (known) return known;
    const target: Target = { path, uid: undefined };
    targets.set(path, target);
    return target;
  }

  /** Returns the target with a path; undefined if there is none. */
  find(kind: KindName, path: string): Target | undefined {
    return this.#targets.get(kind)?.get(path);
  }

  /** Whether several stored resources have the path: it names none of them. */
  isAmbiguous(kind: KindName, path: string): boolean {
    return this.#ambiguous.has(`${kind} ${path}`);
  }

  /** Returns the paths that several stored resources of a kind have; none below a group whose own path is one of them. */
  ambiguous(): readonly Ambiguous[] {
    return [...this.#ambiguous.values()].filter(({ path }) => {
      for (let at = parentPath(path); at !== ""; at = parentPath(at)) if (this.isAmbiguous("group", at)) return false;
      return true;
    });
  }

  /** Returns the path of a stored resource of the group. */
  pathOf(uid: string): string {
    const path = this.#paths.get(uid);
    if (path === undefined) throw new Error(`${uid} has no path`);
    return path;
  }

  /** Returns the path of a stored resource; undefined for one outside of the group. */
  findPath(uid: string): string | undefined {
    return this.#paths.get(uid);
  }

  /** Returns the uids of targets. Each throws if the target is not created yet. */
  uids(): Uids {
    const known = (target: Target | undefined, what: string) => {
      if (target?.uid === undefined) throw new Error(`${what} is not created yet`);
      return target.uid;
    };
    return {
      group: (path) => known(this.find("group", path), path),
      role: (group, reference) => known(this.findRole(group, reference), reference),
      identity: (path) => known(this.find("identity", path), path),
      identityProvider: (name) => known(this.find("identityProvider", name), name),
    };
  }

  /** Returns the role that a reference of a resource in a group means; undefined if there is none. */
  findRole(group: string, reference: string): Target | undefined {
    if (reference.includes("/")) return this.find("role", reference.replace(/^\//, ""));
    const known = builtIn.get(reference);
    if (known) return known;
    for (let at = group; ; at = parentPath(at)) {
      const found = this.find("role", joinPath(at, reference));
      if (found || at === "") return found ?? this.#outerRoles.get(reference);
    }
  }

  /** Returns a text that is the same for the same role. A stored role that the caller may not list has no name: its reference is its uid. */
  roleKey(group: string, reference: string): string {
    const role = this.findRole(group, reference);
    return role ? keyOf(role) : reference;
  }

  /** Returns the shortest reference to a stored role from a group; its uid if it cannot be named. */
  roleReference(group: string, uid: string): string {
    const named = builtInByUid.get(uid);
    if (named !== undefined) return named;
    const path = this.findPath(uid);
    const name = path === undefined ? this.#outerName(uid) : path.slice(path.lastIndexOf("/") + 1);
    if (name !== undefined && this.findRole(group, name)?.uid === uid) return name;
    return path === undefined ? uid : `/${path}`;
  }

  #outerName(uid: string): string | undefined {
    for (const [name, target] of this.#outerRoles) if (target.uid === uid) return name;
    return undefined;
  }
}
