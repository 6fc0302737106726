import { Code } from "../../aip/errors.ts";
import { HttpError } from "../http/http-error.ts";
import { type Binding, formatBinding } from "./http-rule.ts";
import type { PathTemplate } from "./path-template.ts";
import { parseRawPath, type RequestPath } from "./request-path.ts";

/** The binding of a request, and its variables in the order of the template. */
export interface RouteMatch {
  readonly binding: Binding;
  readonly values: readonly string[];
  /** Whether the path ends with a slash, so the value of the last variable is empty. */
  readonly endsWithSlash?: boolean;
}

/** Finds the binding of a request. */
export interface Routes {
  /**
   * Matches an HTTP method and a raw path without query: literals beat `*`, which beats `**`. HEAD matches what GET does.
   *
   * Throws 404 for an unknown path, 405 with `Allow` if only other methods match the path, and INVALID_ARGUMENT for a malformed
   * path.
   */
  find(httpMethod: string, rawPath: string): RouteMatch;
  /** Whether `find` would return a match. Never throws. */
  has(httpMethod: string, rawPath: string): boolean;
}

/**
 * A node of the trie. Below `rest`, the node of `**`, the segments that follow `**` are in reverse order: they are matched from the end of
 * the path.
 */
interface Node {
  /** Adds the lazy bindings below this node. */
  lazy: (() => void) | undefined;
  readonly literals: Map<string, Node>;
  single: Node | undefined;
  rest: Node | undefined;
  /** Verb -> HTTP method -> binding. */
  readonly bindings: Map<string, Map<string, Binding>>;
}

interface Search {
  readonly httpMethod: string;
  readonly verb: string;
  readonly segments: readonly string[];
  readonly trailingSlash: boolean;
  /** Collects the HTTP methods that would match. */
  readonly allowed: Set<string> | undefined;
}

/** Bindings that are made with the first request for one of their prefixes. */
export interface LazyBindings {
  /** The prefixes of their templates, such as `/iam/v2`. */
  readonly prefixes: readonly string[];
  readonly bindings: () => Iterable<Binding>;
}

/** Builds the trie. Throws an Error that names both bindings if two are ambiguous. */
export function newRoutes(bindings: Iterable<Binding>, lazy: readonly LazyBindings[] = []): Routes {
  const root = newNode();
  for (const binding of bindings) insert(root, binding);
  for (const each of lazy) insertLazy(root, each);
  return {
    find(httpMethod, rawPath) {
      const path = parseRawPath(rawPath);
      const match = lookUp(root, servedAs(httpMethod), path);
      if (match) return match;
      const allowed = new Set<string>();
      lookUp(root, httpMethod, path, allowed);
      if (allowed.has("GET")) allowed.add("HEAD");
      throw allowed.size === 0 ? notFound(root, rawPath) : methodNotAllowed(allowed);
    },
    has(httpMethod, rawPath) {
      try {
        return lookUp(root, servedAs(httpMethod), parseRawPath(rawPath)) !== undefined;
      } catch {
        return false;
      }
    },
  };
}

/** Returns a 404. It names a final slash if there is a method without it. */
function notFound(root: Node, rawPath: string): HttpError {
  const allowed = new Set<string>();
  if (/[^/]\/$/.test(rawPath)) lookUp(root, "", parseRawPath(rawPath.slice(0, -1)), allowed);
  const message = allowed.size === 0 ? "Not Found" : "Not Found: the path must not end with a slash";
  return new HttpError(404, Code.NOT_FOUND, message);
}

/** RFC 9110 §9.1: servers support HEAD, which is GET without the content (§9.3.2). */
function servedAs(httpMethod: string): string {
  return httpMethod === "HEAD" ? "GET" : httpMethod;
}

function insert(root: Node, binding: Binding): void {
  const { segments, verb } = binding.template;
  const rest = segments.indexOf("**");
  let node = root;
  for (const segment of rest < 0 ? segments : segments.slice(0, rest + 1)) node = childFor(node, segment);
  if (rest >= 0) for (const segment of segments.slice(rest + 1).reverse()) node = childFor(node, segment);
  const byMethod = node.bindings.get(verb) ?? new Map<string, Binding>();
  const other = byMethod.get(binding.httpMethod);
  if (other) throw new Error(`conflicting routes: ${formatBinding(other)}, and ${formatBinding(binding)}`);
  node.bindings.set(verb, byMethod.set(binding.httpMethod, binding));
}

