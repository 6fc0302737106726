// Account associations: at most one per group, with the uid of the group.
import type { JsonObject } from "@bufbuild/protobuf";
import { created, description, name, uid, updated } from "./columns.ts";
import { describing, named, renaming } from "./common-flags.ts";
import { pairs } from "./flags.ts";
import { groups } from "./groups.ts";
import type { Resource } from "./resource.ts";

export const accountAssociations: Resource = {
  path: "iam account-associations",
  noun: "account association",
  type: "AccountAssociation",
  service: async () =>
    (await import("../../../gen/chainguard/platform/iam/v2beta1/account_associations_pb.ts"))
      .AccountAssociationsService,
  verbs: ["list", "describe", "create", "update", "delete"],
  view: {
    noun: "account associations",
    columns: [name, uid, { title: "accounts", value: accountsOf }, { ...description, wide: true }, created, updated],
  },
  argument: { name: "name", field: "name" },
  parent: "group",
  uidOf: groups,
  fields: [
    describing,
    renaming,
    { flags: "--aws-account <number>", description: "an AWS account", field: "amazon.account" },
    { flags: "--google-project-id <id>", description: "a Google Cloud project", field: "google.projectId" },
    {
      flags: "--google-project-number <number>",
      description: "the number of that project",
      field: "google.projectNumber",
    },
    { flags: "--azure-tenant-id <id>", description: "an Azure tenant", field: "azure.tenantId" },
    {
      flags: "--azure-client-ids <name=id...>",
      description: "the applications of that tenant, by component",
      field: "azure.clientIds",
      read: pairs,
    },
    {
      flags: "--service-bindings <name=identity...>",
      description: "the identities of services, by service principal",
      field: "chainguard.serviceBindings",
      read: pairs,
    },
  ],
  filters: [named],
};

function accountsOf({ amazon, google, azure, chainguard, github }: JsonObject): string {
  const present = { amazon, google, azure, chainguard, github };
  return Object.keys(present)
    .filter((key) => present[key as keyof typeof present])
    .join(",");
}
