// The order of the versions of a package, as each ecosystem defines it.

import type { Product, VersionRange } from "../../../gen/gatehouse/vulnerabilities/v1/records_pb.ts";
import { purlTypeIn } from "../ecosystems.ts";
import { compareApk } from "./apk.ts";
import { compareBitnami } from "./bitnami.ts";
import { compareComposer } from "./composer.ts";
import { compareConan } from "./conan.ts";
import { compareDebian } from "./debian.ts";
import { compareDotted } from "./dotted.ts";
import { compareGem } from "./gem.ts";
import { compareActions } from "./github-actions.ts";
import { compareLinux } from "./linux.ts";
import { compareMaven } from "./maven.ts";
import { compareNuget } from "./nuget.ts";
import { comparePypi } from "./pypi.ts";
import { compareRpm } from "./rpm.ts";
import { compareGo, compareKubernetes, compareSemver, compareWithBuild } from "./semver.ts";

/** Less than 0 when `a` is before `b`, 0 when they are the same version, and undefined when the order is not known. */
export type VersionOrder = (a: string, b: string) => number | undefined;

/** The longest version whose place in an order is looked for. */
const longestVersion = 1000;

/** Orders by the type of package URLs. */
const byType: Readonly<Record<string, VersionOrder>> = {
  apk: compareApk,
  bitnami: compareBitnami,
  cargo: compareSemver,
  cocoapods: compareGem,
  composer: compareComposer,
  conan: compareConan,
  cran: compareDotted,
  deb: compareDebian,
  gem: compareGem,
  github: compareActions,
  githubactions: compareActions,
  golang: compareGo,
  hackage: compareDotted,
  hex: compareSemver,
  julia: compareWithBuild,
  maven: compareMaven,
  npm: compareSemver,
  nuget: compareNuget,
  opam: compareDebian,
  pub: compareWithBuild,
  pypi: comparePypi,
  rpm: compareRpm,
  swift: compareSemver,
  "vscode-extension": compareSemver,
};

/** Orders by ecosystem, for those whose packages have no package URL. */
const byEcosystem: Readonly<Record<string, VersionOrder>> = {
  Bioconductor: compareDotted,
  GHC: compareDotted,
  Kubernetes: compareKubernetes,
  Linux: compareLinux,
  WordPress: compareComposer,
};

/** Returns the order of the versions of a product. Of two equal texts every order says that they are the same version. */
export function orderOf({ purl, ecosystem }: Product): VersionOrder {
  const [, type = purlTypeIn(ecosystem)] = /^pkg:([^/]+)\//.exec(purl) ?? [];
  const [base = ""] = ecosystem.split(":");
  if (Object.hasOwn(byType, type)) return bounded(byType[type]!);
  return Object.hasOwn(byEcosystem, base) ? bounded(byEcosystem[base]!) : unknownOrder;
}

/** The order of SemVer 2.0, which ranges of the type SEMVER have where nothing is known of the versions of their product. */
export const semverOrder: VersionOrder = bounded(compareGo);

/**
 * Returns the order of the versions of a range. `order` is that of the versions of its product. It also counts in ranges of the type
 * SEMVER: an ecosystem that differs from SemVer, as Julia in its build numbers, does not have two orders.
 */
export function orderIn({ type }: Pick<VersionRange, "type">, order: VersionOrder): VersionOrder {
  if (type === "GIT") return unknownOrder;
  return type === "SEMVER" && order === unknownOrder ? semverOrder : order;
}

/** The order of versions of an unknown kind: equal versions compare, and no others. */
export const unknownOrder: VersionOrder = (a, b) => (a === b ? 0 : undefined);

function bounded(order: VersionOrder): VersionOrder {
  return (a, b) => {
    if (a === b) return 0;
    return a.length > longestVersion || b.length > longestVersion ? undefined : order(a, b);
  };
}
