// Groups, and their two kinds: organizations are root groups, folders are the others.
import { created, description, name, uid, updated } from "./columns.ts";
import { describing, named, renaming } from "./common-flags.ts";
import type { Resource } from "./resource.ts";

export const groups: Resource = {
  path: "iam groups",
  noun: "group",
  type: "Group",
  service: async () => (await import("../../../gen/chainguard/platform/iam/v2beta1/groups_pb.ts")).GroupsService,
  verbs: ["list", "describe", "create", "update", "delete"],
  view: { noun: "groups", columns: [name, uid, description, created, updated] },
  argument: { name: "name", field: "name" },
  nests: true,
  parent: "group",
  fields: [describing, renaming],
  filters: [named],
};

export const organizations: Resource = {
  ...groups,
  path: "iam organizations",
  noun: "organization",
  view: { ...groups.view, noun: "organizations" },
  parent: "none",
  always: { uidp: { inRoot: true } },
  keep: ({ uid: text }) => !String(text).includes("/"),
  uidHint: "It lies below an organization: see `gatehouse iam folders`.",
};

export const folders: Resource = {
  ...groups,
  path: "iam folders",
  noun: "folder",
  view: { ...groups.view, noun: "folders" },
  keep: ({ uid: text }) => String(text).includes("/"),
  uidHint: "It has nothing above it: see `gatehouse iam organizations`.",
};
