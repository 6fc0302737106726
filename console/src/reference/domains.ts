// The services by what they are about.
import type { Grpc, Service } from "./documents.ts";

/** The domains in their order, with the parts of package names that belong to them. */
const domains = {
  iam: ["iam"],
  access: ["access", "search"],
  registry: ["registry"],
  vulnerabilities: ["vulnerabilities"],
  events: ["events"],
  changes: ["changes"],
  organizations: ["organizations", "apply"],
  auth: ["oidc", "auth"],
  operate: ["operate", "ping"],
} as const;

/** A part of the API: its text is `reference.domain.NAME`. */
export type Domain = keyof typeof domains;

/** A service with its full name. */
export type NamedService = readonly [name: string, service: Service];

/** Returns the services of documents by domain: the published ones first, then those that only Gatehouse has, each by name. */
export function servicesByDomain(
  grpc: Grpc,
  documents: readonly string[],
): ReadonlyMap<Domain, readonly NamedService[]> {
  const services = Object.entries(grpc.services)
    .filter(([, { document }]) => documents.includes(document))
    .sort(([a], [b]) => Number(isOwn(a)) - Number(isOwn(b)) || (shortName(a) < shortName(b) ? -1 : 1));
  const names = Object.keys(domains) as Domain[];
  const all = names.map((domain) => [domain, services.filter(([name]) => domainOf(name) === domain)] as const);
  return new Map(all.filter(([, found]) => found.length > 0));
}

/** Returns the domain of a service. One of a package that no domain names is where operators look. */
export function domainOf(name: string): Domain {
  const parts = name.split(".");
  const part = name.startsWith("chainguard.platform.") ? parts[2] : parts[1];
  const found = Object.entries(domains).find(([, packages]) => (packages as readonly string[]).includes(part ?? ""));
  return (found?.[0] ?? "operate") as Domain;
}

/** Whether a service is not in the published contract. */
function isOwn(name: string): boolean {
  return name.startsWith("gatehouse.");
}

/** Returns the name of a service without its package. */
export function shortName(name: string): string {
  return name.split(".").at(-1)!;
}
