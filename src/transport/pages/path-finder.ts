/** What has a path, and the path or the beginning of paths that it is for. */
export interface FoundPath<T> {
  readonly path: string;
  readonly value: T;
}

/** Finds what has a path: by the whole of it, else by a beginning that ends with a slash. */
export function newPathFinder<T>(byPath: Readonly<Record<string, T>>): (path: string) => FoundPath<T> | undefined {
  const prefixes = Object.keys(byPath).filter((each) => each.endsWith("/"));
  return (path) => {
    const known = Object.hasOwn(byPath, path) ? path : prefixes.find((each) => path.startsWith(each));
    return known === undefined ? undefined : { path: known, value: byPath[known]! };
  };
}
