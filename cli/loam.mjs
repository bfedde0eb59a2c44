#!/usr/bin/env -S node --v8-pool-size=2 --no-allocation-site-pretenuring --no-parallel-scavenge --max-semi-space-size=64 --max-old-space-size=1536
// The `loam` command. It runs on any Node version, so it uses only Node's own modules until the checkout is
// set up and a Node that runs TypeScript has taken over.
import { spawn } from 'node:child_process'
import { existsSync, realpathSync } from 'node:fs'
import module from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const here = fileURLToPath(import.meta.url)
const modules = join(dirname(here), '..', 'node_modules')

// Tests skip the setup: an install would replace node_modules under everything that runs from this checkout.
await import('../scripts/setup.mjs')

if (process.features.typescript) {
  module.enableCompileCache?.(join(modules, '.cache', 'loam'))
  const { main } = await import('./main.ts')
  await main()
} else {
  runOnNewerNode(join(modules, '.bin', 'node'))
}

function runOnNewerNode(node) {
  if (!existsSync(node) || realpathSync(node) === process.execPath) {
    process.stderr.write(`loam: Node 22.18 or later is required; this is Node ${process.version}\n`)
    process.exit(1)
  }
  const child = spawn(node, [here, ...process.argv.slice(2)], { stdio: 'inherit' })
  // Ctrl-C also reaches the child, because it is in the foreground process group: the server treats repeated
  // signals as one.
  for (const signal of ['SIGTERM', 'SIGINT']) process.on(signal, () => child.kill(signal))
  child.on('error', (cause) => {
    process.stderr.write(`loam: ${node} cannot be run: ${cause.message}\n`)
    process.exit(1)
  })
  child.on('exit', (code, signal) => {
    if (signal === null) process.exit(code)
    process.removeAllListeners(signal)
    process.kill(process.pid, signal)
  })
}
