// Roles: sets of capabilities, built-in or of an organization.
import { changeCapabilities, readCapabilities } from "./capabilities.ts";
import { created, description, name, uid } from "./columns.ts";
import { describing, named, renaming } from "./common-flags.ts";
import { capabilityNames } from "./names.ts";
import type { Resource } from "./resource.ts";

export const roles: Resource = {
  path: "iam roles",
  noun: "role",
  type: "Role",
  service: async () => (await import("../../../gen/chainguard/platform/iam/v2beta1/roles_pb.ts")).RolesService,
  verbs: ["list", "describe", "create", "update", "delete"],
  view: {
    noun: "roles",
    columns: [
      name,
      uid,
      description,
      {
        title: "capabilities",
        value: ({ capabilities }) => String([capabilities ?? []].flat().length),
        member: "capabilities",
      },
      created,
    ],
  },
  builtIn: builtInNames,
  argument: { name: "name", field: "name" },
  parent: "group",
  fields: [
    describing,
    renaming,
    {
      flags: "--capabilities <names>",
      description: "capabilities of the role, such as groups.list,repo.list",
      field: "capabilities",
      read: readCapabilities,
      completer: capabilityNames,
    },
  ],
  completing: [
    {
      flags: "--add-capabilities <names>",
      description: "capabilities to add",
      only: "update",
      completer: capabilityNames,
    },
    {
      flags: "--remove-capabilities <names>",
      description: "capabilities to remove",
      only: "update",
      completer: capabilityNames,
    },
  ],
  complete: changeCapabilities,
  filters: [named, { flags: "--managed", description: "only built-in ones", field: "uidp.inRoot" }],
};

/** Returns the names of built-in roles, without the one that is for the installation only. */
async function builtInNames(): Promise<string[]> {
  const { builtInRoles, operatorRole } = await import("../../authz/built-in-roles.ts");
  return builtInRoles.filter((role) => role !== operatorRole).map((role) => role.name);
}