function insertLazy(root: Node, { prefixes, bindings }: LazyBindings): void {
  const nodes = prefixes.map((prefix) => prefix.slice(1).split("/").reduce(childFor, root));
  const make = () => {
    const made = [...bindings()];
    for (const node of nodes) node.lazy = undefined;
    for (const binding of made) insert(root, binding);
  };
  for (const node of nodes) node.lazy = make;
}

function childFor(node: Node, segment: string): Node {
  if (segment === "*") {
    node.single ??= newNode();
    return node.single;
  }
  if (segment === "**") {
    node.rest ??= newNode();
    return node.rest;
  }
  const child = node.literals.get(segment) ?? newNode();
  node.literals.set(segment, child);
  return child;
}

/** Adds to `allowed` every HTTP method that matches the path. */
function lookUp(
  root: Node,
  httpMethod: string,
  path: RequestPath | undefined,
  allowed?: Set<string>,
): RouteMatch | undefined {
  if (!path) return undefined;
  const asVerb = path.verb && search(root, httpMethod, path.verb.segments, path.verb.name, allowed);
  return asVerb ?? search(root, httpMethod, path.segments, "", allowed);
}

function search(
  root: Node,
  httpMethod: string,
  path: readonly string[],
  verb: string,
  allowed: Set<string> | undefined,
): RouteMatch | undefined {
  const trailingSlash = path.at(-1) === "";
  const segments = trailingSlash ? path.slice(0, -1) : path;
  const binding = descend(root, { httpMethod, verb, segments, trailingSlash, allowed }, 0);
  const values = binding && variableValues(binding.template, segments);
  return values && { binding, values, ...(trailingSlash && { endsWithSlash: true }) };
}

function descend(node: Node, search: Search, from: number): Binding | undefined {
  node.lazy?.();
  const segment = search.segments[from];
  const literal = segment === undefined ? undefined : node.literals.get(segment);
  return (
    (segment === undefined ? pick(node, search, !search.trailingSlash) : undefined) ??
    (literal && descend(literal, search, from + 1)) ??
    (segment !== undefined && node.single ? descend(node.single, search, from + 1) : undefined) ??
    (node.rest && ascend(node.rest, search, from, search.segments.length))
  );
}

function ascend(node: Node, search: Search, from: number, to: number): Binding | undefined {
  const segment = to > from ? search.segments[to - 1] : undefined;
  const literal = segment === undefined ? undefined : node.literals.get(segment);
  // A trailing slash is an empty value: it only matches a `**` at the end of the template that matches nothing else.
  const fits = !search.trailingSlash || from === search.segments.length;
  return (
    (literal && ascend(literal, search, from, to - 1)) ??
    (segment !== undefined && node.single ? ascend(node.single, search, from, to - 1) : undefined) ??
    pick(node, search, fits)
  );
}

function pick(node: Node, search: Search, fits: boolean): Binding | undefined {
  const byMethod = fits ? node.bindings.get(search.verb) : undefined;
  if (!byMethod) return undefined;
  if (search.allowed) for (const httpMethod of byMethod.keys()) search.allowed.add(httpMethod);
  return byMethod.get(search.httpMethod);
}

function variableValues(template: PathTemplate, segments: readonly string[]): string[] {
  const rest = template.segments.indexOf("**");
  const stretch = segments.length - template.segments.length;
  const place = (index: number) => (rest >= 0 && index > rest ? index + stretch : index);
  return template.variables.map((variable) => segments.slice(place(variable.start), place(variable.end)).join("/"));
}

/** Returns a 405 with the allowed methods. */
export function methodNotAllowed(allowed: Iterable<string>): HttpError {
  const headers = { allow: [...allowed].sort().join(", ") };
  return new HttpError(405, Code.UNIMPLEMENTED, "Method Not Allowed", { headers });
}

function newNode(): Node {
  return { lazy: undefined, literals: new Map(), single: undefined, rest: undefined, bindings: new Map() };
}
