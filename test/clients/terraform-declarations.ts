// Configurations as the acceptance checks of the Terraform provider write them.
import type { JsonObject } from "@bufbuild/protobuf";

/** A resource as a configuration declares it, and what the configuration changes to in turn. */
export interface Declaration {
  readonly rule: string;
  readonly service: string;
  /** The field of the requests that holds the resource. */
  readonly field: string;
  /** The mask that the provider always sends. */
  readonly mask: string;
  readonly states: readonly [JsonObject, ...JsonObject[]];
}

/** Returns an identity of a workload. */
export const claimMatch = (members: JsonObject): JsonObject => ({ name: "id", description: "d", claimMatch: members });
/** The issuer of its tokens. */
export const issuer = "https://issuer.example.org";
const aws = (members: JsonObject): JsonObject => ({
  name: "id",
  awsIdentity: { awsAccount: "123456789012", ...members },
});

// RFC 7517 §A.1.
const publicKey = JSON.stringify({
  kty: "EC",
  crv: "P-256",
  x: "MKBCTNIcKUSDii11ySs3526iDZ8AiTo7Tu6KPAqv7D4",
  y: "4Etl6SRW2YiLUrN5vfvVHuhp7x8PxltmWWlbbM4IFyM",
});

const identities = { service: "IdentitiesService", field: "identity", mask: "*" };
/** The declarations that the tests of the provider apply. */
export const declarations: readonly Declaration[] = [
  {
    rule: "a group is renamed, described and cleared",
    service: "GroupsService",
    field: "group",
    mask: "name,description,verified",
    states: [{ name: "group", description: "d" }, { name: "renamed", description: "e" }, { name: "renamed" }],
  },
  {
    ...identities,
    rule: "an identity goes from exact to pattern and back",
    states: [
      claimMatch({ issuer, subject: "s" }),
      claimMatch({ issuerPattern: "https://[a-z]+\\.example\\.org", subjectPattern: "s.*", audiencePattern: ".*" }),
      claimMatch({ issuer, subject: "s", audience: "a" }),
    ],
  },
  {
    ...identities,
    rule: "exact values and patterns of the same claim stand together",
    states: [
      claimMatch({ issuer, subject: "s", claims: { ref: "main", x: "y" }, claimPatterns: { ref: "ma.*" } }),
      claimMatch({ issuer, subject: "s", claimPatterns: { ref: "re.*" } }),
    ],
  },
  {
    ...identities,
    rule: "keys are echoed as they were given, whether or not they are JSON",
    states: [
      { name: "id", staticKeys: { issuer: "http://localhost", subject: "s", issuerKeys: "keys" } },
      {
        name: "id",
        staticKeys: { issuer: "http://localhost", subject: "t", issuerKeys: ` {"keys": [${publicKey}] } ` },
      },
    ],
  },
  {
    ...identities,
    rule: "an AWS principal is named by ARN and user id, exact or by pattern",
    states: [
      aws({ arn: "arn:aws:sts::123456789012:assumed-role/x/y", userId: "AROA:y" }),
      aws({ arnPattern: "arn:aws:sts::123456789012:assumed-role/x/.*", userIdPattern: "AROA:.*" }),
    ],
  },
  {
    ...identities,
    rule: "an owner makes identities of services",
    states: [
      { name: "id", servicePrincipal: "SERVICE_PRINCIPAL_INGESTER" },
      { name: "id", servicePrincipal: "SERVICE_PRINCIPAL_COSIGNED" },
    ],
  },
  {
    rule: "a role keeps the order of its capabilities",
    service: "RolesService",
    field: "role",
    mask: "*",
    states: [
      { name: "role", description: "d", capabilities: ["CAP_REPO_LIST", "CAP_IAM_GROUPS_LIST", "CAP_MANIFEST_LIST"] },
      { name: "role", capabilities: ["CAP_MANIFEST_LIST", "CAP_REPO_LIST"] },
    ],
  },
];

/** Returns an identity provider; the secret is sent with every apply and never read back. */
export const identityProvider = (defaultRole: string, changes: JsonObject = {}): JsonObject => ({
  name: "idp",
  description: "d",
  defaultRole,
  oidc: {
    issuer: "https://idp.example.org",
    clientId: "client",
    clientSecret: "secret",
    additionalScopes: ["email", "profile", "a"],
    ...changes,
  },
});
