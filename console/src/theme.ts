import { createTheme, defaultVariantColorsResolver } from "@mantine/core";

/** Mantine asks for ten shades. Those in use are in style.css, which has a value for each color scheme. */
const shades = (color: string) =>
  Array.from({ length: 10 }, () => color) as [string, string, ...string[]] & { length: 10 };

/** The theme. Colours are variables of style.css. */
export const theme = createTheme({
  primaryColor: "accent",
  colors: { accent: shades("#2f4ab5") as never, danger: shades("#b3261e") as never },
  fontFamily: "system-ui, sans-serif",
  fontFamilyMonospace: "ui-monospace, monospace",
  defaultRadius: "6px",
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
