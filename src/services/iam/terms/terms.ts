import { createHash } from "node:crypto";
import type { MessageInitShape } from "@bufbuild/protobuf";
import {
  AcceptTermsRequestSchema,
  ListTermsAcceptancesRequestSchema,
  TermsAcceptanceSchema,
  TermsService,
} from "../../../../gen/chainguard/platform/iam/v2beta1/terms_pb.ts";
import { notFound } from "../../../aip/errors.ts";
import { toTimestamp } from "../../../aip/timestamps.ts";
import { newViolations } from "../../../aip/violations.ts";
import { ancestorsOf } from "../../../model/uid.ts";
import { callerOf } from "../../../pipeline/authorize.ts";
import type { Call } from "../../../pipeline/call.ts";
import { type Implementation, implement } from "../../../pipeline/handlers.ts";
import { type MessageRules, uidRule } from "../../../pipeline/text-rules.ts";
import { listPage, type MakeItems, rowsThatFit } from "../../../resource/list-page.ts";
import { commonOrders, defineReadableResource } from "../../../resource/resource.ts";
import { type ServiceContext, writeContext } from "../../../resource/service-context.ts";
import { findRow, insertRow } from "../../../storage/collection/rows.ts";
import type { Transaction } from "../../../storage/engine/session.ts";
import { groupCollection, termsAcceptanceCollection } from "../../../storage/iam/collections.ts";
import type { TermsAcceptanceRow } from "../../../storage/iam/provider-rows.ts";
import type { Source } from "../../../storage/list/list-rows.ts";
import { groupParents } from "../groups/groups.ts";

const acceptance = defineReadableResource<typeof TermsAcceptanceSchema, TermsAcceptanceRow>({
  schema: TermsAcceptanceSchema,
  plural: "termsAcceptances",
  collection: termsAcceptanceCollection,
  orderable: { ...commonOrders, doc_id: "name", docId: "name" },
  defaultOrder: { field: "createTime", descending: false },
  toMessage: ({ name: docId, acceptedBy, parent: orgUid, createTime }) => ({
    docId,
    acceptedBy,
    orgUid,
    createTime: toTimestamp(createTime),
  }),
});

type Acceptance = MessageInitShape<typeof TermsAcceptanceSchema>;

const rules: readonly MessageRules[] = [AcceptTermsRequestSchema, ListTermsAcceptancesRequestSchema].map((schema) => ({
  schema,
  fields: { group: uidRule },
}));

/** Serves the acceptances of terms. No method of the API requires one. */
export function terms(context: ServiceContext): Implementation {
  const { database, clock } = context;

  async function accept(group: string, documentIds: readonly string[], call: Call): Promise<void> {
    await database.write(writeContext(call, clock), async (tx) => {
      if (!(await groupParents.lock(tx, group))) throw notFound(groupParents.type, group);
      for (const id of documentIds) await insertAcceptance(tx, group, id, callerOf(call).uid);
    });
  }

  return implement(
    TermsService,
    {
      async acceptTerms({ group, documentIds }, call) {
        requireKnown(documentIds, context.settings.termsDocuments);
        const distinct = [...new Set(documentIds)];
        await accept(group, distinct, call);
        return { group, documentIds: distinct };
      },
      async listTermsAcceptances(request, call) {
        const { group } = request;
        const sources = [...ancestorsOf(group), group].map((uid): Source => ({ type: "children", uid }));
        const selection = { sources, filters: {} };
        const makeItems: MakeItems<TermsAcceptanceRow, Acceptance> = async (session, rows) => {
          if (!(await findRow(session, groupCollection, group))) throw notFound(groupParents.type, group);
          return rowsThatFit(session, rows).map(acceptance.toMessage);
        };
        const page = await listPage(acceptance, context, { call, request, selection, makeItems });
        const { items, ...envelope } = page;
        return { ...envelope, termsAcceptances: [...items] };
      },
    },
    rules,
  );
}

/** Records that a document was accepted. Does nothing if it was accepted before: the first acceptance stays. */
export async function insertAcceptance(tx: Transaction, group: string, documentId: string, acceptedBy: string) {
  const uid = `${group}/${childSegment(documentId)}`;
  if (await findRow(tx, termsAcceptanceCollection, uid)) return;
  const row = { uid, parent: group, name: documentId, acceptedBy, createTime: tx.context.time };
  await insertRow(tx, termsAcceptanceCollection, row);
}

/** Throws for an unknown id, because a misspelt one would stay accepted. */
function requireKnown(documentIds: readonly string[], known: readonly string[]): void {
  const violations = newViolations();
  documentIds.forEach((id, index) => {
    if (!known.includes(id))
      violations.add(`document_ids[${index}]`, `is not a known document; known: ${known.join(", ") || "none"}`);
  });
  violations.throwIfAny();
}

/** Returns the last segment of an acceptance's uid. It depends on the document alone, so a group has at most one acceptance of it. */
function childSegment(documentId: string): string {
  return createHash("sha256").update(documentId).digest("hex").slice(0, 16);
}
