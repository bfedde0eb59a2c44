import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['{contract,server,cli,test,scripts,bench}/**/*.test.ts'],
    globalSetup: ['test/global-setup.ts'],
    reporters: ['default', './test/closing-line.ts'],
    testTimeout: 30_000,
    hookTimeout: 60_000,
  },
})
