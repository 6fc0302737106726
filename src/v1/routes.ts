/** The version, as routes name it. */
export const version = "v1";

/** The packages of version 1, which have no version but one. */
export const packages = [
  "chainguard.platform.events.",
  "chainguard.platform.iam.",
  "chainguard.platform.ping.",
  "chainguard.platform.registry.",
  "chainguard.platform.vulnerabilities.v1.",
];

/** What the routes of version 1 begin with. */
export const routes = ["/events/v1", "/iam/v1", "/ping/v1", "/registry/v1", "/vulnerabilities/v1"];
