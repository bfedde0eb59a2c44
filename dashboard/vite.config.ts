import { fileURLToPath } from 'node:url'
import tailwindcss from '@tailwindcss/vite'
import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'
import { compress } from './compress.ts'

const at = (path: string) => fileURLToPath(new URL(path, import.meta.url))
const server = process.env['LOAM_URL'] ?? 'http://127.0.0.1:8787'

export default defineConfig({
  root: at('.'),
  plugins: [react(), tailwindcss(), compress()],
  resolve: {
    // The original package adds style elements, which our content security policy forbids.
    alias: { 'react-remove-scroll': at('src/ui/remove-scroll.tsx') },
  },
  build: {
    outDir: 'dist',
    emptyOutDir: true,
    target: 'es2022',
    cssTarget: ['chrome123', 'firefox120', 'safari17.5'],
    // No assets are inlined: the policy allows no data URLs for scripts, and files are cached permanently.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
  },
  server: { proxy: { '/internal': server, '/api': server } },
})
