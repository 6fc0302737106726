// Methods that are made on first use: versions of the API that nobody calls take neither start time nor memory.
import type { Method, MethodTable } from "./method.ts";

/** Methods of one version that are made on first use. Tests make all of them. */
export interface LazyMethods {
  /** The version of the API, such as `v2`. */
  readonly version: string;
  /** The packages of the services, such as `chainguard.platform.iam.v2.`. They have no other services. */
  readonly packages: readonly string[];
  /** The prefixes of their routes, such as `/iam/v2`. Other routes may have the same prefix. */
  readonly routes: readonly string[];
  /** Makes the methods on the first call. */
  readonly methods: () => MethodTable;
}

/** Returns a table of the methods in `current` and of lazy methods. */
export function withLazyMethods(current: MethodTable, lazy: readonly LazyMethods[]): MethodTable {
  const known = new Map([...current.values()].map((method) => [method.path, method]));
  const make = (path: string): Method | undefined => {
    if (!isMethodPath(path)) return undefined;
    const maker = lazy.find(({ packages }) => packages.some((name) => isInPackage(path, name)));
    const method = maker?.methods().get(path);
    if (method) known.set(path, method);
    return method;
  };
  return {
    get: (path) => known.get(path) ?? make(path),
    *values() {
      yield* current.values();
      for (const { methods } of lazy) yield* methods().values();
    },
  };
}

/** Whether a path may be that of a method, which begins with a package: REST paths have no point in their first segment. */
export function isMethodPath(path: string): boolean {
  const point = path.indexOf(".");
  return point > 0 && point < path.indexOf("/", 1);
}

/** Whether the path names a service of this package itself: names of nested packages begin with a small letter. */
function isInPackage(path: string, name: string): boolean {
  if (!path.startsWith(name, 1)) return false;
  const initial = path.charCodeAt(1 + name.length);
  return initial >= 65 && initial <= 90;
}
