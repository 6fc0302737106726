// The rules for the accounts of an association.
import {
  type AccountAssociation,
  AccountAssociation_AmazonSchema,
  AccountAssociation_AzureSchema,
  AccountAssociation_ChainguardSchema,
  AccountAssociation_GitHubSchema,
} from "../../../../gen/chainguard/platform/iam/v2beta1/account_associations_pb.ts";
import { ServicePrincipalSchema } from "../../../../gen/chainguard/platform/iam/v2beta1/identities_pb.ts";
import type { FieldViolation } from "../../../aip/errors.ts";
import { clip } from "../../../base/clip.ts";
import { isUid } from "../../../model/uid.ts";
import type { MessageRules } from "../../../pipeline/text-rules.ts";

/** The maximum number of components, apps or services. */
const maxEntries = 100;

const prefix = "SERVICE_PRINCIPAL_";

/** The rules of single fields. */
export const accountRules: readonly MessageRules[] = [
  {
    schema: AccountAssociation_AmazonSchema,
    fields: {
      account: {
        test: (text) => /^[0-9]{12}$/.test(text),
        description: 'AWS account ID must match "^[0-9]{12}$"',
        pattern: "^[0-9]{12}$",
      },
    },
  },
  { schema: AccountAssociation_AzureSchema, fields: {}, bounds: { client_ids: { maxItems: maxEntries } } },
  { schema: AccountAssociation_ChainguardSchema, fields: {}, bounds: { service_bindings: { maxItems: maxEntries } } },
  { schema: AccountAssociation_GitHubSchema, fields: {}, bounds: { app_installations: { maxItems: maxEntries } } },
];

/** Finds the number of a service principal by a name such as `INGESTER` or `SERVICE_PRINCIPAL_INGESTER`. */
export function findServicePrincipal(name: string): number | undefined {
  const wanted = name.startsWith(prefix) ? name : prefix + name;
  const found = ServicePrincipalSchema.values.find((value) => value.name === wanted)?.number;
  return found === 0 ? undefined : found;
}

/** Checks the accounts without reading the database. Returns the violations. */
export function checkAccounts({ azure, chainguard, github }: AccountAssociation): FieldViolation[] {
  return [
    ...(azure ? checkMap("azure.client_ids", azure.clientIds, checkText) : []),
    ...(chainguard ? checkMap("chainguard.service_bindings", chainguard.serviceBindings, checkBinding) : []),
    ...(github ? checkApps(github.appInstallations) : []),
  ];
}

function checkMap(
  field: string,
  entries: Readonly<Record<string, string>>,
  check: (name: string, value: string) => string | undefined,
): FieldViolation[] {
  const pairs = Object.entries(entries);
  if (pairs.length > maxEntries) return [{ field, description: `must have at most ${maxEntries} entries` }];
  return pairs.flatMap(([name, value]) => {
    const description = check(name, value);
    return description === undefined ? [] : [{ field: `${field}[${JSON.stringify(clip(name))}]`, description }];
  });
}

function checkText(name: string, value: string): string | undefined {
  return name === "" || value === "" ? "must not be empty" : undefined;
}

function checkBinding(name: string, identityUid: string): string | undefined {
  if (findServicePrincipal(name) === undefined) return "must be the name of a service principal, such as INGESTER";
  return isUid(identityUid) ? undefined : "must be the uid of an identity";
}

type Apps = NonNullable<AccountAssociation["github"]>["appInstallations"];

function checkApps(apps: Apps): FieldViolation[] {
  const field = "github.app_installations";
  const entries = Object.entries(apps);
  const installations = entries.flatMap(([, app]) => app.installations);
  if (entries.length > maxEntries || installations.length > maxEntries)
    return [{ field, description: `must have at most ${maxEntries} apps and installations` }];
  if (installations.some(({ installationId }) => installationId === 0n))
    return [{ field, description: "installation_id is required" }];
  return [];
}
