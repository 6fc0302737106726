// What libraries are called: by us (the type of a component), by OSV (the ecosystem), and in package URLs (the type).
import { ecosystems } from "./exports/osv-names.ts";

interface Names {
  readonly component: string;
  readonly ecosystem: string;
  readonly purl: string;
}

// Where they differ. The types of package URLs are those of https://github.com/package-url/purl-spec.
const renamed: readonly Names[] = [
  { component: "go-module", ecosystem: "Go", purl: "golang" },
  { component: "python", ecosystem: "PyPI", purl: "pypi" },
  { component: "rust-crate", ecosystem: "crates.io", purl: "cargo" },
  { component: "gem", ecosystem: "RubyGems", purl: "gem" },
  { component: "java", ecosystem: "Maven", purl: "maven" },
  { component: "packagist", ecosystem: "Packagist", purl: "composer" },
  { component: "conancenter", ecosystem: "ConanCenter", purl: "conan" },
  { component: "swifturl", ecosystem: "SwiftURL", purl: "swift" },
];

/** What a component of an ecosystem of OSV is called here. */
export function componentOfEcosystem(ecosystem: string): string {
  return renamed.find((names) => names.ecosystem === ecosystem)?.component ?? ecosystem.toLowerCase();
}

/** What a component of a package URL's type is called here. */
export function componentOfPurl(type: string): string {
  return renamed.find((names) => names.purl === type)?.component ?? type;
}

/** The ecosystem of a component; undefined for one that OSV does not have. */
export function ecosystemOf(component: string): string | undefined {
  const known = renamed.find((names) => names.component === component || names.purl === component);
  return known?.ecosystem ?? ecosystems.find((name) => name.toLowerCase() === component);
}

/** The type of package URLs that a component has. */
export function purlTypeOf(component: string): string {
  return renamed.find((names) => names.component === component)?.purl ?? component;
}
