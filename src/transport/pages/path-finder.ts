/** An entry, and its path or path prefix. */
export interface FoundPath<T> {
  readonly path: string;
  readonly value: T;
}

/** Makes a lookup by path: an exact match, else a prefix that ends with a slash. The path `/` is not a prefix. */
export function newPathFinder<T>(byPath: Readonly<Record<string, T>>): (path: string) => FoundPath<T> | undefined {
  const prefixes = Object.keys(byPath).filter((each) => each.endsWith("/") && each !== "/");
  return (path) => {
    const known = Object.hasOwn(byPath, path) ? path : prefixes.find((each) => path.startsWith(each));
    return known === undefined ? undefined : { path: known, value: byPath[known]! };
  };
}
