import { availableParallelism } from 'node:os'
import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'
import { LongestFirst } from './test/plumbing/longest-first.ts'

export default defineConfig({
  test: {
    include: ['{contract,server,cli,test,scripts,bench}/**/*.test.ts'],
    globalSetup: ['test/plumbing/global-setup.ts'],
    setupFiles: ['test/guards/leak-guard.ts', 'test/guards/outside-guard.ts'],
    reporters: ['default', './test/plumbing/closing-line.ts'],
    // The files of a worker share its modules: importing them for each file was a quarter of the time.
    isolate: false,
    // Programs that tests start load what they need in half the time.
    env: { NODE_COMPILE_CACHE: fileURLToPath(new URL('node_modules/.cache/loam', import.meta.url)) },
    // By itself Vitest leaves one processor free, which of two is half. Tests that wait leave theirs to the two more.
    maxWorkers: availableParallelism() + 2,
    sequence: { sequencer: LongestFirst },
    // Limits are for what hangs, so that none is met on a machine that is merely busy.
    testTimeout: 240_000,
    hookTimeout: 240_000,
    teardownTimeout: 60_000,
    expect: { poll: { interval: 20, timeout: 120_000 } },
  },
})
