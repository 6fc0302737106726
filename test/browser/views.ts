// The views of the console, by the routes in their folders: a new one is in every test of all views.
import { globSync, readFileSync } from "node:fs";

/** Returns the address of each view, without anything selected, in an organization. */
export function viewPaths(organization: string): string[] {
  return globSync("console/src/views/*/route.ts")
    .sort()
    .map((file) => {
      const source = readFileSync(file, "utf8");
      const [, path = ""] = /path: "([^"$]*)/.exec(source) ?? [];
      if (path === "") throw new Error(`${file} has no path`);
      return `/console${source.includes("=> organization") ? `/o/${organization}` : ""}${path}`;
    });
}
