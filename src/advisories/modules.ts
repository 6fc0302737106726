// Modules of rpm distributions. A stream of a module is a branch: its packages have versions of their own.
import { create } from "@bufbuild/protobuf";
import { type Product, ProductSchema } from "../../gen/gatehouse/vulnerabilities/v1/records_pb.ts";
import { readPurl, writePurl } from "./purl.ts";

/** The prefix of a module and its stream in a release: "cpe:/a:redhat:enterprise_linux:8::appstream, module postgresql:13". */
const prefix = "module ";

/** Returns the release that a module is for its packages; undefined if it is not a module. */
export function releaseOfModule(purl: string, version: string): string | undefined {
  const parsed = readPurl(purl);
  if (parsed?.type !== "rpmmod") return undefined;
  return prefix + streamOf(version === "" ? parsed.name : `${parsed.name}:${version}`);
}

/** Returns a package apart from its module: with `rpmmod=NAME:STREAM`, or as Red Hat writes `pkg:rpmmod/redhat/NAME:STREAM/PACKAGE`. */
export function splitModule(product: Product): { readonly product: Product; readonly release: string } {
  const purl = readPurl(product.purl);
  const path = purl?.namespace.split("/") ?? [];
  const inPath = purl?.type === "rpmmod" && path.at(-1)!.includes(":") ? path.pop()! : "";
  const module = inPath || (purl?.type === "rpm" && purl.qualifiers.get("rpmmod")) || "";
  if (!purl || module === "") return { product, release: "" };
  const qualifiers = new Map([...purl.qualifiers].filter(([key]) => key !== "rpmmod"));
  const text = writePurl({ ...purl, type: "rpm", namespace: path.join("/"), qualifiers });
  return { product: create(ProductSchema, { ...product, purl: text }), release: prefix + streamOf(module) };
}

/** Returns the name and the stream of a module, without the number and the context of a build. */
export function streamOf(module: string): string {
  return module.split(":").slice(0, 2).join(":");
}

/** Joins the parts of a release, each once, with the module at the end. */
export function joinReleases(...releases: readonly string[]): string {
  const parts = new Set(releases.flatMap((each) => each.split(", ")).filter((part) => part !== ""));
  const isModule = (part: string) => part.startsWith(prefix);
  return [...[...parts].filter((part) => !isModule(part)), ...[...parts].filter(isModule)].join(", ");
}

/** Whether a release may be that of a module. What names only one of both, or no stream, may be. */
export function mayBeOfModule(release: string, module: string): boolean {
  const said = release.split(", ").filter((part) => part.startsWith(prefix));
  const asked = module === "" ? [] : streamOf(module).split(":");
  return said.every((part) => {
    const names = part.slice(prefix.length).split(":");
    return names.every((name, i) => i >= asked.length || name === asked[i]);
  });
}
