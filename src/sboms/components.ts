// Collects the components of an SBOM: packages with a package URL, and those that cannot be checked.
import { BadDocument } from "../advisories/document.ts";
import { readPurl, writePurl } from "../advisories/purl.ts";
import { clip } from "../base/clip.ts";
import { sbomLimits } from "./limits.ts";
import { type Unchecked, UncheckedReason } from "./sbom.ts";

/** The operating system that an SBOM names. */
export interface OperatingSystem {
  readonly name: string;
  readonly version: string;
}

/** Types of package URLs of images. They are the described thing itself, or the image that it is built on. */
const images: ReadonlySet<string> = new Set(["oci", "docker"]);

/** Types of packages that belong to a release of a distribution. */
const distributed: ReadonlySet<string> = new Set(["apk", "deb", "rpm"]);

/** Package URLs of Alpine without a namespace, as older versions of syft write them. No advisory has this type. */
const formerAlpine = /^pkg:\/*alpine\/(?=[^/?#]+(?:[?#]|$))/i;

/** Collects components. */
export class Components {
  readonly #purls = new Set<string>();
  readonly #unchecked = new Map<UncheckedReason, { count: number; readonly example: string }>();
  readonly #distro: string;
  #count = 0;

  constructor(system: OperatingSystem | undefined) {
    this.#distro = system && isNamed(system) ? `${system.name}-${system.version}`.toLowerCase() : "";
  }

  /** Adds a component with its package URLs. */
  add(name: string, purls: readonly string[]): void {
    this.#count += 1;
    if (this.#count > sbomLimits.packages) throw new BadDocument(`has more than ${sbomLimits.packages} packages`);
    if (purls.length === 0) this.#leaveOut(UncheckedReason.noPurl, name);
    for (const purl of purls) {
      const read = canonical(purl, this.#distro);
      if (typeof read === "number") this.#leaveOut(read, name);
      else if (read !== undefined) this.#purls.add(read);
    }
  }

  /** Returns the package URLs, each once, and what was left out. */
  found(): { readonly purls: readonly string[]; readonly unchecked: readonly Unchecked[] } {
    const unchecked = [...this.#unchecked].map(([reason, { count, example }]) => ({ reason, count, example }));
    return { purls: [...this.#purls].sort(), unchecked: unchecked.sort((a, b) => a.reason - b.reason) };
  }

  #leaveOut(reason: UncheckedReason, name: string): void {
    const known = this.#unchecked.get(reason);
    if (known) known.count += 1;
    else this.#unchecked.set(reason, { count: 1, example: clip(name, sbomLimits.nameLength) });
  }
}

/** Whether the names are those of os-release, such as "debian" and "12". With a title, such as "Red Hat Enterprise Linux", no release would agree. */
function isNamed({ name, version }: OperatingSystem): boolean {
  return /^[a-z0-9._-]+$/i.test(name) && /^[a-z0-9._~-]+$/i.test(version);
}

/** Returns a package URL in its canonical form, the reason why it cannot be checked, or undefined for that of an image. */
function canonical(text: string, distro: string): string | UncheckedReason | undefined {
  // A long text is not read at all: reading takes a time that grows with it.
  if (text.length > 10 * sbomLimits.purlLength) return UncheckedReason.longPurl;
  const purl = readPurl(text.trim().replace(formerAlpine, "pkg:apk/alpine/"));
  if (!purl) return UncheckedReason.invalidPurl;
  if (images.has(purl.type)) return undefined;
  const lacksDistro = distributed.has(purl.type) && distro !== "" && !purl.qualifiers.has("distro");
  const qualifiers = lacksDistro ? new Map([...purl.qualifiers, ["distro", distro]]) : purl.qualifiers;
  const written = writePurl({ ...purl, qualifiers });
  return written.length > sbomLimits.purlLength ? UncheckedReason.longPurl : written;
}
