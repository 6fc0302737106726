import { GroupSchema, GroupsService } from "../../../../gen/chainguard/platform/iam/v2beta1/groups_pb.ts";
import { rootOf } from "../../../model/uid.ts";
import { type ResourceEvents, resourceEvents } from "../../../resource/method-event.ts";
import { rowView } from "../../../resource/row-view.ts";
import { findRow } from "../../../storage/collection/rows.ts";
import { groupCollection } from "../../../storage/iam/collections.ts";
import type { GroupRow } from "../../../storage/iam/rows.ts";
import type { Recorded } from "../../kinds/kind.ts";
import { groupMessage } from "./group-message.ts";

const { createGroup, updateGroup, deleteGroup } = GroupsService.method;

const recorded: ResourceEvents<typeof GroupSchema, GroupRow> = {
  collection: groupCollection,
  schema: GroupSchema,
  message: async (row, session) =>
    row.parent === null
      ? groupMessage(row)
      : groupMessage(row, (await findRow(session, groupCollection, rootOf(row.uid))) ?? row),
};

/** How changes of groups are shown. */
export const recordedGroups: Recorded = {
  views: [rowView(recorded, (row: GroupRow) => groupMessage(row))],
  events: () => [
    // An event about a group that exists belongs to the group itself.
    ...resourceEvents([createGroup, updateGroup], { ...recorded, group: (uid) => uid }),
    ...resourceEvents([deleteGroup], recorded),
  ],
};
