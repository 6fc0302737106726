import { create } from "@bufbuild/protobuf";
import { GroupSchema, GroupsService } from "../../../../gen/chainguard/platform/iam/v2beta1/groups_pb.ts";
import { GroupSpecSchema, OrganizationSpecSchema } from "../../../../gen/gatehouse/apply/v1/apply_pb.ts";
import { parentOf, rootOf } from "../../../model/uid.ts";
import { type ResourceEvents, resourceEvents } from "../../../resource/method-event.ts";
import { rowView } from "../../../resource/row-view.ts";
import { findRow } from "../../../storage/collection/rows.ts";
import { groupCollection } from "../../../storage/iam/collections.ts";
import type { GroupRow } from "../../../storage/iam/rows.ts";
import { absent, defineKind, type Recorded } from "../../kinds/kind.ts";
import { groupMessage } from "./group-message.ts";
import { groups } from "./groups.ts";
import { groupImport } from "./import.ts";

const { createGroup, updateGroup, deleteGroup } = GroupsService.method;

const recorded: ResourceEvents<typeof GroupSchema, GroupRow> = {
  collection: groupCollection,
  schema: GroupSchema,
  message: async (row, session) =>
    row.parent === null
      ? groupMessage(row)
      : groupMessage(row, (await findRow(session, groupCollection, rootOf(row.uid))) ?? row),
};

/** The recording of changes of groups. */
const recordedGroups: Recorded = {
  views: [rowView(recorded, (row: GroupRow) => groupMessage(row))],
  events: () => [
    // An event about a group that exists belongs to the group itself.
    ...resourceEvents([createGroup, updateGroup], { ...recorded, group: (uid) => uid }),
    ...resourceEvents([deleteGroup], recorded),
  ],
};

/** The root group: the first resource of a file that creates an organization. */
export const organizationKind = defineKind({
  name: "organization",
  schema: GroupSchema,
  service: GroupsService,
  collection: groupCollection,
  transfer: absent("an organization moves as a group"),
  recorded: absent("an organization is recorded as a group"),
  file: {
    references: [],
    groupOf: () => "",
    // Organizations are the same by their place, and may differ in their names.
    nameOf: ({ name }) => ({ name, key: "" }),
    toSpec: ({ name, description }) => create(OrganizationSpecSchema, { name, description }),
    toMessage: ({ name, description }) => ({ name, description }),
    parentOf: () => "",
  },
});

/** Groups. */
export const groupKind = defineKind({
  name: "group",
  schema: GroupSchema,
  service: GroupsService,
  collection: groupCollection,
  implement: groups,
  transfer: [groupImport],
  recorded: recordedGroups,
  file: {
    references: [],
    isTarget: true,
    toSpec: ({ uid, name, description }, names) =>
      create(GroupSpecSchema, { group: names.pathOf(parentOf(uid)), name, description }),
    toMessage: ({ name, description }) => ({ name, description }),
    createsAlongside: () => true,
    isDeletedAlongside: true,
  },
});
