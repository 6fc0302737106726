import type { TagSchema } from "../../../../gen/chainguard/platform/registry/v2beta1/tags_pb.ts";
import { openImages, setPushTime } from "../../../storage/images/images.ts";
import { findTagByName } from "../../../storage/registry/repos-and-tags.ts";
import { repoCollection, type TagRow } from "../../../storage/registry/rows.ts";
import { inGroup, takenBy } from "../../kinds/import-checks.ts";
import { importKind, type Transfer } from "../../kinds/import-kind.ts";
import { tag } from "./tags.ts";

/** The import of tags. */
export const tagImport: Transfer = {
  name: "tag",
  declare: () =>
    importKind<typeof TagSchema, TagRow>({
      parents: repoCollection,
      parentOf: inGroup.parentOf,
      resource: tag,
      isIndependent: () => true,
      // A tag that was created with version 1 of the API has no digest until the registry sets it.
      isExcused: ({ digest }, { field }) => digest === "" && field === "digest",
      // The message has no creation time.
      toRow: (message, own, before) => ({
        ...tag.toRow(message),
        ...own,
        ...(before && { createTime: before.createTime }),
        parent: own.parent!,
      }),
      // Here its uses are not known: it counts as pushed now.
      async prepare(tx, { parent, digest }, before) {
        if (digest === "" || digest === before?.digest) return;
        const numbers = await openImages(tx, parent, [digest]);
        await setPushTime(tx, numbers.get(digest)!, tx.context.time);
      },
      check: async (session, { uid, parent, name }) =>
        takenBy(await findTagByName(session, parent, name), uid, "name", "is the name of a tag of the repo"),
    }),
};
