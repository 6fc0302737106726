import { SbomSource } from "../../../../gen/gatehouse/registry/v1/image_contents_pb.ts";
import type { TextId, Texts } from "../../texts/texts.ts";

const texts: Readonly<Record<number, TextId>> = {
  [SbomSource.REFERRER]: "images.source.referrer",
  [SbomSource.ATTESTATION]: "images.source.attestation",
  [SbomSource.TAG]: "images.source.tag",
  [SbomSource.UPLOAD]: "images.source.upload",
};

/** Returns the words for where an SBOM is. */
export function sourceText(t: Texts, source: SbomSource): string {
  const text = texts[source];
  return text === undefined ? "" : t(text);
}
