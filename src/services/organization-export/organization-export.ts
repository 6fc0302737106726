// Exports what the lists of resources do not show: client secrets, encrypted for a public key that the operator names, and suspended people.
import { IdentityProviderSchema } from "../../../gen/chainguard/platform/iam/v2beta1/identity_providers_pb.ts";
import {
  ExportClientSecretRequestSchema,
  ListSuspendedPeopleRequestSchema,
  OrganizationExportService,
} from "../../../gen/gatehouse/organizations/v1/organizations_pb.ts";
import { notFound } from "../../aip/errors.ts";
import { resourceType } from "../../aip/resource-type.ts";
import { expensive } from "../../pipeline/expensive.ts";
import { type Implementation, implement } from "../../pipeline/handlers.ts";
import { uidRule } from "../../pipeline/text-rules.ts";
import type { ServiceContext } from "../../resource/service-context.ts";
import { type SecretExport, secretExportKind } from "../../storage/change-log/access-entries.ts";
import { findRow } from "../../storage/collection/rows.ts";
import { identityProviderCollection } from "../../storage/iam/collections.ts";
import type { Encryption } from "../../storage/installation/encryption.ts";
import { decryptClientSecret } from "../iam/identity-providers/client-secret.ts";
import { listSuspendedPeople } from "../iam/provisioning/import.ts";
import { requireUnlimited } from "../operator-call.ts";
import { recordExport } from "../record-export.ts";
import { parseRecipientKey } from "./recipient-key.ts";

/** Serves the export of secrets. */
export function organizationExport(context: ServiceContext & { readonly encryption: Encryption }): Implementation {
  const { database, encryption } = context;
  return implement(
    OrganizationExportService,
    {
      listSuspendedPeople: expensive(listSuspendedPeople(context)),
      async exportClientSecret({ identityProviderUid: uid, recipientKey }, call) {
        requireUnlimited(call, "export a client secret");
        const { encrypt, fingerprint, algorithm } = parseRecipientKey(recipientKey);
        const row = await findRow(database.session, identityProviderCollection, uid);
        if (!row) throw notFound(resourceType(IdentityProviderSchema), uid);
        const clientSecret = decryptClientSecret(encryption, row);
        if (clientSecret === undefined) return { jwe: "" };
        // The importer accepts the secret for this issuer only: anyone can edit the rest of a file.
        const jwe = await encrypt({ identityProvider: uid, issuer: row.issuer, clientSecret });
        const after: SecretExport = { recipientKey: fingerprint, algorithm };
        await recordExport(context, call, { kind: secretExportKind, uid, groupUid: row.parent, after });
        return { jwe };
      },
    },
    [
      { schema: ExportClientSecretRequestSchema, fields: { identity_provider_uid: uidRule } },
      { schema: ListSuspendedPeopleRequestSchema, fields: { parent: uidRule } },
    ],
  );
}
