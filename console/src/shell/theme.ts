import { createTheme, defaultVariantColorsResolver } from "@mantine/core";

/** Mantine asks for ten shades. Those in use are in tokens.css, which has a value for each color scheme. */
const shades = (color: string) =>
  Array.from({ length: 10 }, () => color) as [string, string, ...string[]] & { length: 10 };

/** The theme. Colours are variables of tokens.css. */
export const theme = createTheme({
  primaryColor: "accent",
  colors: { accent: shades("var(--accent)") as never, danger: shades("var(--danger)") as never },
  fontFamily: "var(--font)",
  fontFamilyMonospace: "var(--font-code)",
  defaultRadius: "8px",
  respectReducedMotion: true,
  variantColorResolver(input) {
    const name = input.color === "danger" ? "danger" : "accent";
    if (input.variant === "filled")
      return {
        background: `var(--${name})`,
        hover: `var(--${name}-strong)`,
        color: "var(--on-accent)",
        border: "1px solid transparent",
      };
    if (input.variant === "subtle")
      return {
        background: "transparent",
        hover: "var(--selection)",
        color: `var(--${name})`,
        border: "1px solid transparent",
      };
    return defaultVariantColorsResolver(input);
  },
});
