// The paths of a document.
import { isOutputOnly, isRequired } from "../aip/field-behavior.ts";
import type { Binding } from "../transport/rest/http-rule.ts";

/** A binding, and one of its paths. */
export interface Place {
  readonly binding: Binding;
  /** The path with the name of each variable in braces. */
  readonly path: string;
  /** The names of the variables in the path, in the order of the binding. */
  readonly names: readonly string[];
}

/** Orders operations that share a path: the first one names its variables. Methods of the resource come before those of its parent. */
const precedence = ["GET", "PUT", "DELETE", "PATCH", "POST"];

/**
 * Returns the paths of all bindings.
 *
 * OpenAPI 3.1 §4.8.8: paths that differ only in the names of variables are the same path. The first of its operations names the
 * variables, by the last name of the field: `uid` for `group.uid`.
 */
export function placesOf(bindings: readonly Binding[]): Place[] {
  const drafts = bindings.flatMap(draftsOf);
  const namers = new Map<string, Draft>();
  for (const draft of drafts) {
    const known = namers.get(draft.shape);
    if (!known || rank(draft) < rank(known)) namers.set(draft.shape, draft);
  }
  return drafts.map(({ binding, shape, pieces }) => {
    const names = namers.get(shape)!.names;
    return { binding, names, path: pieces.map((piece, i) => (i === 0 ? piece : `{${names[i - 1]}}${piece}`)).join("") };
  });
}

interface Draft extends Pick<Place, "binding" | "names"> {
  /** The path with `{}` for each variable. */
  readonly shape: string;
  /** The texts around the variables. */
  readonly pieces: readonly string[];
}

function rank({ binding }: Draft): number {
  return precedence.indexOf(binding.httpMethod);
}

/** Returns one draft, or two if the last variable may be empty, which OpenAPI does not allow. */
function draftsOf(binding: Binding): Draft[] {
  const { template, variables } = binding;
  const pieces = piecesOf(binding);
  const names = variables.map((path) => path.at(-1)!.jsonName);
  const draft = { binding, names, pieces, shape: pieces.join("{}") };
  const last = variables.at(-1)?.at(-1);
  const mayBeEmpty =
    last && template.segments.at(-1) === "**" && pieces.at(-1) === "" && !isRequired(last) && !isOutputOnly(last);
  if (!mayBeEmpty) return [draft];
  const shorter = [...pieces.slice(0, -2), pieces.at(-2)!.replace(/\/$/, "")];
  return [draft, { binding, names: names.slice(0, -1), pieces: shorter, shape: shorter.join("{}") }];
}

function piecesOf({ template, method }: Binding): string[] {
  const pieces: string[] = [];
  let piece = "";
  for (const [i, segment] of template.segments.entries()) {
    const variable = template.variables.find(({ start, end }) => start <= i && i < end);
    if (variable ? variable.end - variable.start > 1 : segment.startsWith("*"))
      throw new Error(`${method.path}: OpenAPI cannot say ${template.text}`);
    piece += "/";
    if (variable) {
      pieces.push(piece);
      piece = "";
    } else piece += segment;
  }
  return [...pieces, piece + (template.verb === "" ? "" : `:${template.verb}`)];
}
