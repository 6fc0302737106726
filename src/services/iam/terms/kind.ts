import { create } from "@bufbuild/protobuf";
import {
  AcceptTermsResponseSchema,
  TermsAcceptanceSchema,
  TermsService,
} from "../../../../gen/chainguard/platform/iam/v2beta1/terms_pb.ts";
import { parentOf } from "../../../model/uid.ts";
import type { MethodEvent } from "../../../resource/method-event.ts";
import { termsAcceptanceCollection } from "../../../storage/iam/collections.ts";
import type { TermsAcceptanceRow } from "../../../storage/iam/provider-rows.ts";
import { absent, defineOtherKind } from "../../kinds/kind.ts";
import { terms } from "./terms.ts";

const acceptEvent: MethodEvent = {
  method: TermsService.method.acceptTerms,
  kind: termsAcceptanceCollection.kind,
  isBatch: true,
  group: parentOf,
  subject: ([uid]) => parentOf(uid!),
  body(changes) {
    const documentIds = changes.map(({ after }) => (after as TermsAcceptanceRow).name);
    return create(AcceptTermsResponseSchema, { group: parentOf(changes[0].uid), documentIds });
  },
};

/** Acceptances of terms. */
export const termsAcceptanceKind = defineOtherKind({
  name: "termsAcceptance",
  schema: TermsAcceptanceSchema,
  service: TermsService,
  collection: termsAcceptanceCollection,
  implement: terms,
  file: absent("A file cannot accept terms for people."),
  transfer: absent("accepted terms, which hold between one installation and its organizations: accept them again"),
  recorded: { views: [], events: () => [acceptEvent] },
});
