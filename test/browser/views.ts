// The views of the console, by the routes in their folders: a new one is in every test of all views.
import { globSync, readFileSync } from "node:fs";

/** Returns the address of each view, without anything selected, in an organization. */
export function viewPaths(organization: string): string[] {
  return routes(organization).map(({ path }) => path);
}

/** Returns the address of an object in each view that has addresses of objects. */
export function objectPaths(organization: string, uid: string): string[] {
  return routes(organization).flatMap(({ path, hasObjects }) => (hasObjects ? [path + uid] : []));
}

function routes(organization: string): { readonly path: string; readonly hasObjects: boolean }[] {
  return globSync("console/src/views/*/route.ts")
    .sort()
    .map((file) => {
      const source = readFileSync(file, "utf8");
      const [, path = "", splat = ""] = /path: "([^"$]*)(\$?)"/.exec(source) ?? [];
      if (path === "") throw new Error(`${file} has no path`);
      const base = source.includes("=> organization") ? `/o/${organization}` : "";
      return { path: `/console${base}${path}`, hasObjects: splat !== "" };
    });
}
