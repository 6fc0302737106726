// The subpath of a package URL. For Go and for GitHub Actions it may be a part of the name: generators of SBOMs split the path of a
// module behind its third segment, as in pkg:golang/github.com/jackc/pgx@v5.5.3#v5 for the module github.com/jackc/pgx/v5.
import type { Purl } from "../purl.ts";

/** A package URL as far as it names a place in a repository. */
type Place = Pick<Purl, "type" | "namespace" | "name" | "subpath">;

/** How many segments a repository has, by the types whose paths go on behind it. */
const repositorySegments: Readonly<Record<string, number>> = {
  golang: Number.POSITIVE_INFINITY,
  github: 2,
  githubactions: 2,
};

/**
 * Returns package URLs without subpath for the path of a package and for all paths that enclose it, under which sources may write
 * it. For pkg:golang/a.example/b#c these are a.example, a.example/b and a.example/b/c. For other types than Go and GitHub Actions
 * there are none.
 */
export function enclosingPathsOf(purl: Purl): Purl[] {
  if (!Object.hasOwn(repositorySegments, purl.type)) return [];
  const segments = segmentsOf(purl);
  const types = purl.type === "golang" ? ["golang"] : actions;
  return types.flatMap((type) =>
    segments.map((name, i) => ({ ...purl, type, namespace: segments.slice(0, i).join("/"), name, subpath: "" })),
  );
}

/** Workflows name an action by the repository that it is in. */
const actions = ["github", "githubactions"];

/** Whether two package URLs may name the same module. For types without parts of names in subpaths, always true. */
export function mayBeOneModule(said: Place, asked: Purl): boolean {
  if (!Object.hasOwn(repositorySegments, said.type)) return true;
  const modules = new Set(modulesOf(said));
  return modulesOfVersion(asked).some((path) => modules.has(path));
}

/** Whether a package is the other one, or in it. */
export function isWithin(inner: Place, outer: Place): boolean {
  return `${segmentsOf(inner).join("/")}/`.startsWith(`${segmentsOf(outer).join("/")}/`);
}

/** Returns the paths of the modules that a package URL may mean: a subpath is a part of the path, or a package within the module. */
function modulesOf(place: Place): string[] {
  const segments = segmentsOf(place);
  const named = place.namespace === "" ? 1 : place.namespace.split("/").length + 1;
  const first = Math.min(named, repositorySegments[place.type] ?? named);
  return segments.map((_, i) => segments.slice(0, i + 1).join("/")).slice(first - 1);
}

/**
 * Leaves out the modules that cannot have the version. Go modules of v2 and later end in their major version, unless the version is
 * marked as incompatible (https://go.dev/ref/mod#major-version-suffixes).
 */
function modulesOfVersion(purl: Purl): string[] {
  const all = modulesOf(purl);
  const [, major = ""] = /^v?([2-9]|[1-9][0-9]+)[.](?!.*[+]incompatible$)/.exec(purl.version) ?? [];
  const named = purl.type === "golang" && major !== "" ? all.filter((path) => path.endsWith(`/v${major}`)) : [];
  return named.length > 0 ? named : all;
}

/** In lower case, as in the keys of packages. */
function segmentsOf({ namespace, name, subpath }: Place): string[] {
  return `${namespace}/${name}/${subpath}`
    .toLowerCase()
    .split("/")
    .filter((segment) => segment !== "");
}
