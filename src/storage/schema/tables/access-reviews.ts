import type { AnyPgColumn } from "drizzle-orm/pg-core";
import type { Columns } from "../columns.postgres.ts";
import { isNotNull } from "../drizzle.ts";
import { entriesTable } from "./entries.ts";

/** Access reviews and their items. */
export function defineAccessReviewTables(columns: Columns, groupUid: () => AnyPgColumn) {
  const { table, text, integer, boolean, json, index, primaryKey } = columns;
  const entries = entriesTable(columns);
  const accessReviews = table(
    "access_reviews",
    {
      uid: text().primaryKey(),
      parent: text().notNull().references(groupUid),
      /** The title. */
      name: text().notNull(),
      dueTime: integer().notNull(),
      onDue: text().notNull(),
      /** Identities and roles may be deleted; they then decide and select nothing. */
      reviewerIdentityUids: json<readonly string[]>().notNull(),
      roleUids: json<readonly string[]>().notNull(),
      holders: text().notNull(),
      unusedDays: integer().notNull(),
      creatorUid: text().notNull(),
      createTime: integer().notNull(),
      /** When closing begins: the due time, or when a caller closed the review; null once it is closed. */
      endTime: integer(),
      /** Null until the review is closed. */
      closeTime: integer(),
      /** Since when uses were recorded at its creation; null if they were not. */
      recordedTime: integer(),
      keptUnconfirmed: boolean().notNull(),
      itemCount: integer().notNull(),
      /** How many items have which decision. These columns change without an entry in the change log, until the review is closed. */
      pendingCount: integer().notNull(),
      confirmedCount: integer().notNull(),
      revokedCount: integer().notNull(),
      goneCount: integer().notNull(),
      changedCount: integer().notNull(),
      keptLastOwnerCount: integer().notNull(),
    },
    (t) => [
      index("access_reviews_parent").on(t.parent, t.uid),
      index("access_reviews_end").on(t.endTime).where(isNotNull(t.endTime)),
      index("access_reviews_close").on(t.closeTime).where(isNotNull(t.closeTime)),
    ],
  );
  return {
    accessReviews,
    accessReviewEntries: entries("access_review_entries"),

    /** Role bindings as they were, so nothing keeps these from being changed or deleted. Not in the change log as rows. */
    accessReviewItems: table(
      "access_review_items",
      {
        reviewUid: text()
          .notNull()
          .references(() => accessReviews.uid, { onDelete: "cascade" }),
        roleBindingUid: text().notNull(),
        identityUid: text().notNull(),
        roleUid: text().notNull(),
        /** Empty for people who had not joined the organization. */
        identityName: text().notNull(),
        groupName: text().notNull(),
        roleName: text().notNull(),
        createTime: integer().notNull(),
        startTime: integer(),
        expireTime: integer(),
        lastUseTime: integer(),
        usedCapabilityCount: integer().notNull(),
        capabilityCount: integer().notNull(),
        observedTime: integer(),
        delegationCount: integer().notNull(),
        decision: text().notNull(),
        /** Empty if nobody decided. */
        reviewerUid: text().notNull(),
        comment: text().notNull(),
        decideTime: integer(),
      },
      (t) => [
        primaryKey({ columns: [t.reviewUid, t.roleBindingUid] }),
        index("access_review_items_decision").on(t.reviewUid, t.decision, t.roleBindingUid),
      ],
    ),
  };
}
