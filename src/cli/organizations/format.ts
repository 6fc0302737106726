// The format of an exported organization: lines of JSON. The first line is the header, the last one the end, and each line between them
// one resource.
import type { JsonObject } from "@bufbuild/protobuf";
import {
  type OrganizationResource,
  OrganizationResourceSchema,
} from "../../../gen/gatehouse/organizations/v1/organizations_pb.ts";
import { resourceOf } from "../resources/resources.ts";

/** The version of the format. */
export const formatVersion = 1;

/** The kinds of resources, by the name of their member in a line. */
export type Kind = NonNullable<OrganizationResource["resource"]["case"]>;

/** The first line of an export. */
export interface Header {
  /** The version of the format. */
  readonly gatehouseOrganization: number;
  /** The uid of the organization. */
  readonly organization: string;
  readonly name: string;
  /** The address of the server that it was exported from. */
  readonly source: string;
  /** The start of the export, in RFC 3339. */
  readonly time: string;
}

/** The last line of an export. */
export interface End {
  readonly end: {
    /** How many resources of each kind the export has. */
    readonly counts: Readonly<Partial<Record<Kind, number>>>;
    /** Data of the organization that the export leaves out, as sentences for the user. */
    readonly leftOut: readonly string[];
  };
}

/** The data of an organization that no export contains, each with its remedy. */
export const leftOut: readonly string[] = [
  "SCIM tokens of identity providers, whose SCIM address changes: generate them again",
  "group invites, whose codes are secret: create them again",
  "people: a user is bound by uid, and is pending until they sign in with the same login provider",
  "that the organization is verified, unless you import with --accept-verified",
  "role bindings of the role operator, because an operator of one installation is not an operator of another",
  "role bindings with a term: give them again",
  "access requests, which end with the installation that decided them",
  "access reviews, whose role bindings and decisions belong to the installation",
  "rules of access requests, for which their makers vouch: create them again",
  "advisories and their records: use `gatehouse advisories export` and `import`",
  "accepted terms, which hold between one installation and its organizations: accept them again",
  "uploaded SBOMs of images, unless you export with --with-sboms; those of images without a tag",
  "images, former digests of tags, and metadata of identities",
  "who vouches for delegations: an owner confirms them with `gatehouse iam delegations confirm`",
  "refused names and seen tokens of workloads",
  "the audit log, undelivered events and sessions",
];

/** Returns the remaining step after an import without the client secret of an identity provider. */
export function missingSecretText(name: string, uid: string, isRequired = true): string {
  return `the client secret of the identity provider ${name} (${uid})${isRequired ? "" : ", if it has one"}: set it again`;
}

/** Returns a line of an export. */
export function lineOf(value: JsonObject | Header | End): string {
  return `${JSON.stringify(value)}\n`;
}

/** The words for resources without commands of their own: singular and plural. */
const parts: Readonly<Partial<Record<Kind, readonly [string, string]>>> = {
  repoReadme: ["readme", "readmes"],
  suspendedPeople: ["list of deactivated people", "lists of deactivated people"],
  identityTrust: ["pinned names of a workload", "lists of pinned names of workloads"],
  uploadedSbom: ["uploaded SBOM", "uploaded SBOMs"],
  subscriptionSettings: ["list of settings of a subscription", "lists of settings of subscriptions"],
};

/** The kinds as people read them: singular and plural. */
export const nouns: ReadonlyMap<Kind, readonly [string, string]> = new Map(
  OrganizationResourceSchema.fields.map(({ localName, message }) => {
    const kind = localName as Kind;
    const resource = resourceOf(message?.name ?? "");
    return [kind, parts[kind] ?? [resource?.noun ?? kind, resource?.view.noun ?? kind]];
  }),
);

/** Returns counts by kind as people read them. */
export function countedText(counts: Readonly<Partial<Record<Kind, number>>>): string {
  const counted = [...nouns].flatMap(([kind, [one, many]]) => {
    const count = counts[kind] ?? 0;
    return count === 0 ? [] : [`${count} ${count === 1 ? one : many}`];
  });
  return counted.length === 0 ? "nothing" : counted.join(", ");
}
