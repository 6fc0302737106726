// Tiny images on disk, made without a network: what `skopeo copy oci:DIR` reads (OCI image-spec, "Image Layout").
import { hash } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { gzipSync } from "node:zlib";

const media = (name: string) => `application/vnd.oci.image.${name}`;

/** A layout with one image for each architecture; with several, an index of them. */
export interface Layout {
  readonly folder: string;
  /** Of the manifest, or of the index. */
  readonly digest: string;
  /** Architecture -> size of layers and configuration. */
  readonly sizes: Readonly<Record<string, number>>;
}

/** Writes a layout; `salt` makes its digests differ from those of another. */
export function writeLayout(folder: string, architectures: readonly string[], salt: string): Layout {
  const blobs = path.join(folder, "blobs", "sha256");
  mkdirSync(blobs, { recursive: true });
  function put(mediaType: string, content: Buffer) {
    const digest = hash("sha256", content);
    writeFileSync(path.join(blobs, digest), content);
    return { mediaType, digest: `sha256:${digest}`, size: content.length };
  }
  const putJson = (name: string, value: object) => put(media(name), Buffer.from(JSON.stringify(value)));

  // An empty archive: two blocks of zeros.
  const archive = Buffer.alloc(1024);
  const images = architectures.map((architecture) => {
    const layer = put(media("layer.v1.tar+gzip"), gzipSync(archive));
    const rootfs = { type: "layers", diff_ids: [`sha256:${hash("sha256", archive)}`] };
    const config = putJson("config.v1+json", { architecture, os: "linux", config: { Env: [`SALT=${salt}`] }, rootfs });
    const type = media("manifest.v1+json");
    const manifest = putJson("manifest.v1+json", { schemaVersion: 2, mediaType: type, config, layers: [layer] });
    return { ...manifest, platform: { architecture, os: "linux" }, total: config.size + layer.size };
  });
  const manifests = images.map(({ total: _total, ...manifest }) => manifest);
  const index = { schemaVersion: 2, mediaType: media("index.v1+json"), manifests };
  const top = manifests.length === 1 ? manifests[0]! : putJson("index.v1+json", index);
  writeFileSync(path.join(folder, "oci-layout"), JSON.stringify({ imageLayoutVersion: "1.0.0" }));
  writeFileSync(path.join(folder, "index.json"), JSON.stringify({ schemaVersion: 2, manifests: [top] }));
  const sizes = Object.fromEntries(images.map(({ platform, total }) => [platform.architecture, total]));
  return { folder, digest: top.digest, sizes };
}

/** Writes a layout with an artifact of one document, about an image if that is given, and with an index of it if `isListed`. */
export function writeArtifact(
  folder: string,
  document: object,
  mediaType: string,
  { subject, isListed = false }: { readonly subject?: string; readonly isListed?: boolean } = {},
): string {
  const blobs = path.join(folder, "blobs", "sha256");
  mkdirSync(blobs, { recursive: true });
  const put = (type: string, value: object) => {
    const content = Buffer.from(JSON.stringify(value));
    const digest = hash("sha256", content);
    writeFileSync(path.join(blobs, digest), content);
    return { mediaType: type, digest: `sha256:${digest}`, size: content.length };
  };
  const type = media("manifest.v1+json");
  const about = subject === undefined ? {} : { subject: { mediaType: type, digest: subject, size: 1 } };
  const parts = { config: put(media("empty.v1+json"), {}), layers: [put(mediaType, document)] };
  const manifest = put(type, { schemaVersion: 2, mediaType: type, ...parts, ...about });
  const list = media("index.v1+json");
  const top = isListed ? put(list, { schemaVersion: 2, mediaType: list, manifests: [manifest] }) : manifest;
  writeFileSync(path.join(folder, "index.json"), JSON.stringify({ schemaVersion: 2, manifests: [top] }));
  writeFileSync(path.join(folder, "oci-layout"), JSON.stringify({ imageLayoutVersion: "1.0.0" }));
  return folder;
}
