// The names by which resources refer to each other: paths of groups, roles and identities, and names of identity providers.
import { builtInRoles } from "../../authz/built-in-roles.ts";
import type { Yield } from "../../base/yielding.ts";
import { parentOf } from "../../model/uid.ts";
import type { StoredRows } from "./stored-rows.ts";

/** A resource that others can refer to. */
export interface Target {
  /** The path below the group of the request; empty for that group. */
  readonly path: string;
  /** Undefined until the resource is created. */
  uid: string | undefined;
}

/** A path that several stored resources of a kind have. */
export interface Ambiguous {
  readonly kind: TargetKind;
  readonly path: string;
  readonly uids: readonly string[];
}

/** The kinds of targets. */
export type TargetKind = "group" | "role" | "identity" | "identityProvider";

/** Returns the path of something in a group. */
export function joinPath(group: string, name: string): string {
  return group === "" ? name : `${group}/${name}`;
}

/** Returns the path of the parent; empty for what is directly in the group of the request. */
export function parentPath(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf("/")));
}

/** A text that is the same for the same target, before and after it is created. */
export function keyOf({ uid, path }: Target): string {
  return uid ?? `+${path}`;
}

const builtIn = new Map<string, Target>(builtInRoles.map(({ name, uid }) => [name, { path: name, uid }]));
const builtInByUid = new Map(builtInRoles.map(({ name, uid }) => [uid, name]));

/** Finds resources by their names, and the names of resources by their uids. */
export class Names {
  readonly #targets: Readonly<Record<TargetKind, Map<string, Target>>>;
  readonly #paths = new Map<string, string>();
  /** The uids of the resources with a path, if there are several. */
  readonly #ambiguous = new Map<string, Ambiguous & { readonly uids: string[] }>();
  /** The roles of the ancestors of the group of the request, by name: the nearest one. */
  readonly #outerRoles = new Map<string, Target>();

  /** Returns the names of stored resources. Calls `pause` for each of them. */
  static async of(rows: StoredRows, pause: Yield = () => undefined): Promise<Names> {
    const names = new Names(rows);
    for (const kind of ["group", "role", "identity", "identityProvider"] as const)
      for (const { uid, name } of rows[kind]) {
        names.#learn(kind, uid, name);
        const paused = pause();
        if (paused) await paused;
      }
    return names;
  }

  private constructor(rows: StoredRows) {
    const base: Target = { path: "", uid: rows.base?.uid };
    this.#targets = {
      group: new Map([["", base]]),
      role: new Map(),
      identity: new Map(),
      identityProvider: new Map(),
    };
    if (base.uid !== undefined) this.#paths.set(base.uid, "");
    for (const { uid, name } of rows.outerRoles)
      if (!this.#outerRoles.has(name)) this.#outerRoles.set(name, { path: name, uid });
  }

  /** Parents come first, since rows are in the order of uids. */
  #learn(kind: TargetKind, uid: string, name: string): void {
    const path = joinPath(this.pathOf(parentOf(uid)), name);
    this.#paths.set(uid, path);
    const first = this.#targets[kind].get(path);
    if (first === undefined) {
      this.#targets[kind].set(path, { path, uid });
      return;
    }
    const key = `${kind} ${path}`;
    const others = this.#ambiguous.get(key);
    if (others) others.uids.push(uid);
    else this.#ambiguous.set(key, { kind, path, uids: [first.uid!, uid] });
  }

  /** Returns the target of a wanted resource, which is stored or has to be created. */
  want(kind: TargetKind, path: string): Target {
    const known = this.#targets[kind].get(path);
    if (known) return known;
    const target: Target = { path, uid: undefined };
    this.#targets[kind].set(path, target);
    return target;
  }

  /** Returns the target with a path; undefined if there is none. */
  find(kind: TargetKind, path: string): Target | undefined {
    return this.#targets[kind].get(path);
  }

  /** Whether several stored resources have the path: it names none of them. */
  isAmbiguous(kind: TargetKind, path: string): boolean {
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
