import { globSync, readFileSync } from 'node:fs'
import { expect, it } from 'vitest'

/** The functions that make what a process has once, with the files that may call them. */
const CALLED_IN: Record<string, string[]> = {
  // Models have a client of their own, because the operator's servers may have private addresses.
  createEgress: ['server/src/catalog/models/models.ts', 'server/src/process/network.ts'],
  createModels: ['server/src/process/network.ts'],
  createSandbox: ['server/src/process/outside.ts'],
  createBrowserPool: ['server/src/catalog/agent/page-reader.ts'],
  openPageReaders: ['server/src/process/outside.ts'],
  createProviderGates: ['server/src/process/outside.ts'],
  openNetwork: ['server/src/process/network.ts', 'server/src/process/outside.ts'],
  openOutside: ['server/src/process/server.ts'],
}

it.each(Object.entries(CALLED_IN))('%s is called in one place', (name, expected) => {
  const isCall = new RegExp(String.raw`(?<!function )\b${name}\(`)
  const callers = globSync('{server,contract,cli,scripts}/**/*.ts').filter(
    (file) => !/\.test\.ts$|\/testing\//.test(file) && isCall.test(readFileSync(file, 'utf8')),
  )
  expect(callers.toSorted(), 'take what process/outside.ts or process/network.ts has opened').toEqual(
    expected,
  )
})
