// Warns about variables that look like settings: unlike a misspelt flag, a misspelt variable is not an error.
import { editDistance } from "../base/similar.ts";
import { settings, variableOf } from "../config/settings.ts";
import { printable } from "./escape.ts";
import { neverProposed } from "./suggestions.ts";

/** Variables that are not server settings: they name a settings file, or belong to client commands. */
const others = [
  "GATEHOUSE_CONFIG",
  "GATEHOUSE_CONTEXT",
  "GATEHOUSE_URL",
  "GATEHOUSE_TOKEN",
  "GATEHOUSE_AUDIENCE",
  "GATEHOUSE_REGISTRY_PASSWORD",
];

// Kubernetes sets these variables in each container of a namespace with a service named gatehouse or gatehouse-db
// (https://kubernetes.io/docs/concepts/containers/container-environment/#cluster-information).
const ofKubernetes = /_(SERVICE_(HOST|PORT)(_[A-Z0-9_]+)?|PORT(_\d+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?)?)$/;

/**
 * Returns a sentence for each variable that looks like a setting but is not. Its value may be a secret and is not
 * included.
 */
export function unknownVariables(environment: NodeJS.ProcessEnv): string[] {
  const known = [...settings.map(({ name }) => variableOf(name)), ...others];
  const proposed = known.filter((variable) => !neverProposed.some((name) => variable === variableOf(name)));
  return Object.keys(environment)
    .filter((name) => /^GATEHOUSE_/i.test(name) && !known.includes(name) && !ofKubernetes.test(name))
    .map((name) => `the variable ${printable(name)} is not a setting and has no effect${suggestion(name, proposed)}`);
}

function suggestion(name: string, known: readonly string[]): string {
  const [nearest] = known
    .map((candidate) => ({ candidate, distance: farness(name.toUpperCase(), candidate) }))
    .sort((a, b) => a.distance - b.distance);
  return nearest && nearest.distance <= maxDistance ? `; did you mean ${nearest.candidate}?` : "";
}

/** A larger distance means another name. */
const maxDistance = 4;

/** Whole words that are missing or appended count as one step. */
function farness(name: string, candidate: string): number {
  const isPart = candidate.startsWith(`${name}_`) || name.startsWith(`${candidate}_`);
  return isPart ? 1 : editDistance(name, candidate);
}
