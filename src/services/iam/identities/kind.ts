import { create } from "@bufbuild/protobuf";
import { IdentitiesService, IdentitySchema } from "../../../../gen/chainguard/platform/iam/v2beta1/identities_pb.ts";
import { IdentitySpecSchema } from "../../../../gen/gatehouse/apply/v1/apply_pb.ts";
import { parentOf } from "../../../model/uid.ts";
import { resourceEvents } from "../../../resource/method-event.ts";
import { rowView } from "../../../resource/row-view.ts";
import { identityCollection } from "../../../storage/iam/collections.ts";
import { defineKind, type Recorded } from "../../kinds/kind.ts";
import { checkFilePins, comparableIdentity, filePins, pinsSpec } from "./file-pins.ts";
import { identities, identityMessage } from "./identities.ts";
import { identityImport } from "./import.ts";
import { fromColumns } from "./relationships.ts";
import { trustView } from "./stored-trust.ts";
import { identityTrustImport } from "./trust-import.ts";

const { createIdentity, updateIdentity, deleteIdentity } = IdentitiesService.method;

const recorded = { collection: identityCollection, schema: IdentitySchema, message: identityMessage };

/** The recording of changes of identities. */
const recordedIdentities: Recorded = {
  views: [rowView(recorded, identityMessage), trustView],
  events: () => resourceEvents([createIdentity, updateIdentity, deleteIdentity], recorded),
};

/** Identities. */
export const identityKind = defineKind({
  name: "identity",
  schema: IdentitySchema,
  service: IdentitiesService,
  collection: identityCollection,
  implement: identities,
  transfer: [identityImport, identityTrustImport],
  recorded: recordedIdentities,
  file: {
    references: [],
    isTarget: true,
    toSpec(row, names) {
      const { uid, name, description, company, relationship } = row;
      const [group, pins] = [names.pathOf(parentOf(uid)), pinsSpec(row)];
      const value = create(IdentitySpecSchema, { group, name, description, company, ...(pins && { pins }) });
      return { ...value, relationship: fromColumns(relationship) };
    },
    part: filePins,
    check: checkFilePins,
    comparable: comparableIdentity,
    toMessage: ({ name, description, company, relationship }) => ({ name, description, company, relationship }),
    createsAlongside: ({ pins }) => pins === undefined,
  },
});
