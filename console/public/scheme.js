// Before the first frame, or a dark page would start white. A file of its own, because the policy allows no inline script.
(() => {
  let chosen = null;
  let density = null;
  try {
    chosen = localStorage.getItem("gatehouse-scheme");
    density = localStorage.getItem("gatehouse-density");
  } catch {
    // Storage is blocked: follow the system.
  }
  const isDark = chosen === "dark" || (chosen !== "light" && matchMedia("(prefers-color-scheme: dark)").matches);
  document.documentElement.setAttribute("data-mantine-color-scheme", isDark ? "dark" : "light");
  if (density === "compact") document.documentElement.setAttribute("data-density", density);
})();
