import { compileMessageOrThrow } from "@lingui/message-utils/compileMessage";
import { DEFAULT_THEME, defaultCssVariablesResolver, mergeMantineTheme } from "@mantine/core";
import react from "@vitejs/plugin-react";
import { defineConfig, type Plugin } from "vite";
import { boot } from "./boot.ts";
import { icons } from "./icons.ts";
import { theme } from "./src/shell/theme.ts";

const themeFile = "virtual:theme.css";

/** Makes the variables of the theme at build time: the policy forbids the style element in which Mantine writes them. */
function themeVariables(): Plugin {
  return {
    name: "theme-variables",
    resolveId: (id) => (id === themeFile ? themeFile : null),
    load(id) {
      if (id !== themeFile) return null;
      const { variables, light, dark } = defaultCssVariablesResolver(mergeMantineTheme(DEFAULT_THEME, theme));
      const rule = (selector: string, values: Record<string, string>) =>
        `${selector}{${Object.entries(values)
          .map(([name, value]) => `${name}:${value}`)
          .join(";")}}`;
      return [
        rule(":root", variables),
        rule(':root[data-mantine-color-scheme="light"]', light),
        rule(':root[data-mantine-color-scheme="dark"]', dark),
      ].join("\n");
    },
  };
}

/** Leaves out the component that writes them: `withCssVariables` is false. */
function unusedVariables(): Plugin {
  return {
    name: "unused-variables",
    enforce: "pre",
    load: (id) =>
      id.endsWith("/MantineCssVariables/MantineCssVariables.mjs")
        ? "export const MantineCssVariables = () => null;"
        : null,
  };
}

/** Compiles the messages of the catalogue: the browser then needs no parser for them. */
function compiledTexts(): Plugin {
  return {
    name: "compiled-texts",
    async transform(code, id) {
      if (!/\/src\/texts\/(en|de)\/\w+\.ts$/.test(id)) return null;
      const { texts } = await import(`data:text/javascript,${encodeURIComponent(code)}`);
      const compiled = Object.entries<string>(texts).map(([name, text]) => [name, compileMessageOrThrow(text)]);
      return { code: `export const texts = ${JSON.stringify(Object.fromEntries(compiled))};`, map: null };
    },
  };
}

/** The style sheets that all views share, and the parts of the frame that most of them import. */
const shellFiles = [
  /^virtual:(?:theme\.css|icons)$/,
  /\/@mantine\/.*\.css$/,
  /\/src\/\w+\.css$/,
  /\/src\/shell\/[\w-]+\.module\.css$/,
  /\/src\/api\/(access|naming|resources|uids)\.ts$/,
  /\/src\/shell\/(icon|join-card|lazy-part|missing-part|keyboard|look|navigation|organization|organization-memory|parts|states)\.tsx?$/,
];

export default defineConfig({
  base: "/console/",
  plugins: [react(), boot(), unusedVariables(), icons(), themeVariables(), compiledTexts()],
  resolve: { dedupe: ["@bufbuild/protobuf"] },
  build: {
    rolldownOptions: {
      input: ["index.html", "reference.html", "guide.html"],
      // One file instead of many: all views need these at once, and the style sheets stay in their order.
      output: {
        codeSplitting: {
          groups: [
            { name: "addresses", test: /\/src\/(shell|views\/\w+)\/address\.ts$/ },
            { name: "shell", test: (id) => shellFiles.some((pattern) => pattern.test(id)) },
          ],
          includeDependenciesRecursively: false,
        },
      },
    },
    modulePreload: { polyfill: false },
    assetsInlineLimit: 0,
    reportCompressedSize: false,
    target: "es2022",
  },
});
