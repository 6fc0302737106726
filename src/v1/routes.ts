/** The name of the version in routes. */
export const version = "v1";

/** The packages of version 1. Only that of vulnerabilities has a version in its name. */
export const packages = [
  "chainguard.platform.events.",
  "chainguard.platform.iam.",
  "chainguard.platform.ping.",
  "chainguard.platform.registry.",
  "chainguard.platform.vulnerabilities.v1.",
];

/** The prefixes of the routes of version 1. */
export const routes = ["/events/v1", "/iam/v1", "/ping/v1", "/registry/v1", "/vulnerabilities/v1"];
