import { createHash } from "node:crypto";
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
import { listPage, rowsThatFit } from "../../../resource/list-page.ts";
import { creationOrders, defineReadableResource } from "../../../resource/resource.ts";
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
  orderable: { doc_id: "name", docId: "name", ...creationOrders },
  defaultOrder: { field: "createTime", descending: false },
  toMessage: ({ name: docId, acceptedBy, parent: orgUid, createTime }) => ({
    ...{ docId, acceptedBy, orgUid },
    createTime: toTimestamp(createTime),
  }),
});

const rules: readonly MessageRules[] = [AcceptTermsRequestSchema, ListTermsAcceptancesRequestSchema].map((schema) => ({
  schema,
  fields: { group: uidRule },
}));

/** Serves what was accepted. No method asks for an acceptance. */
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
        const page = await listPage(
          acceptance,
          context,
          call,
          request,
          { sources, filters: {} },
          async (session, rows) => {
            if (!(await findRow(session, groupCollection, group))) throw notFound(groupParents.type, group);
            return rowsThatFit(session, rows).map(acceptance.toMessage);
          },
        );
        const { items, ...envelope } = page;
        return { ...envelope, termsAcceptances: [...items] };
      },
    },
    rules,
  );
}

/** Remembers that a document was accepted. The first acceptance stands: accepting again changes nothing. */
export async function insertAcceptance(tx: Transaction, group: string, documentId: string, acceptedBy: string) {
  const uid = `${group}/${childSegment(documentId)}`;
  if (await findRow(tx, termsAcceptanceCollection, uid)) return;
  const row = { uid, parent: group, name: documentId, acceptedBy, createTime: tx.context.time };
  await insertRow(tx, termsAcceptanceCollection, row);
}

/** A misspelt id would count as accepted for ever. */
function requireKnown(documentIds: readonly string[], known: readonly string[]): void {
  const violations = newViolations();
  documentIds.forEach((id, index) => {
    if (!known.includes(id)) violations.add(`document_ids[${index}]`, "is no document that can be accepted here");
  });
  violations.throwIfAny();
}

/** The last part of an acceptance's uid: the same for the same document, so that there is one at most. */
function childSegment(documentId: string): string {
  return createHash("sha256").update(documentId).digest("hex").slice(0, 16);
}
