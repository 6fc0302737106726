// Methods that are made when one of them is first asked for: whoever never speaks a version of the API does not wait for it
// at every start, nor keep it in memory.
import type { Method, MethodTable } from "./method.ts";

/** Methods to be made later. That each can be made is for the tests to show, which make all of them. */
export interface LaterMethods {
  /** The version of the API that they belong to: `v2`. */
  readonly version: string;
  /** The packages of their services, which have no others: `chainguard.platform.iam.v2.`. */
  readonly packages: readonly string[];
  /** What the paths of their routes begin with: `/iam/v2`. Others' may begin so, too. */
  readonly routes: readonly string[];
  /** Makes them, at the first call. */
  readonly methods: () => MethodTable;
}

/** A table of the methods that are there, and of those that are made when they are asked for. */
export function withLater(now: MethodTable, later: readonly LaterMethods[]): MethodTable {
  const known = new Map([...now.values()].map((method) => [method.path, method]));
  const make = (path: string): Method | undefined => {
    if (!isMethodPath(path)) return undefined;
    const maker = later.find(({ packages }) => packages.some((name) => belongsTo(path, name)));
    const method = maker?.methods().get(path);
    if (method) known.set(path, method);
    return method;
  };
  return {
    get: (path) => known.get(path) ?? make(path),
    *values() {
      yield* now.values();
      for (const { methods } of later) yield* methods().values();
    },
  };
}

/** Whether the path can be that of a method, which begins with a package; those of REST have no point that early. */
export function isMethodPath(path: string): boolean {
  const point = path.indexOf(".");
  return point > 0 && point < path.indexOf("/", 1);
}

/** Whether the path is that of a service right in the package; a package inside it begins with a small letter. */
function belongsTo(path: string, name: string): boolean {
  if (!path.startsWith(name, 1)) return false;
  const initial = path.charCodeAt(1 + name.length);
  return initial >= 65 && initial <= 90;
}
