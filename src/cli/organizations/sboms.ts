// The uploaded SBOMs of an export. Those in a registry are read again where the images move to.
import type { JsonObject } from "@bufbuild/protobuf";
import { ImageContentsService } from "../../../gen/gatehouse/registry/v1/image_contents_pb.ts";
import { parentOf } from "../../model/uid.ts";
import type { Session } from "../client/session.ts";
import { CommandFailure } from "../failure.ts";
import { textAt } from "../resources/json.ts";

const { listSboms, getSbomContent } = ImageContentsService.method;

/** The methods that read SBOMs. */
export const sbomMethods = [listSboms, getSbomContent] as const;

/** The kind of uploaded SBOMs in the change log. */
export const sbomKind = "image_sboms";

/** Reads uploaded SBOMs, one at a time. */
export interface UploadedSboms {
  /** Yields those of the images that tags have. Each is yielded once, also if several tags have its image. */
  of(tags: readonly JsonObject[]): AsyncGenerator<JsonObject>;
  /** Those that are too large for a response, as sentences. */
  readonly missing: readonly string[];
}

/** Opens the uploaded SBOMs of an export. */
export function openSboms(session: Session): UploadedSboms {
  const missing: string[] = [];
  const seen = new Set<string>();

  async function* ofImage(repoUid: string, digest: string): AsyncGenerator<JsonObject> {
    const { sboms = [] } = await ifFound(session.call(listSboms, { repoUid, digest }));
    for (const { source, imageDigest, name, createTime } of sboms as JsonObject[]) {
      const key = `${repoUid} ${imageDigest} ${name}`;
      if (source !== "SBOM_SOURCE_UPLOAD" || seen.has(key)) continue;
      seen.add(key);
      const request = { repoUid, digest: imageDigest!, name: name! };
      const { content, compression = "" } = await ifFound(session.call(getSbomContent, request)).catch(
        (error: unknown): JsonObject => {
          if (!(error instanceof CommandFailure) || error.reason !== "SBOM_TOO_LARGE") throw error;
          missing.push(`the SBOM ${name} of ${imageDigest} in the repo ${repoUid}, which is too large: add it again`);
          return {};
        },
      );
      if (content === undefined) continue;
      yield { uid: repoUid, digest: imageDigest!, content, compression, createTime: createTime! };
    }
  }

  return {
    missing,
    async *of(tags) {
      const images = new Map(tags.map((tag) => [`${parentOf(textAt(tag, "uid"))} ${textAt(tag, "digest")}`, tag]));
      for (const tag of images.values())
        if (textAt(tag, "digest") !== "") yield* ofImage(parentOf(textAt(tag, "uid")), textAt(tag, "digest"));
    },
  };
}

/** An image or SBOM may have been deleted since its tag was read. */
async function ifFound(response: Promise<JsonObject>): Promise<JsonObject> {
  try {
    return await response;
  } catch (error) {
    if (error instanceof CommandFailure && error.status === "NotFound") return {};
    throw error;
  }
}
