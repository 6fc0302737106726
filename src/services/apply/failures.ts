// Says which resource of a request a failure is about.
import { ApiError, fieldViolationsOf, invalidArgument } from "../../aip/errors.ts";
import { clip } from "../../base/clip.ts";
import type { Kind, Wanted } from "../kinds/kind.ts";
import { kindNamed } from "./kinds.ts";
import type { Step } from "./plan.ts";

/** The step that failed. The place in the request is missing for a deletion. */
interface FailedStep extends Pick<Step, "resource" | "name"> {
  readonly wanted: Pick<Wanted, "index"> | undefined;
}

/** Returns the error of a step, with the place of its resource in the request. */
export function describeFailure(error: unknown, step: FailedStep): unknown {
  if (!(error instanceof ApiError)) return error;
  const { resource, name, wanted } = step;
  const kind = kindNamed(resource.case);
  const { field } = kind;
  const at = wanted ? `resources[${wanted.index}]` : "";
  const violations = fieldViolationsOf(error);
  if (violations && wanted)
    return invalidArgument(
      violations.map(({ field: path, description }) => ({ field: pathIn(at, kind, path), description })),
    );
  const what = `${field.replaceAll("_", " ")} ${JSON.stringify(clip(name))}`;
  const { code, details, reason, metadata } = error;
  const message = wanted ? `${error.message} (${at}: ${what})` : `${error.message} (delete ${what})`;
  return new ApiError(code, message, { details, reason, metadata, cause: error });
}

/** Maps a path in the request of a method to the path in the request of the apply. */
function pathIn(at: string, { field, file }: Pick<Kind, "field" | "file">, path: string): string {
  if (path === "parent") return `${at}.${field}.group`;
  const asked = field === "organization" ? path.replace(/^group\b/, "organization") : path;
  // Violations of the handler are relative to the resource.
  const own = asked.startsWith(`${field}.`) ? asked.slice(field.length + 1) : asked;
  if (own === field) return `${at}.${field}`;
  const [from, to] = Object.entries(file.errorFields ?? {}).find(([name]) => isAtOrIn(own, name)) ?? ["", ""];
  return `${at}.${field}.${to}${own.slice(from.length)}`;
}

/** Whether a path is that of a field, or of something in it. */
function isAtOrIn(path: string, field: string): boolean {
  return path.startsWith(field) && /^$|^[.[]/.test(path.slice(field.length));
}
