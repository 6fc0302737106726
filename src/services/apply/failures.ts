// Says which resource of a request a failure is about.
import { ApiError, fieldViolationsOf, invalidArgument } from "../../aip/errors.ts";
import { clip } from "../../base/clip.ts";
import type { Wanted } from "../kinds/kind.ts";
import { kindNamed } from "./kinds.ts";
import type { Step } from "./plan.ts";

/** The fields of methods that an apply has under another name. */
const renamed: readonly (readonly [RegExp, string])[] = [
  [/\.role_uid$/, ".role"],
  [/\.identity_uid$/, ".identity"],
  [/\.chainguard\.service_bindings/, ".service_bindings"],
];

/** The failed step. `wanted`, the place in the request, is undefined for a deletion. */
interface FailedStep extends Pick<Step, "resource" | "name"> {
  readonly wanted: Pick<Wanted, "index"> | undefined;
}

/** Returns the error of a step, with the place of its resource in the request. */
export function describeFailure(error: unknown, step: FailedStep): unknown {
  if (!(error instanceof ApiError)) return error;
  const { resource, name, wanted } = step;
  const { field } = kindNamed(resource.case);
  const at = wanted ? `resources[${wanted.index}]` : "";
  const violations = fieldViolationsOf(error);
  if (violations && wanted)
    return invalidArgument(
      violations.map(({ field: path, description }) => ({ field: pathIn(at, field, path), description })),
    );
  const what = `${field.replaceAll("_", " ")} ${JSON.stringify(clip(name))}`;
  const { code, details, reason, metadata } = error;
  const message = wanted ? `${error.message} (${at}: ${what})` : `${error.message} (delete ${what})`;
  return new ApiError(code, message, { details, reason, metadata, cause: error });
}

/** Maps a path in the request of a method to the path in the request of the apply. */
function pathIn(at: string, field: string, path: string): string {
  if (path === "parent") return `${at}.${field}.group`;
  const asked = field === "organization" ? path.replace(/^group\b/, "organization") : path;
  // Violations of the handler are relative to the resource.
  const whole = asked === field || asked.startsWith(`${field}.`) ? asked : `${field}.${asked}`;
  return renamed.reduce((text, [pattern, other]) => text.replace(pattern, other), `${at}.${whole}`);
}
