// What each page finds where its commands run.

/** The surroundings of a page. */
export interface PageSetup {
  /** Whether a development server listens on port 8080, with its data in `./data`. */
  readonly hasServer: boolean;
  /** Its settings, by their names in camelCase. */
  readonly settings?: Readonly<Record<string, string>>;
  /** Variables of the shell. */
  readonly environment?: Readonly<Record<string, string>>;
  /** Texts of the page, and what stands in their places when it is run. */
  readonly replacements?: readonly (readonly [shown: string, real: string])[];
}

type Setup = (address: string, running: AsyncDisposableStack) => PageSetup | Promise<PageSetup>;

const withServer: Setup = () => ({ hasServer: true });
const withoutServer: Setup = () => ({ hasServer: false });

/** Pages that start their own server. All others find one. */
const setups: Readonly<Record<string, Setup>> = {
  "README.md": withoutServer,
  "docs/install.md": withoutServer,
  "docs/first-steps.md": withoutServer,
  "docs/registry.md": withoutServer,
};

/** Prepares what a page needs; what it starts is disposed of with `running`. */
export async function setUp(file: string, address: string, running: AsyncDisposableStack): Promise<PageSetup> {
  return await (setups[file] ?? withServer)(address, running);
}
