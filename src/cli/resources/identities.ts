// Identities: builds their relationship from flags.
import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import { isJsonObject } from "../../base/json.ts";
import { wrongUsage } from "../failure.ts";
import { created, description, name, uid } from "./columns.ts";
import { describing, named, renaming } from "./common-flags.ts";
import { constant, endOf, fileOrKeys, list, pairs } from "./flags.ts";
import { jobFlagNames, jobFlags, jobRuleOf } from "./job-rule.ts";
import { keysUntil } from "./keys-until.ts";
import { checkNeeds } from "./relationship-needs.ts";
import type { Options, Resource } from "./resource.ts";
import { roles } from "./roles.ts";

const servicePrincipals = [
  "COSIGNED",
  "INGESTER",
  "CATALOG_SYNCER",
  "APKO_BUILDER",
  "ENTITLEMENT_SYNCER",
  "TENANT_SCANNER",
  "SEDIMENTOLOGY",
  "SKILLUP",
  "MATERIALIZER",
  "MICROFLOW",
  "GUARDENER",
  "MICROVM",
  "SKILLS",
];

/** Flags that static keys do not accept. */
const onlyOfClaimMatch = ["identityIssuerPattern", "subjectPattern", "audiencePattern", "claim", "claimPattern"];

export const identities: Resource = {
  path: "iam identities",
  noun: "identity",
  type: "Identity",
  service: async () =>
    (await import("../../../gen/chainguard/platform/iam/v2beta1/identities_pb.ts")).IdentitiesService,
  verbs: ["list", "describe", "create", "update", "delete"],
  view: {
    noun: "identities",
    columns: [
      name,
      uid,
      { title: "type", value: typeOf },
      { title: "issuer", value: (row) => partOf(row, "issuer"), inDetails: false },
      { title: "subject", value: (row) => partOf(row, "subject"), inDetails: false },
      { title: "keys until", value: keysUntil, wide: true },
      { title: "last seen", value: "lastSeenTime", wide: true },
      { ...description, wide: true },
      created,
    ],
  },
  argument: { name: "name", field: "name" },
  parent: "group",
  fields: [describing, renaming],
  filters: [
    named,
    {
      flags: "--type <type>",
      description: "only those of this type",
      choices: ["aws", "claim_match", "static", "service_principal"],
      field: "relationshipType",
      read: constant("RELATIONSHIP_TYPE_", { aws: "AWS_IDENTITY" }),
    },
  ],
  completing: [
    ...jobFlags,
    {
      flags: "--identity-issuer <url>",
      description: "issuer of the tokens that may assume the identity",
      conflicts: ["identityIssuerPattern"],
    },
    { flags: "--identity-issuer-pattern <pattern>", description: "the same, as an RE2 pattern for the whole value" },
    { flags: "--subject <subject>", description: "subject of those tokens", conflicts: ["subjectPattern"] },
    { flags: "--subject-pattern <pattern>", description: "the same, as a pattern" },
    {
      flags: "--audience-claim <audience>",
      description: "audience of those tokens; by default this server",
      conflicts: ["audiencePattern"],
    },
    { flags: "--audience-pattern <pattern>", description: "the same, as a pattern" },
    { flags: "--claim <name=value...>", description: "additional claim that those tokens must have" },
    { flags: "--claim-pattern <name=pattern...>", description: "the same, as a pattern" },
    {
      flags: "--issuer-keys <file|jwks>",
      description: "static keys that verify those tokens, for an issuer that the server does not contact",
      conflicts: onlyOfClaimMatch,
    },
    {
      flags: "--expiration <time>",
      description: "lifetime of the keys, such as 720h; by default 365 days",
      conflicts: onlyOfClaimMatch,
    },
    { flags: "--aws-account <number>", description: "account of an AWS identity" },
    { flags: "--aws-arn <arn>", description: "ARN of an AWS identity", conflicts: ["awsArnPattern"] },
    { flags: "--aws-arn-pattern <pattern>", description: "the same, as a pattern" },
    { flags: "--aws-user-id <id>", description: "user id of an AWS identity", conflicts: ["awsUserIdPattern"] },
    { flags: "--aws-user-id-pattern <pattern>", description: "the same, as a pattern" },
    {
      flags: "--service-principal <name>",
      description: "service that the identity represents",
      choices: servicePrincipals,
    },
    {
      flags: "--role <names>",
      description: "roles to bind to it, by name or uid",
      only: "create",
      refersTo: () => roles,
    },
  ],
  complete: withRelationship,
  checkCreate: checkRelationship,
  prepareCreate: async (options, session) => (await import("./bind-roles.ts")).prepareRoleBindings(options, session),
};

/** The relationship members of an identity; a file may also use the proto names. */
const relationship = /^(claim_?match|static_?keys|aws_?identity|service_?principal)$/i;

