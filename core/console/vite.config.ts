import { svelte } from "@sveltejs/vite-plugin-svelte";
import { defineConfig } from "vitest/config";

// What is built is committed: names stay the same, and the same sources make the same bytes.
export default defineConfig({
  base: "/app/assets/",
  publicDir: false,
  plugins: [svelte()],
  resolve: process.env["VITEST"] ? { conditions: ["browser"] } : {},
  build: {
    outDir: "built",
    emptyOutDir: true,
    target: "es2022",
    sourcemap: false,
    cssCodeSplit: false,
    modulePreload: { polyfill: false },
    rollupOptions: {
      input: "src/main.ts",
      output: {
        entryFileNames: "main.js",
        chunkFileNames: "[name].js",
        assetFileNames: "main[extname]",
        // Few files that change together, and nothing named by its content.
        manualChunks: (id: string) =>
          id.includes("node_modules") || id.includes("vite/") || id.startsWith("\0") ? "library" : undefined,
      },
    },
  },
  test: { include: ["src/**/*.test.ts"] },
});
