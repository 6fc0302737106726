// Imports uploaded SBOMs with the organization of their repo.
import {
  ImportOutcome,
  type UploadedSbom,
  UploadedSbomSchema,
} from "../../../../gen/gatehouse/organizations/v1/organizations_pb.ts";
import { fromTimestamp } from "../../../aip/timestamps.ts";
import { uidRule } from "../../../pipeline/text-rules.ts";
import { rowExists } from "../../../storage/collection/rows.ts";
import type { Session } from "../../../storage/engine/session.ts";
import { findImage } from "../../../storage/images/images.ts";
import { findSboms } from "../../../storage/images/sboms.ts";
import { repoCollection } from "../../../storage/registry/rows.ts";
import { type Importer, importBy, missing, rejected, type Transfer } from "../../kinds/import-kind.ts";
import { digestRule } from "../repos/text-rules.ts";
import { putUpload, readUpload, type Upload, type UploadContext, uploadName } from "./uploads.ts";

/** The import of uploaded SBOMs, which come after their repo. */
export const uploadedSbomImport: Transfer = {
  name: "uploadedSbom",
  declare: (context) => importBy(uploadedSboms(context)),
};

function uploadedSboms(context: UploadContext): Importer<UploadedSbom> {
  const { database, sboms } = context;
  return {
    schema: UploadedSbomSchema,
    messageRules: [{ schema: UploadedSbomSchema, fields: { uid: uidRule, digest: digestRule } }],
    references: () => [],

    async run(session, message) {
      const { uid } = message;
      if (!(await rowExists(session, repoCollection, uid))) return rejected([missing("uid", "a repo", uid)]);
      const upload = uploadOf(message);
      const name = uploadName(await readUpload(sboms, upload));
      return resultOf(!(await hasSbom(session, upload, name)));
    },

    async write(message, call) {
      const { uid } = message;
      if (!(await rowExists(database.session, repoCollection, uid))) return rejected([missing("uid", "a repo", uid)]);
      return resultOf((await putUpload(context, uploadOf(message), call)).isNew);
    },
  };
}

function uploadOf({ uid, digest, content, compression, createTime }: UploadedSbom): Upload {
  const moved = { createTime: createTime && fromTimestamp(createTime) };
  return { repoUid: uid, digest, content, compression, moved };
}

function resultOf(isNew: boolean) {
  return { outcome: isNew ? ImportOutcome.CREATED : ImportOutcome.UNCHANGED };
}

async function hasSbom(session: Session, { repoUid, digest }: Upload, name: string): Promise<boolean> {
  const image = await findImage(session, repoUid, digest);
  return image !== undefined && (await findSboms(session, [image.no])).some((each) => each.name === name);
}