function checkRelationship(body: JsonObject): void {
  if (Object.keys(body).some((member) => relationship.test(member))) return;
  throw wrongUsage(
    "the identity needs to know who may assume it",
    "Say so with --github or --gitlab; with --identity-issuer and --subject, or patterns of them; with --issuer-keys and\n--expiration besides; with --aws-account, --aws-arn and --aws-user-id; or with --service-principal.",
  );
}

/** Applies the flags of a relationship. */
async function withRelationship(body: JsonObject, options: Options): Promise<JsonObject> {
  const given = await relationshipOf(body, options);
  if (!given) return body;
  const [kind, changes] = given;
  const { claimMatch, staticKeys, awsIdentity, servicePrincipal, ...rest } = body;
  const before = { claimMatch, staticKeys, awsIdentity }[kind as "claimMatch"];
  if (typeof changes === "string") return { ...rest, [kind]: changes };
  const merged = merge(before, changes);
  checkNeeds(kind, merged);
  return { ...rest, [kind]: merged };
}

async function relationshipOf(
  body: JsonObject,
  options: Options,
): Promise<[kind: string, members: JsonObject | string] | undefined> {
  const found = [
    has(options, "servicePrincipal") && "servicePrincipal",
    has(options, "awsAccount", "awsArn", "awsArnPattern", "awsUserId", "awsUserIdPattern") && "awsIdentity",
    has(options, "issuerKeys", "expiration") && "staticKeys",
    has(options, ...matchFlags) &&
      !has(options, "issuerKeys", "expiration") &&
      (body.staticKeys ? "staticKeys" : "claimMatch"),
  ].filter((kind) => kind !== false);
  if (found.length > 1) throw wrongUsage(`flags of ${found.join(" and ")} exclude each other`);
  const [kind] = found;
  return kind === undefined ? undefined : [kind, await membersOf[kind]!(options)];
}

const matchFlags = [
  ...jobFlagNames,
  "identityIssuer",
  "identityIssuerPattern",
  "subject",
  "subjectPattern",
  "audienceClaim",
  "audiencePattern",
  "claim",
  "claimPattern",
];

const membersOf: Readonly<Record<string, (options: Options) => JsonObject | string | Promise<JsonObject>>> = {
  claimMatch: async (options) => {
    const { claims, ...job } = (await jobRuleOf(options)) ?? {};
    return present({
      issuer: options.identityIssuer,
      issuerPattern: options.identityIssuerPattern,
      subject: options.subject,
      subjectPattern: options.subjectPattern,
      audience: options.audienceClaim,
      audiencePattern: options.audiencePattern,
      claims: (claims || options.claim) && { ...claims, ...(options.claim && pairs(options.claim)) },
      claimPatterns: options.claimPattern && pairs(options.claimPattern),
      ...job,
    });
  },
  staticKeys: (options) =>
    present({
      issuer: options.identityIssuer,
      subject: options.subject,
      issuerKeys: options.issuerKeys && fileOrKeys("--issuer-keys")(options.issuerKeys),
      expirationTime: options.expiration && endOf(options.expiration),
      audiences: options.audienceClaim && list(options.audienceClaim),
    }),
  awsIdentity: (options) =>
    present({
      awsAccount: options.awsAccount,
      arn: options.awsArn,
      arnPattern: options.awsArnPattern,
      userId: options.awsUserId,
      userIdPattern: options.awsUserIdPattern,
    }),
  servicePrincipal: (options) => constant("SERVICE_PRINCIPAL_")(options.servicePrincipal!),
};

/** Members that exclude each other: a new value replaces the value of the alternative. */
const alternatives: Readonly<Record<string, string>> = Object.fromEntries(
  ["issuer", "subject", "audience", "arn", "userId"].flatMap((member) => [
    [member, `${member}Pattern`],
    [`${member}Pattern`, member],
  ]),
);

function merge(before: JsonValue | undefined, changes: JsonObject): JsonObject {
  const merged = isJsonObject(before) ? { ...before } : {};
  for (const member of Object.keys(changes)) delete merged[alternatives[member] ?? ""];
  return { ...merged, ...changes };
}

function present(members: Readonly<Record<string, JsonValue | readonly string[] | undefined>>): JsonObject {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as JsonObject;
}

function has(options: Options, ...names: string[]): boolean {
  return names.some((name) => options[name] !== undefined);
}

function typeOf(row: JsonObject): string {
  if (row.claimMatch) return "claim_match";
  if (row.staticKeys) return "static";
  if (row.awsIdentity) return "aws";
  return row.servicePrincipal ? "service_principal" : "";
}

function partOf(row: JsonObject, member: "issuer" | "subject"): string {
  const match = (row.claimMatch ?? row.staticKeys ?? {}) as JsonObject;
  const aws = (row.awsIdentity ?? {}) as JsonObject;
  if (row.awsIdentity) return String(member === "issuer" ? (aws.awsAccount ?? "") : (aws.arn ?? aws.arnPattern ?? ""));
  return String(match[member] ?? match[`${member}Pattern`] ?? "");
}
